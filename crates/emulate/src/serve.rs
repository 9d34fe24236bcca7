//! Loop of the serving thread: arrivals, the model's completions and control messages in one order.
//!
//! The path between a program and this thread adds a constant time to each request: the offset. An
//! answer therefore leaves that much before its due time. A command that arrives meanwhile is
//! submitted no earlier than the last event that the model has processed, as by a program that
//! reacts at once.

use crate::clock::{self, DriveTime};
use crate::control::{self, Message};
use crate::door::{Door, Request};
use crate::drive::{Departure, Drive, FailedOver, Power};
use crate::fuse::Fuse;
use crate::lateness::Lateness;
use crate::members::Members;
use crate::nbd::Nbd;
use crate::pace::{Pacer, Step};
use crate::spec::ServeSpec;
use serde_json::json;
use std::os::fd::RawFd;
use tameshi_base::Nanos;
use tameshi_spec::study::PowerCut;

/// Most lost ranges in an answer.
const RANGES: usize = 500;
/// Longest time in wall-clock ns that a power cut waits for a write: its owner waits as long.
const LONGEST_WAIT: u64 = 20_000_000_000;

/// Serve a drive on its mount, or by NBD, until the mount or the owner is gone.
///
/// The owner sends control messages over `control`, a socket of packets. This thread becomes a
/// real-time thread where the kernel allows it.
///
/// # Errors
/// A sentence for the user.
pub fn serve(spec: &ServeSpec, control: RawFd) -> Result<(), String> {
    let (device, bytes, durability) = spec.build()?;
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let mut drive = Drive::new(device, spec.empty_store(bytes)?, durability, spec.seed);
    if spec.forgets {
        drive.forget_writes();
    }
    drive.switch(Power::Bypass);
    let offer = spec.offer(bytes);
    match &spec.nbd {
        None => {
            let door = Fuse::mount(&spec.path, &spec.source, offer, !spec.plain, control)
                .map_err(|error| failed("mount of the drive through /dev/fuse", error))?;
            run(spec, drive, door, control)
        }
        Some(address) => {
            let door = Nbd::listen(address, offer, control).map_err(|error| failed(address, error))?;
            run(spec, drive, door, control)
        }
    }
}

fn run<D: Door>(spec: &ServeSpec, drive: Drive, door: D, control: RawFd) -> Result<(), String> {
    let mut server = Server {
        drive,
        door,
        lateness: Lateness::new()?,
        pacer: Pacer::start(),
        place: spec.place(),
        control,
        time: DriveTime::start(spec.slow),
        offset: 0,
        is_taught: spec.is_taught(),
        members: Members::default(),
        awaited: None,
        arrivals: Vec::with_capacity(512),
        departures: Vec::with_capacity(512),
    };
    // Pacing locks all memory: the hot part of a disk's data must not grow without end.
    server.drive.store().allow_eviction();
    server.run().map_err(|error| format!("serving the drive: {error}"))
}

/// Write that a power cut waits for.
#[derive(Clone, Copy, Debug)]
struct AwaitedWrite {
    bytes: u64,
    /// Time of the drive at which the power is cut without such a write.
    until: Nanos,
}

struct Server<D> {
    drive: Drive,
    door: D,
    lateness: Lateness,
    pacer: Pacer,
    /// Place of the drive's data.
    place: String,
    control: RawFd,
    time: DriveTime,
    /// Drive's time that the path adds to each request.
    offset: Nanos,
    /// The model has yet to learn what was stored without it.
    is_taught: bool,
    members: Members,
    awaited: Option<AwaitedWrite>,
    arrivals: Vec<Request>,
    departures: Vec<Departure>,
}

