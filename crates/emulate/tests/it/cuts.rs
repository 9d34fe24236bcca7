//! Fate of data at power cuts, on recorded command streams.
//!
//! The reference keeps every version of every sector. After a cut a sector must hold the last
//! version that was durable, or a later one; the parts of an atomic write must agree.

use crate::support::*;
use std::collections::BTreeMap;
use tameshi_base::{CommandKind, Random};
use tameshi_emulate::{Cut, Power, ServeSpec};
use tameshi_spec::profile::Device;

const SECTORS: u64 = 256;

/// Version of a sector: number of the write, which its bytes repeat; zero for none.
type Version = u32;

/// Write of the stream.
#[derive(Clone, Copy, Debug)]
struct Written {
    version: Version,
    first: u64,
    count: u64,
    tag: u32,
}

/// Command stream on a drive, with all that was written and flushed.
struct Stream {
    bench: Bench,
    random: Random,
    /// Versions before the first write of this power-on.
    base: Vec<Version>,
    written: Vec<Written>,
    /// Flushes: tag, and number of writes submitted before.
    flushes: Vec<(u32, usize)>,
    next: Version,
}

impl Stream {
    fn new(spec: &ServeSpec, name: &str) -> Self {
        let base = vec![0; SECTORS as usize];
        let random = Random::named(3, name);
        Self { bench: Bench::new(spec), random, base, written: vec![], flushes: vec![], next: 1 }
    }

    /// Submit some commands at random times.
    fn go(&mut self, commands: u64) {
        for _ in 0..commands {
            if self.random.below(8) == 0 {
                let tag = self.bench.submit(CommandKind::Flush, 0, &mut []);
                self.flushes.push((tag, self.written.len()));
            } else {
                self.write();
            }
            let pause = [0, 0, 3_000, 80_000, 2_000_000][self.random.below(5) as usize];
            self.bench.pass(pause);
        }
    }

    fn write(&mut self) {
        let count = [1, 8, 8, 32][self.random.below(4) as usize];
        let first = self.random.below(SECTORS - count + 1) / count.min(8) * count.min(8);
        let version = self.next;
        self.next += 1;
        let mut data = version.to_ne_bytes().repeat((count * SECTOR / 4) as usize);
        let tag = self.bench.submit(CommandKind::Write, first * SECTOR, &mut data);
        self.written.push(Written { version, first, count, tag });
    }

    /// Cut the power; check what the drive holds, and begin anew from it.
    fn cut(&mut self, honest: bool) -> (Cut, bool) {
        let cut = self.bench.drive.cut(self.bench.now, &mut self.bench.answers);
        let held = self.held();
        let results = self.bench.results();
        assert_eq!(results.len(), self.bench.answers.len(), "each command is answered once");
        let acknowledged = |tag| results[&tag].is_ok();
        let flushed = self.flushes.iter().filter(|(tag, _)| acknowledged(*tag)).map(|&(_, count)| count).max();
        let durable = self.durable(flushed.unwrap_or(0), acknowledged);
        let mut is_broken = false;
        for (sector, (&found, &least)) in held.iter().zip(&durable).enumerate() {
            let writes = self.written.iter().filter(|of| (of.first..of.first + of.count).contains(&(sector as u64)));
            let known = found == self.base[sector] || writes.clone().any(|of| of.version == found);
            assert!(known, "sector {sector} holds {found}, which was never written there");
            is_broken |= found < least;
            assert!(!honest || found >= least, "sector {sector} holds {found}, older than the durable {least}");
        }
        self.check_atoms(&held, self.bench.durability.atomic_bytes / SECTOR);
        self.bench.drive.switch(Power::On);
        self.bench.answers.clear();
        self.base = held;
        (self.written, self.flushes) = (vec![], vec![]);
        (cut, is_broken)
    }

    fn held(&self) -> Vec<Version> {
        let bytes = self.bench.bytes(0, (SECTORS * SECTOR) as usize);
        let version = |sector: &[u8]| {
            let of = Version::from_ne_bytes(sector[..4].try_into().expect("four bytes"));
            assert!(sector.chunks(4).all(|word| word == of.to_ne_bytes()), "a sector is never torn");
            of
        };
        bytes.chunks(SECTOR as usize).map(version).collect()
    }

    /// Return the oldest version that each sector may hold.
    fn durable(&self, flushed: usize, acknowledged: impl Fn(u32) -> bool) -> Vec<Version> {
        let mut least = self.base.clone();
        for (number, of) in self.written.iter().enumerate() {
            let is_safe = !self.bench.durability.volatile && acknowledged(of.tag);
            if number < flushed || is_safe {
                (of.first..of.first + of.count).for_each(|sector| least[sector as usize] = of.version);
            }
        }
        least
    }

    /// Check that sectors of one atomic write hold it all, where no other write touches them.
    fn check_atoms(&self, held: &[Version], atom: u64) {
        for of in self.written.iter().filter(|of| of.count <= atom) {
            let alone = |sector: &u64| {
                let covers = |other: &&Written| (other.first..other.first + other.count).contains(sector);
                self.written.iter().filter(covers).count() == 1
            };
            let mut states = (of.first..of.first + of.count).filter(alone).map(|at| held[at as usize] == of.version);
            if let Some(first) = states.next() {
                assert!(states.all(|state| state == first), "write {} is torn", of.version);
            }
        }
    }
}

