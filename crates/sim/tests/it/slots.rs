//! A drive in a slot that carries less than the drive's own link: the slot limits both directions.

use crate::profiles::texts;
use crate::support::*;
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Request, plan};
use tameshi_spec::profile::Pcie;
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::World;

/// Bytes per second read and written, in sequential 128 KiB requests at depth, of a drive in a
/// slot.
fn rates(device: &str, read: u32, slot: Option<Pcie>) -> [f64; 2] {
    let slot = slot.map_or(String::new(), |slot| {
        format!("slot = {{ generation = {}, lanes = {} }}\n", slot.generation, slot.lanes)
    });
    let text = format!(
        "title = \"t\"\nquestion = \"q?\"\n[storage.drive]\ndevice = \"{device}\"\n{slot}\
         [workload.stream.s]\npattern = \"sequential\"\nblock_size = \"128 KiB\"\nread = \"{read} %\"\nqueue_depth = 64\n\
         [phase.p]\nworkload = [\"stream.s\"]\nuntil = {{ time = \"400 ms\" }}\n[run]\ninterval = \"100 ms\"\n"
    );
    let devices = texts("devices").into_iter().map(|(path, text)| {
        let name = path.rsplit('/').next().and_then(|file| file.strip_suffix(".toml")).expect("a file").to_string();
        (name, path, text)
    });
    let profiles = Profiles { devices: devices.collect(), ..Profiles::default() };
    let request = Request::new(World::Simulated);
    let planned =
        plan("t", Source { file: "t.toml", text: &text }, &request, &profiles, &|_| Vec::new()).expect("a plan");
    let left = run(&planned.runs[0]);
    ["read.bytes", "write.bytes"].map(|metric| {
        let late = left.series.iter().filter(|row| row.3 == metric && row.0 > 100 * MS);
        late.map(|row| row.4 as f64).sum::<f64>() / 0.3
    })
}

#[test]
fn bandwidth_in_a_narrower_slot_is_what_the_slot_carries() {
    for device in ["nvme-tlc-3.84tb", "optane-p4800x-375g"] {
        let [own, _] = rates(device, 100, None);
        assert!(own > 2.3e9, "{device}: {own}");
        for slot in
            [Pcie { generation: 3, lanes: 2 }, Pcie { generation: 2, lanes: 2 }, Pcie { generation: 1, lanes: 4 }]
        {
            let carries = slot.carries().per_second();
            let [read, _] = rates(device, 100, Some(slot));
            assert_close(read, carries, 0.01, &format!("{device} in {slot}"));
        }
    }
    let half = Pcie { generation: 2, lanes: 1 };
    let [read, written] = rates("optane-p4800x-375g", 50, Some(half));
    assert_close(read + written, half.carries().per_second(), 0.03, "both share the medium");
    let [read, written] = rates("nvme-tlc-3.84tb", 50, Some(half));
    assert_close(read, half.carries().per_second(), 0.03, "both ways at once: read");
    assert_close(written, half.carries().per_second(), 0.03, "and written");
    assert_eq!(
        rates("optane-p4800x-375g", 50, None),
        rates("optane-p4800x-375g", 50, Some(Pcie { generation: 5, lanes: 8 }))
    );
}