impl<D: Door> Server<D> {
    fn run(&mut self) -> std::io::Result<()> {
        while !self.door.is_closed() {
            let any = self.round()?;
            if let Some(write) = self.awaited {
                self.cut_during(write)?;
            }
            if self.door.take_control() {
                self.door.submit()?;
                if !self.obey()? {
                    return Ok(());
                }
            }
            let now = clock::now();
            if any {
                self.pacer.passed(now, false);
                continue;
            }
            let soon = self.time.at(now) + self.offset;
            let wakes = [self.drive.next_wake(), self.awaited.map(|write| write.until)];
            let left = wakes.into_iter().flatten().min();
            let left = left.map(|at| self.time.slow.wall_time(at.saturating_sub(soon)));
            match self.pacer.step(now, left) {
                Step::Spin => self.pacer.spun(now),
                Step::Wait(patience) => {
                    self.pacer.passed(now, false);
                    self.door.wait(patience)?;
                    self.pacer.passed(clock::now(), true);
                }
            }
        }
        Ok(())
    }

    /// Take arrivals and send answers that are due; return whether there was any.
    ///
    /// The next round passes the answers to the kernel, in the call that fetches arrivals.
    fn round(&mut self) -> std::io::Result<bool> {
        self.door.collect(&mut self.arrivals)?;
        let mut any = !self.arrivals.is_empty();
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for request in arrivals.drain(..) {
            let now = self.time.now();
            self.drive.arrive(now, &request, self.door.payload(request.tag), &mut self.departures);
            // Copies take time: others may have become due.
            self.depart()?;
        }
        self.arrivals = arrivals;
        self.drive.advance(self.time.now() + self.offset, &mut self.departures);
        any |= !self.departures.is_empty();
        self.depart()?;
        Ok(any)
    }

    #[inline]
    fn depart(&mut self) -> std::io::Result<()> {
        for departure in self.departures.drain(..) {
            if let (Some(due), Ok(bytes)) = (departure.due, departure.result) {
                let times = (departure.arrived, due, self.time.now());
                self.lateness.count(departure.kind, bytes, times, self.offset);
            }
            self.door.complete(departure.tag, departure.result)?;
        }
        Ok(())
    }

    /// Obey all control messages; return false if the owner is gone.
    fn obey(&mut self) -> std::io::Result<bool> {
        while let Some(message) = control::receive(self.control)? {
            let answer = match message {
                Message::Gone => return Ok(false),
                Message::Status => self.status(),
                Message::Reset => {
                    self.lateness.reset();
                    json!({})
                }
                Message::Bypass => {
                    // Requests that wait for a cut link would never be answered.
                    _ = self.drive.change_link(true, self.time.now(), &mut self.departures);
                    self.depart()?;
                    self.drive.switch(Power::Bypass);
                    json!({})
                }
                Message::On(offset) => {
                    self.offset = self.time.slow.own_time(offset);
                    if std::mem::take(&mut self.is_taught) {
                        // The drive's time continues where the model has got to.
                        let reached = self.drive.learn();
                        self.time.advance_to(reached);
                    }
                    self.drive.switch(Power::On);
                    self.door.switch(true)?;
                    json!({})
                }
                Message::Cut(None) => self.cut()?,
                Message::Cut(Some(bytes)) => {
                    self.await_write(bytes);
                    continue;
                }
                Message::FailOver => self.fail_over()?,
                Message::TakeBack => self.take_back()?,
                Message::Link(is_up) => {
                    let changed = self.drive.change_link(is_up, self.time.now(), &mut self.departures);
                    self.depart()?;
                    json!({ "missed": changed.err() })
                }
                Message::Fail(member) => {
                    let was_alive = self.drive.fail(member, self.time.now(), &mut self.departures);
                    self.members.failed(member.filter(|_| was_alive));
                    self.depart()?;
                    json!({ "was_alive": was_alive })
                }
                Message::Replace(member) => {
                    let replaced = self.drive.replace(member, self.time.now(), &mut self.departures);
                    self.depart()?;
                    if replaced.is_ok() {
                        self.members.replaced(member, &self.drive);
                    }
                    json!({ "missed": replaced.err() })
                }
                Message::Slow(factor, time) => {
                    self.drive.slow_down(factor, time, self.time.now(), &mut self.departures);
                    self.depart()?;
                    json!({})
                }
                Message::Corrupt(kind, range) => {
                    let corrupted = self.drive.corrupt(kind, range, self.time.now(), &mut self.departures);
                    self.depart()?;
                    json!({ "refused": corrupted.err(), "corruption": self.drive.corruption() })
                }
            };
            control::send(self.control, &answer)?;
        }
        Ok(true)
    }