fn kinds() -> Vec<(&'static str, ServeSpec)> {
    let mut worn = profile("sata-ssd-480gb");
    let Device::Flash(flash) = &mut worn else { panic!("a flash drive") };
    if let Some(capacitor) = &mut flash.buffer.power_loss_protection {
        capacitor.hold_up.value.0 = 1_000;
    }
    let mut cached = profile("sata-7k2-1tb");
    let Device::Hdd(disk) = &mut cached else { panic!("a disk") };
    disk.write_cache = Some(tameshi_spec::profile::Sourced {
        value: tameshi_base::Size(1 << 20),
        source: "test".into(),
        fitted_on: None,
    });
    let mut atomic = without_capacitor("sata-ssd-480gb");
    let Device::Flash(flash) = &mut atomic else { panic!("a flash drive") };
    let value = tameshi_base::Size(16 << 10);
    flash.atomic_write = Some(tameshi_spec::profile::Sourced { value, source: "test".into(), fitted_on: None });
    vec![
        ("capacitor", spec(profile("sata-ssd-480gb"))),
        ("worn capacitor", spec(worn)),
        ("no capacitor", spec(without_capacitor("sata-ssd-480gb"))),
        ("no capacitor, atomic 16 KiB", spec(atomic)),
        ("consumer drive", spec(profile("nvme-tlc-1tb-consumer"))),
        ("disk", spec(profile("sas-15k-146gb"))),
        ("disk with a cache", spec(cached)),
        ("3D XPoint", spec(profile("optane-p4800x-375g"))),
    ]
}

/// Cut the power of each kind of drive; return the sums of losses by kind.
fn cut_all(rounds: u64, honest: bool) -> BTreeMap<&'static str, (Cut, u64)> {
    let mut sums = BTreeMap::new();
    for (name, mut spec) in kinds() {
        spec.ignores_flush = !honest;
        let (mut stream, mut sum, mut broken) = (Stream::new(&spec, name), Cut::default(), 0);
        for _ in 0..rounds {
            let commands = 1 + stream.random.below(24);
            stream.go(commands);
            let (cut, is_broken) = stream.cut(honest);
            sum.lost_writes += cut.lost_writes;
            sum.lost_bytes += cut.lost_bytes;
            sum.torn_writes += cut.torn_writes;
            sum.under_way += cut.under_way;
            sum.stored_writes += cut.stored_writes;
            broken += u64::from(is_broken);
        }
        sums.insert(name, (sum, broken));
    }
    sums
}

#[test]
fn flushed_data_survive_ten_thousand_cuts() {
    let sums = cut_all(1250, true);
    for (name, (sum, _)) in &sums {
        let safe = ["capacitor", "disk", "3D XPoint"].contains(name);
        assert_eq!(sum.lost_bytes == 0, safe, "{name}: {sum:?}");
        assert!(sum.under_way > 100 && sum.stored_writes > 10, "{name}: {sum:?}");
        assert!(sum.stored_writes < sum.under_way, "{name}: {sum:?}");
        // No write of the stream exceeds 16 KiB.
        assert_eq!(sum.torn_writes == 0, name.contains("atomic"), "{name}: {sum:?}");
    }
}

#[test]
fn ignored_flush_is_caught_within_ten_cuts() {
    let sums = cut_all(10, false);
    for name in ["no capacitor", "consumer drive", "disk with a cache"] {
        assert!(sums[name].1 > 0, "{name}: {:?}", sums[name]);
    }
    // A capacitor keeps what such a drive acknowledged.
    assert_eq!(sums["capacitor"].1, 0);
}

#[test]
fn seed_decides_what_a_cut_takes() {
    let bytes = |seed| {
        let spec = ServeSpec { seed, ..spec(without_capacitor("sata-ssd-480gb")) };
        let mut stream = Stream::new(&spec, "seed");
        let mut held = vec![];
        for _ in 0..20 {
            stream.go(20);
            stream.cut(true);
            held.extend(stream.held());
        }
        held
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn long_stream_without_flush_keeps_a_short_undo_log() {
    let mut bench = Bench::new(&spec(without_capacitor("sata-ssd-480gb")));
    for pass in 0..4 {
        for page in 0..10_000_u64 {
            bench.submit(CommandKind::Write, page * 4096, &mut [pass + 1; 4096]);
            bench.pass(60_000);
        }
    }
    let held = bench.drive.log().held_bytes();
    assert!(held < 96 << 20, "{held} bytes of undo log after 160 MB without a flush");
    let cut = bench.drive.cut(bench.now, &mut bench.answers);
    assert!(cut.lost_bytes < 64 << 20, "{} bytes lost: only the drive's buffer", cut.lost_bytes);
}

#[test]
fn rewritten_block_is_counted_once_as_lost() {
    let spec = ServeSpec { ignores_flush: true, ..spec(profile("nvme-tlc-1tb-consumer")) };
    let mut bench = Bench::new(&spec);
    for round in 1..=200_u8 {
        assert_eq!(bench.finish(CommandKind::Write, 4096, &mut [round; 4096]), Ok(4096));
    }
    let cut = bench.drive.cut(bench.now, &mut bench.answers);
    assert_eq!(cut.lost_bytes, 4096, "{cut:?}");
    assert!(bench.bytes(4096, 1)[0] < 200);
}
