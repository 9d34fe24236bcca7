//! Loop of the thread that forwards packets: arrivals, due packets and control messages in one
//! order.

use super::messages::{self, Change, Message, Ways};
use super::spec::{LinkSpec, LinksSpec};
use super::tun;
use super::way::Way;
use crate::clock::{self, DriveTime};
use crate::control;
use crate::pace::{Pacer, Step};
use serde_json::{Value, json};
use std::io;
use std::os::fd::RawFd;
use tameshi_base::Nanos;

/// Most packets that one device hands over before others have their turn, by one reading of the
/// clock.
const BURST: usize = 16;
/// Time between looks at the control socket while packets keep the thread busy.
const CONTROL: Nanos = 1_000_000;

/// Forward the packets of links until the owner is gone.
///
/// The owner sends control messages over `control`, a socket of packets. This thread becomes a
/// real-time thread where the kernel allows it.
///
/// # Errors
/// A sentence for the user.
pub fn forward_packets(spec: &LinksSpec, control: RawFd) -> Result<(), String> {
    let line = |link: &LinkSpec| Line::new(link, spec.seed);
    let lines: io::Result<Vec<Line>> = spec.links.iter().map(line).collect();
    let failed = |error: io::Error| format!("links of {}: {error}", spec.group);
    let lines = lines.map_err(failed)?;
    // One reading of poll(2) each for the devices, then the control socket.
    let watched = lines.iter().flat_map(|line| line.ends).chain([control]);
    let polls = watched.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    let (time, pacer) = (DriveTime::start(spec.slow), Pacer::start());
    Forwarder { lines, control, polls, time, pacer, looked: 0 }.run().map_err(failed)
}

/// Link: its ends, and the direction from each of them.
struct Line {
    hosts: [String; 2],
    ends: [RawFd; 2],
    ways: [Way; 2],
}

impl Line {
    fn new(link: &LinkSpec, seed: u64) -> io::Result<Self> {
        let ways = [Way::new(link, 0, seed)?, Way::new(link, 1, seed)?];
        Ok(Self { hosts: link.hosts.clone(), ends: link.ends, ways })
    }

    /// Take packets that have left the hosts; return whether there was any.
    #[inline]
    fn collect(&mut self, time: DriveTime) -> io::Result<bool> {
        let mut any = false;
        for (way, &end) in self.ways.iter_mut().zip(&self.ends) {
            let mut now = None;
            for _ in 0..BURST {
                let Some(length) = tun::read(end, way.buffer())? else { break };
                way.arrive(*now.get_or_insert_with(|| time.now()), length);
                any = true;
            }
        }
        Ok(any)
    }

    /// Hand over packets that are due; return whether there was any.
    #[inline]
    fn deliver(&mut self, time: DriveTime) -> bool {
        let mut any = false;
        for (way, &end) in self.ways.iter_mut().zip(self.ends.iter().rev()) {
            if way.next_due().is_none() {
                continue;
            }
            let now = time.now();
            while let Some(packet) = way.due(now) {
                let is_taken = tun::write(end, packet);
                way.depart(now, is_taken);
                any = true;
            }
        }
        any
    }

    fn as_json(&self) -> Value {
        json!({ "hosts": self.hosts, "ways": [self.ways[0].as_json(), self.ways[1].as_json()] })
    }
}

struct Forwarder {
    lines: Vec<Line>,
    control: RawFd,
    polls: Vec<libc::pollfd>,
    time: DriveTime,
    pacer: Pacer,
    /// Last look at the control socket.
    looked: Nanos,
}

impl Forwarder {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let any = self.round()?;
            let now = clock::now();
            if now - self.looked >= CONTROL {
                self.looked = now;
                if !self.obey()? {
                    return Ok(());
                }
            }
            if any {
                self.pacer.passed(now, false);
                continue;
            }
            let next = self.lines.iter().flat_map(|line| &line.ways).filter_map(Way::next_due).min();
            let reached = self.time.at(now);
            let left = next.map(|at| self.time.slow.wall_time(at.saturating_sub(reached)));
            match self.pacer.step(now, left) {
                Step::Spin => self.pacer.spun(now),
                Step::Wait(patience) => {
                    self.pacer.passed(now, false);
                    self.wait(patience)?;
                    self.pacer.passed(clock::now(), true);
                }
            }
        }
    }

    #[inline]
    fn round(&mut self) -> io::Result<bool> {
        let mut any = false;
        for line in &mut self.lines {
            any |= line.collect(self.time)?;
            any |= line.deliver(self.time);
        }
        Ok(any)
    }

    /// Wait for a packet or a message, at most this long.
    fn wait(&mut self, patience: Option<Nanos>) -> io::Result<()> {
        let limit = patience.map(|time| libc::timespec {
            tv_sec: (time / 1_000_000_000) as libc::time_t,
            tv_nsec: (time % 1_000_000_000) as libc::c_long,
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (polls, count) = (self.polls.as_mut_ptr(), self.polls.len() as libc::nfds_t);
        // SAFETY: the entries and the limit are borrowed during the call.
        if unsafe { libc::ppoll(polls, count, limit, std::ptr::null()) } < 0 {
            let error = io::Error::last_os_error();
            return if error.raw_os_error() == Some(libc::EINTR) { Ok(()) } else { Err(error) };
        }
        if self.polls.last().is_some_and(|control| control.revents != 0) {
            self.looked = 0;
        }
        Ok(())
    }

    /// Obey all control messages; return false if the owner is gone.
    fn obey(&mut self) -> io::Result<bool> {
        while let Some(text) = control::receive_text(self.control)? {
            let answer = match messages::parse(&text) {
                Ok(Message::Gone) => return Ok(false),
                Ok(Message::Status) => self.status(),
                Ok(Message::Reset) => {
                    self.lines.iter_mut().flat_map(|line| &mut line.ways).for_each(Way::reset);
                    json!({})
                }
                Ok(Message::Change(link, ways, change)) => self.change(link, ways, change),
                Err(error) => json!({ "error": error }),
            };
            control::send(self.control, &answer)?;
        }
        Ok(true)
    }

    fn change(&mut self, link: usize, ways: Ways, change: Change) -> Value {
        let slow = self.time.slow;
        let Some(line) = self.lines.get_mut(link) else {
            return json!({ "error": format!("there is no link {link}") });
        };
        let change = match change {
            Change::On(wall) => Change::On(slow.own_time(wall)),
            other => other,
        };
        let changed = line.ways.iter_mut().enumerate().filter(|(index, _)| ways.holds(*index));
        changed.for_each(|(_, way)| way.change(change));
        line.as_json()
    }

    fn status(&self) -> Value {
        let granted = self.pacer.granted;
        let links: Vec<Value> = self.lines.iter().map(Line::as_json).collect();
        json!({
            "links": links, "elapsed_ns": self.time.now(), "tail_ns": self.pacer.tail(),
            "real_time": granted.fifo, "processors_awake": granted.awake,
        })
    }
}