    /// Cut the power during a write of this size; the message is answered then.
    fn await_write(&mut self, bytes: u64) {
        let longest = self.time.slow.own_time(LONGEST_WAIT).min(PowerCut::LONGEST_WAIT_NS);
        self.awaited = Some(AwaitedWrite { bytes, until: self.time.now() + longest });
    }

    /// Cut the power if the awaited write is under way, or its time has passed.
    fn cut_during(&mut self, write: AwaitedWrite) -> std::io::Result<()> {
        if self.drive.is_writing(write.bytes) || self.time.now() >= write.until {
            self.awaited = None;
            let answer = self.cut()?;
            control::send(self.control, &answer)?;
        }
        Ok(())
    }

    /// Cut the power between two events of the drive.
    fn cut(&mut self) -> std::io::Result<serde_json::Value> {
        let mut cut = self.drive.cut(self.time.now(), &mut self.departures);
        self.depart()?;
        self.door.submit()?;
        self.door.switch(false)?;
        let count = cut.ranges.len();
        cut.ranges.truncate(RANGES);
        let mut answer = serde_json::to_value(&cut)?;
        answer["ranges_left_out"] = (count - cut.ranges.len()).into();
        Ok(answer)
    }

    /// Bring the lost side of a block mirror back.
    fn take_back(&mut self) -> std::io::Result<serde_json::Value> {
        let lacks = self.drive.take_back(self.time.now(), &mut self.departures);
        self.depart()?;
        Ok(json!({ "missed": lacks.as_ref().err(), "lacks_bytes": lacks.ok() }))
    }

    /// Lose the near side of a block mirror between two events of the drive.
    fn fail_over(&mut self) -> std::io::Result<serde_json::Value> {
        // A resync that has ended makes the far side whole.
        self.members.look(&mut self.drive, self.time);
        let failed_over = self.drive.fail_over(self.time.now(), &mut self.departures);
        self.depart()?;
        self.door.submit()?;
        if failed_over.is_ok() {
            self.door.switch(false)?;
        }
        Ok(match failed_over {
            Err(missed) => json!({ "missed": missed }),
            Ok(FailedOver { lost_writes, lost_bytes, dropped_writes, .. }) => {
                json!({ "lost_writes": lost_writes, "lost_bytes": lost_bytes, "dropped_writes": dropped_writes })
            }
        })
    }

    fn status(&mut self) -> serde_json::Value {
        let members = self.members.as_json(&mut self.drive, self.time);
        let (store, granted) = (self.drive.store(), self.pacer.granted);
        json!({
            "power": match self.drive.power() { Power::On => "on", Power::Bypass => "bypass", Power::Off => "off" },
            "door": self.door.name(),
            "elapsed_ns": self.time.now(),
            "offset_ns": self.offset,
            "capacity_bytes": store.capacity_bytes(),
            "store": self.place,
            "used_bytes": store.used_bytes(),
            "limit_bytes": store.limit_bytes(),
            "undo_bytes": self.drive.log().held_bytes(),
            "under_way": self.drive.under_way(),
            "refused_writes": self.drive.refused_writes(),
            "tail_ns": self.pacer.tail(),
            "real_time": granted.fifo, "processors_awake": granted.awake, "memory_locked": granted.locked,
            "members": members,
            "mirror": self.drive.mirror(),
            "slowdown": self.drive.slowdown(self.time.now()),
            "corruption": self.drive.corruption(),
            "operations": self.lateness.as_json(),
        })
    }
}
