//! Block mirrors: content of the far side at every moment, by each protocol.
//!
//! The reference knows the link alone: a write begins to cross when the one before has crossed, and
//! arrives half a round trip after it has crossed. The far side holds the writes that have arrived,
//! and no others.

use crate::support::*;
use tameshi_base::units::{Size, Time};
use tameshi_base::{CommandKind, Nanos, Random};
use tameshi_emulate::{FailedOver, Power, ServeSpec};
use tameshi_spec::run::{Link, Node};
use tameshi_spec::study::Protocol;

const PAGES: u64 = 64;
const ROUND_TRIP: Nanos = 200_000;
/// Nanoseconds of a byte on the link.
const BYTE: Nanos = 40;
const PROTOCOLS: [Protocol; 3] = [Protocol::Asynchronous, Protocol::FarMemory, Protocol::FarMedium];

fn mirror(name: &str, protocol: Protocol) -> ServeSpec {
    let alone = spec(profile(name));
    let link = Link { round_trip: Time(ROUND_TRIP), rate: Size(1_000_000_000 / BYTE) };
    ServeSpec { node: Node::Replica { of: Box::new(alone.node.clone()), link, protocol }, ..alone }
}

/// Write or trim, with its arrival on the far side.
struct Change {
    tag: u32,
    page: u64,
    pages: u64,
    /// Content; zero for a trim.
    byte: u8,
    arrives: Nanos,
}

/// Stream of changes on a mirror.
struct Stream {
    bench: Bench,
    random: Random,
    changes: Vec<Change>,
    before: Vec<u8>,
    free: Nanos,
}

impl Stream {
    fn new(name: &str, protocol: Protocol, seed: u64) -> Self {
        let mut bench = Bench::new(&mirror(name, protocol));
        bench.pass(1_000_000_000);
        let before = vec![0; (PAGES * 4096) as usize];
        Self { bench, random: Random::named(seed, "mirror"), changes: vec![], before, free: 0 }
    }

    fn change(&mut self) {
        let pages = [1, 1, 4, 16][self.random.below(4) as usize];
        let page = self.random.below(PAGES - pages + 1);
        let is_trim = self.random.below(10) == 0;
        let byte = if is_trim { 0 } else { 1 + self.random.below(255) as u8 };
        let (now, length) = (self.bench.now, pages * 4096);
        let tag = if is_trim {
            self.bench.request(CommandKind::Trim, page * 4096, length, &mut [])
        } else {
            self.bench.submit(CommandKind::Write, page * 4096, &mut vec![byte; length as usize])
        };
        self.free = self.free.max(now) + if is_trim { 0 } else { length * BYTE };
        self.changes.push(Change { tag, page, pages, byte, arrives: self.free + ROUND_TRIP / 2 });
    }

    fn go(&mut self, changes: u64) {
        for _ in 0..changes {
            match self.random.below(6) {
                0 => _ = self.bench.submit(CommandKind::Flush, 0, &mut []),
                _ => self.change(),
            }
            let pause = [0, 20_000, 150_000, 900_000, 5_000_000][self.random.below(5) as usize];
            self.bench.pass(pause);
        }
    }

    fn content(&self) -> Vec<u8> {
        self.bench.bytes(0, (PAGES * 4096) as usize)
    }

    /// Return the content after the first changes.
    fn after(&self, count: usize) -> Vec<u8> {
        let mut content = self.before.clone();
        for of in &self.changes[..count] {
            content[(of.page * 4096) as usize..((of.page + of.pages) * 4096) as usize].fill(of.byte);
        }
        content
    }

    fn is_acknowledged(&self, change: &Change) -> bool {
        self.bench.answers.iter().any(|answer| answer.tag == change.tag && answer.result.is_ok())
    }

    /// Lose the near side now; check the far side, and begin anew on it.
    fn fail_over(&mut self) -> FailedOver {
        assert_eq!(self.content(), self.after(self.changes.len()), "the near side has all");
        let arrived = self.changes.iter().filter(|of| of.arrives <= self.bench.now).count();
        let expected = self.after(arrived);
        let writes = self.changes[arrived..].iter().filter(|of| of.byte > 0);
        let (lost, dropped): (Vec<&Change>, Vec<&Change>) = writes.partition(|of| self.is_acknowledged(of));
        let lost_bytes: u64 = lost.iter().map(|of| of.pages * 4096).sum();
        let counts = (lost.len() as u64, lost_bytes, dropped.len() as u64);
        let found = self.bench.drive.fail_over(self.bench.now, &mut self.bench.answers).expect("a far side");
        assert_eq!((found.lost_writes, found.lost_bytes, found.dropped_writes), counts);
        assert!(self.content() == expected, "the far side has what has arrived");
        assert_eq!(self.bench.drive.under_way(), 0);
        self.begin_anew();
        found
    }

    fn begin_anew(&mut self) {
        self.bench.drive.switch(Power::On);
        self.bench.answers.clear();
        (self.before, self.changes) = (self.content(), vec![]);
    }

    fn sides(&self) -> String {
        self.bench.drive.mirror()["sides"].as_str().expect("a mirror").into()
    }

    /// Let time pass until the returned side has all.
    fn wait(&mut self) {
        for _ in 0..200 {
            self.bench.pass(100_000_000);
            _ = self.bench.drive.take_rebuilt();
            if self.sides() == "both" {
                self.bench.pass(1_000_000_000);
                return self.begin_anew();
            }
        }
        panic!("the resync did not end: {}", self.bench.drive.mirror());
    }
}

