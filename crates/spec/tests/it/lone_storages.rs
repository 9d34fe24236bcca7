//! Storages that are resolved without the rest of their study: choice, sizes, declared states.

use crate::golden::check_golden;
use crate::support::{SMALL, profiles};
use tameshi_base::InputError;
use tameshi_spec::document::Source;
use tameshi_spec::profile::{Device, Written};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::Node;
use tameshi_spec::{LoneStorage, StorageRequest, lone_storage};

const GIB: u64 = 1 << 30;

/// Return profiles with two of the packaged drives.
fn with_drives() -> Profiles {
    let mut all = profiles();
    for name in ["sata-ssd-480gb", "sas-15k-146gb"] {
        let file = format!("{}/../../python/tameshi/data/profiles/devices/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).expect("a packaged profile");
        all.devices.push((name.into(), file, text));
    }
    all
}

fn resolved(text: &str, request: &StorageRequest) -> Result<LoneStorage, InputError> {
    let served = |node: &Node| matches!(node, Node::Replica { .. }).then_some(("replica", "not served"));
    lone_storage(Source { file: "t.toml", text }, request, &with_drives(), &served)
}

fn request(size_bytes: Option<u64>) -> StorageRequest {
    StorageRequest { name: None, size_bytes, most_bytes: 4 * GIB }
}

#[test]
fn storage_of_a_study_needs_no_workload() {
    let without_work = SMALL.split("[workload").next().expect("text before the workload");
    for text in [SMALL, without_work, "[storage.disk]\ndevice = \"null\"\n"] {
        let storage = resolved(text, &request(None)).expect("a storage");
        assert_eq!((storage.name.as_str(), storage.size_bytes, storage.capacity_bytes), ("disk", GIB, GIB));
    }
}

#[test]
fn flash_is_scaled_and_a_disk_ends_at_the_size() {
    let flash = "[storage.pair]\nraid1 = { members = 2, device = \"sata-ssd-480gb\" }\n";
    for (wanted, about) in [(None, 4 * GIB), (Some(GIB), GIB)] {
        let storage = resolved(flash, &request(wanted)).expect("a storage");
        let whole = storage.node.capacity().0;
        assert!(storage.size_bytes <= about && storage.size_bytes > about / 100 * 98, "{}", storage.size_bytes);
        assert!(whole - storage.size_bytes < 1 << 20, "all of the scaled drives is used");
        assert_eq!(storage.capacity_bytes, 480_000_000_000);
    }
    let disk = "[storage.disk]\ndevice = \"sas-15k-146gb\"\n";
    assert_eq!(resolved(disk, &request(Some(GIB))).expect("a storage").size_bytes, GIB);
    let whole = resolved(disk, &request(None)).expect("a storage");
    assert_eq!(whole.size_bytes, whole.capacity_bytes);
}

#[test]
fn declared_state_reaches_the_drives() {
    let text = "[storage.pair]\nraid1 = { members = 2, device = \"sata-ssd-480gb\" }\nwritten = \"steady\"\naged = { worn_percent = 70 }\n";
    let storage = resolved(text, &request(Some(GIB))).expect("a storage");
    let Device::Flash(flash) = storage.node.drive().1 else { panic!("no flash") };
    assert_eq!((flash.simulated.written, flash.simulated.worn_percent), (Written::Steady, Some(70)));
}

#[test]
fn size_of_the_file_is_a_part_of_whole_drives() {
    let text = "[storage.ssd]\ndevice = \"sata-ssd-480gb\"\nsize = \"10 GiB\"\nwritten = \"once\"\n";
    let storage = resolved(text, &request(None)).expect("a storage");
    assert_eq!((storage.size_bytes, storage.node.capacity().0), (10 * GIB, 480_000_000_000));
}

#[test]
fn what_cannot_be_chosen_is_refused_at_its_place() {
    let two = "[storage.a]\ndevice = \"null\"\n[storage.b]\ndevice = \"null\"\n";
    let flash = "[storage.ssd]\ndevice = \"sata-ssd-480gb\"\n";
    let named = StorageRequest { name: Some("c".into()), ..request(None) };
    let sized = format!("{flash}scale = 4\n");
    let replica = "[storage.pair]\nreplica = { of = { device = \"null\" }, link = \"near\" }\n";
    let cases = [
        ("several", two, request(None)),
        ("unknown name", two, named),
        ("no storage", "[link.a]\nprofile = \"near\"\n", request(None)),
        ("other keys", "[storage.a]\ndevice = \"null\"\n[storag.b]\n", request(None)),
        ("two sizes", sized.as_str(), request(Some(GIB))),
        ("too small", flash, request(Some(1 << 20))),
        ("too large", flash, request(Some(1 << 40))),
        ("not served", replica, request(None)),
    ];
    for (name, text, request) in cases {
        let error = resolved(text, &request).expect_err(name);
        check_golden(name, &error.to_string());
    }
}

#[test]
fn broken_promises_of_a_storage_hold_by_hand() {
    let ignores_flush = |key: &str| {
        let text = format!("[storage.disk]\ndevice = \"sata-ssd-480gb\"\nwithout_capacitor = true\n{key}");
        resolved(&text, &request(Some(GIB))).expect("a storage").ignores_flush
    };
    assert!(ignores_flush("ignores_flush = true\n") && !ignores_flush(""));
}
