//! Fast mode: a phase is simulated until it goes on as it has for a while, and its rest is written as like that.
//!
//! What is simulated is what exact mode simulates. Then the record's time goes on to the phase's end while the simulation's own
//! stands still, so that clients, pool, log, drives and host notice nothing of it.

use super::book::Book;
use super::course::Course;
use super::entries::TRANSACTION;
use super::judge::Judge;
use super::stretch::Stretch;
use super::under_way::Phase;
use crate::error::SimError;
use crate::world::World;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{Clock, EndedBy, Writer};
use tameshi_spec::run::{Mode, RunSpec};

/// Whether a run may leave anything out: nothing befalls it, its phases are each one program's, and time ends them.
fn may_leave_out(run: &RunSpec) -> bool {
    let is_fast = run.database.as_ref().is_some_and(|database| database.mode == Some(Mode::Fast));
    let alone = run.phases.iter().all(|phase| {
        phase.streams.is_empty()
            && phase.programs.len() == 1
            && phase.until.time.is_some()
            && phase.until.steady.is_none()
    });
    is_fast && alone && run.events.is_empty() && run.rounds.is_empty()
}

/// What the rest of a phase is like that was simulated so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// How much of what was simulated; none where there is no rest.
    like: Nanos,
    /// Its mean pace, as a share of that.
    pace: f64,
}

impl Rest {
    /// There is none.
    pub(super) const NONE: Self = Self { like: 0, pace: 1.0 };
}

/// A phase that may not be simulated to its end.
pub(super) struct Parts {
    book: Book,
    judge: Judge,
    /// Its end in the record.
    end: Nanos,
    rest: Rest,
}

impl Phase<'_> {
    /// Whether this phase may leave anything out.
    pub(super) fn is_fast(&self, run: &RunSpec, world: &World) -> bool {
        !self.bounded
            && may_leave_out(run)
            && world.engine.as_ref().is_some_and(|engine| engine.is_unpaced() && !engine.is_cached())
    }

    /// Goes through the phase and writes its record; the world's time is then behind the record's, and the writer knows it.
    pub(super) fn in_parts(
        &mut self,
        run: &RunSpec,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<EndedBy, SimError> {
        let begin = self.begin.saturating_add_signed(writer.shift_ns());
        writer.set_shift(0);
        let mut parts = self.parts(begin, run, world);
        let ended_by = self.until_it_lasts(&mut parts, world, writer);
        parts.book.write(world, writer)?;
        writer.set_shift(parts.book.at.cast_signed() - world.now.cast_signed());
        if let Some(engine) = &mut world.engine {
            engine.set_done(parts.book.whole());
        }
        let whole = parts.book.at - begin;
        self.tell_simulated(run, (world.now - self.begin, whole, parts.rest), (world, writer))?;
        ended_by
    }

    fn parts(&mut self, begin: Nanos, run: &RunSpec, world: &mut World) -> Parts {
        let end = begin + (self.end - self.begin);
        let clock = Clock::new(begin, self.spec.ramp.0, run.interval.0);
        let mut stats = self.stats.clone();
        stats.iter_mut().for_each(|stats| stats.restart(self.index, clock.part(begin), begin));
        let word = self.spec.programs.first().map_or("", |drives| drives.word());
        let used = world.begin_record_at(begin);
        let clients = self.spec.programs.iter().map(|drives| drives.clients() as usize).sum();
        Parts {
            book: Book::new(clock, (self.index, word), (begin, stats), (clients, used)),
            judge: Judge::new(clock.ramped(), end),
            end,
            rest: Rest::NONE,
        }
    }

    /// Simulates block after block, until the phase's end or until the latest ones speak for its rest.
    fn until_it_lasts(
        &mut self,
        parts: &mut Parts,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<EndedBy, SimError> {
        let mut blocks = Vec::new();
        while parts.book.at < parts.end {
            let began = parts.book.at;
            let block = self.block(parts, world, writer)?;
            if writer.control().is_stopping() {
                return Ok(EndedBy::Stopped);
            }
            if began >= parts.judge.begin {
                blocks.push(block);
            }
            if let Some(lasting) = parts.judge.lasting(&blocks) {
                let pace = lasting.pace((parts.end - parts.book.at) as f64);
                let mut course = Course::new(lasting, &blocks);
                parts.rest = Rest { like: course.like.length, pace };
                parts.book.rest(parts.end, &mut course, (world, writer))?;
            }
        }
        Ok(EndedBy::Time)
    }

    /// Simulates a block, interval by interval.
    fn block(&mut self, parts: &mut Parts, world: &mut World, writer: &mut Writer) -> Result<Stretch, SimError> {
        let ramp = Some(parts.judge.begin).filter(|ramped| *ramped > parts.book.at);
        let end = ramp.unwrap_or(parts.end).min(parts.end).min(parts.book.at + parts.judge.block());
        let mut whole = None::<Stretch>;
        loop {
            let to = parts.book.boundary_after(parts.book.at).min(end);
            let piece = self.piece(to - parts.book.at, world);
            parts.book.simulated(&piece, world, writer)?;
            match &mut whole {
                Some(whole) => whole.append(&piece),
                none => *none = Some(piece),
            }
            if let Some(whole) = whole.take_if(|_| to == end || writer.control().is_stopping()) {
                return Ok(whole);
            }
        }
    }

    /// Simulates so much, within one interval.
    fn piece(&mut self, length: Nanos, world: &mut World) -> Stretch {
        let standing = world.engine.as_ref().map(|engine| engine.snapshot()).unwrap_or_default();
        let used = world.used_now();
        self.pass(world.now + length, world);
        let kinds = self.stats.iter_mut().map(|stats| std::mem::take(&mut stats.operations[TRANSACTION])).collect();
        let engine = world.engine.as_mut().expect("a program works on an engine");
        Stretch {
            length,
            kinds,
            counted: engine.take_totals(world.now),
            standing: (standing, engine.snapshot()),
            used: (used, world.used_now()),
        }
    }

    /// Simulates until a time of the world's.
    fn pass(&mut self, until: Nanos, world: &mut World) {
        let (mut wake, mut device) = world.first_wake();
        loop {
            let (host, engine) = (world.host_wake(), world.engine_wake());
            let first = wake.min(host).min(engine);
            if first > until {
                return self.enter(world, until);
            }
            self.enter(world, first);
            world.touched = false;
            if engine == first {
                self.engine(world);
            } else if host == first {
                self.host(world);
                while world.host_lingers() && world.engine_wake() > first {
                    self.host(world);
                }
            } else {
                self.complete(world, device);
            }
            if world.touched {
                (wake, device) = world.first_wake();
            }
        }
    }

    /// Tells how much of the phase of a program was simulated, and what the rest is like.
    pub(super) fn tell_simulated(
        &self,
        run: &RunSpec,
        (simulated, whole, rest): (Nanos, Nanos, Rest),
        (world, writer): (&World, &mut Writer),
    ) -> Result<(), SimError> {
        let Some(mode) = run.database.as_ref().and_then(|database| database.mode) else { return Ok(()) };
        let fields = json!({
            "phase": self.index,
            "mode": mode,
            "simulated_ns": simulated,
            "whole_ns": whole,
            "like_last_ns": rest.like,
            "pace": rest.pace,
        });
        Ok(writer.event(world.now, "simulated", fields)?)
    }
}