/// Fail over and back at random moments; return the writes lost and dropped.
fn fail_over_often(name: &str, protocol: Protocol, rounds: u64) -> (u64, u64) {
    let mut stream = Stream::new(name, protocol, 11);
    let (mut lost, mut dropped) = (0, 0);
    for _ in 0..rounds {
        let changes = 1 + stream.random.below(20);
        stream.go(changes);
        let moment = stream.random.below(2_000_000);
        stream.bench.pass(moment);
        let found = stream.fail_over();
        (lost, dropped) = (lost + found.lost_writes, dropped + found.dropped_writes);
        assert_eq!(stream.sides(), "alone");
        let changes = stream.random.below(10);
        stream.go(changes);
        stream.bench.drive.take_back(stream.bench.now, &mut stream.bench.answers).expect("a lost side");
        stream.go(3);
        stream.wait();
    }
    (lost, dropped)
}

#[test]
fn far_side_has_what_the_protocol_promises_at_each_moment() {
    for name in ["sata-ssd-480gb", "sas-15k-146gb"] {
        for protocol in PROTOCOLS {
            let (lost, dropped) = fail_over_often(name, protocol, 60);
            let is_synchronous = protocol != Protocol::Asynchronous;
            assert!(lost == 0 || !is_synchronous, "{name} {protocol:?}: {lost} writes lost");
            // A disk is slower than the link.
            assert!(lost > 0 || is_synchronous || name == "sas-15k-146gb", "{name} {protocol:?}");
            assert!(dropped > 0 || !is_synchronous, "{name} {protocol:?}");
        }
    }
}

#[test]
fn cut_link_holds_back_synchronous_writes_alone() {
    for protocol in PROTOCOLS {
        let mut stream = Stream::new("sata-ssd-480gb", protocol, 3);
        stream.go(5);
        stream.bench.pass(1_000_000_000);
        stream.bench.drive.change_link(false, stream.bench.now, &mut stream.bench.answers).expect("a link");
        let first = stream.changes.len();
        (0..4).for_each(|_| stream.change());
        stream.changes[first..].iter_mut().for_each(|of| of.arrives = Nanos::MAX);
        stream.bench.pass(60_000_000_000);
        let count = |stream: &Stream| stream.changes[first..].iter().filter(|of| stream.is_acknowledged(of)).count();
        let is_asynchronous = protocol == Protocol::Asynchronous;
        let writes = stream.changes[first..].iter().filter(|of| of.byte > 0).count() as u64;
        assert_eq!(count(&stream), if is_asynchronous { 4 } else { 0 }, "{protocol:?}");
        if is_asynchronous {
            assert_eq!(stream.fail_over().lost_writes, writes);
            continue;
        }
        stream.bench.drive.change_link(true, stream.bench.now, &mut stream.bench.answers).expect("a link");
        stream.bench.pass(1_000_000_000);
        assert_eq!(count(&stream), 4, "a healed link sends them again");
        let now = stream.bench.now;
        stream.changes[first..].iter_mut().for_each(|of| of.arrives = now);
        assert_eq!(stream.fail_over().lost_writes, 0);
    }
}

#[test]
fn far_side_out_of_date_refuses_a_failover() {
    let mut stream = Stream::new("sas-15k-146gb", Protocol::FarMedium, 5);
    let answers = &mut vec![];
    assert!(stream.bench.drive.take_back(stream.bench.now, answers).is_err(), "no side is lost");
    stream.go(10);
    stream.fail_over();
    let again = stream.bench.drive.fail_over(stream.bench.now, answers).expect_err("one side");
    assert_eq!(again.code, "no_other_side");
    assert!(stream.bench.drive.change_link(false, stream.bench.now, answers).is_err(), "no link");
    stream.go(10);
    let lacks = stream.bench.drive.take_back(stream.bench.now, answers).expect("a lost side");
    assert!(lacks > 0 && lacks <= PAGES * 4096, "{lacks} bytes");
    let early = stream.bench.drive.fail_over(stream.bench.now, answers).expect_err("a resync");
    assert_eq!(early.code, "not_up_to_date");
    stream.wait();
    let sent = stream.bench.drive.mirror()["sent_bytes"].as_u64().expect("bytes");
    assert!(sent >= lacks, "{sent} bytes over the link");
    assert_eq!(stream.fail_over(), FailedOver::default());
}

#[test]
fn power_cut_of_both_sides_sends_again_what_was_owed() {
    let mut stream = Stream::new("sata-ssd-480gb", Protocol::Asynchronous, 7);
    stream.go(10);
    (0..4).for_each(|_| stream.change());
    stream.bench.pass(300_000);
    stream.bench.drive.cut(stream.bench.now, &mut stream.bench.answers);
    stream.begin_anew();
    assert_eq!(stream.sides(), "resync");
    stream.wait();
    assert_eq!(stream.fail_over(), FailedOver::default());
}

#[test]
fn drive_without_a_mirror_has_no_other_side() {
    let mut bench = Bench::new(&spec(profile("sas-15k-146gb")));
    assert!(bench.drive.mirror().is_null());
    assert!(bench.drive.fail_over(0, &mut bench.answers).is_err());
    assert!(bench.drive.change_link(false, 0, &mut bench.answers).is_err());
}
