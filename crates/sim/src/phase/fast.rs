//! Fast mode: stretches of a phase are simulated, and what lies between them is written as like them.
//!
//! Before a gap all transactions come to their end; behind it clients begin anew, and what they do in the first moments
//! counts nowhere. What the gap does to pool, log and data set is carried out without time where it changes anything.
//! The simulation's own time goes on without the gap, so that drives and hosts notice nothing of it.

use super::Phase;
use super::book::{Book, Gap, Stretch};
use super::judge::{Judge, Next};
use crate::engine::Pace;
use crate::run::{SimError, World};
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{Clock, EndedBy, Writer};
use tameshi_spec::run::{Mode, RunSpec};

const SECOND: Nanos = 1_000_000_000;
/// Of a stretch so much is simulated before it without being counted, after a gap.
const LEAD_IN: Nanos = 5;
/// Pieces of a stretch at most: one for each interval.
const PIECES: usize = 64;

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

/// What a phase is made of.
pub(super) struct Parts {
    book: Book,
    judge: Judge,
    /// The phase's end in the record.
    end: Nanos,
    /// Simulated stretches in the record, each from when to when.
    simulated: Vec<(Nanos, Nanos)>,
    /// Transactions carried out without time.
    transactions: u64,
}

impl Phase<'_> {
    /// Whether this phase may leave anything out.
    pub(super) fn is_fast(&self, run: &RunSpec, world: &World) -> bool {
        !self.bounded && may_leave_out(run) && world.engine.as_ref().is_some_and(|engine| engine.is_unpaced())
    }

    /// Goes through the phase in parts and writes its record; the world's time is then behind the record's, and the writer
    /// knows it.
    pub(super) fn in_parts(
        &mut self,
        run: &RunSpec,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<EndedBy, SimError> {
        let begin = self.begin.saturating_add_signed(writer.shift_ns());
        writer.set_shift(0);
        let mut parts = self.parts(begin, run, world);
        let ended_by = self.all_parts(&mut parts, world, writer);
        parts.book.write(world, writer)?;
        writer.set_shift(parts.book.at.cast_signed() - world.now.cast_signed());
        if let Some(engine) = &mut world.engine {
            engine.set_done_by_clients(parts.book.whole());
        }
        self.tell_simulated(run, (&parts.simulated, parts.transactions), (world, writer))?;
        ended_by
    }

    fn parts(&mut self, begin: Nanos, run: &RunSpec, world: &mut World) -> Parts {
        let length = self.end - self.begin;
        let clock = Clock::new(begin, self.spec.ramp.0, run.interval.0);
        let mut stats = self.stats.clone();
        stats.iter_mut().for_each(|stats| stats.restart(self.index, clock.part(begin), begin));
        let word = self.spec.programs.first().map_or("", |drives| drives.word());
        let used = world.begin_record_at(begin);
        let clients = self.spec.programs.iter().map(|drives| drives.clients() as usize).sum();
        Parts {
            book: Book::new(clock, (self.index, word), (begin, stats), (clients, used)),
            judge: Judge::new(clock.ramped(), begin + length),
            end: begin + length,
            simulated: Vec::new(),
            transactions: 0,
        }
    }

    fn all_parts(&mut self, parts: &mut Parts, world: &mut World, writer: &mut Writer) -> Result<EndedBy, SimError> {
        let (mut gap, mut begun) = (None::<(Gap, Stretch)>, None::<Stretch>);
        loop {
            let from = gap.as_ref().map_or(parts.book.at, |(gap, _)| gap.to);
            let (pieces, stretch) = self.stretch(parts, (from, begun.as_ref()), world, writer);
            let Some(stretch) = stretch else { return Ok(EndedBy::Time) };
            if let Some((gap, before)) = gap.take() {
                parts.book.between(gap, (&before, &stretch), (world, writer))?;
            }
            match parts.simulated.last_mut().filter(|(_, to)| *to == from) {
                Some((_, to)) => *to = from + stretch.length,
                None => parts.simulated.push((from, from + stretch.length)),
            }
            for piece in &pieces {
                parts.book.simulated(piece, world, writer)?;
            }
            let now = parts.book.at;
            if writer.control().is_stopping() {
                return Ok(EndedBy::Stopped);
            }
            if now >= parts.end {
                return Ok(EndedBy::Time);
            }
            let stretch = match begun.take() {
                Some(mut begun) => {
                    begun.append(&stretch);
                    begun
                }
                None => stretch,
            };
            match parts.judge.next(&stretch, now) {
                Next::More if parts.judge.speaks_for_others(stretch.length, stretch.transactions()) => {}
                Next::More => begun = Some(stretch),
                Next::Gap { length, carried_out } => {
                    let lead_in = (stretch.length / LEAD_IN).max(SECOND / 4);
                    let left = Gap { from: now, to: now + length };
                    let (transactions, flushed) = self.leap((left, lead_in), (&stretch, carried_out), world, writer)?;
                    parts.transactions += transactions;
                    parts.judge.carried_out(&stretch, (carried_out, flushed));
                    gap = Some((left, stretch));
                }
            }
        }
    }

    /// Simulates a stretch that begins at `from` in the record, until it and what has `begun` before it are long enough to
    /// speak for others, piece by piece and as a whole.
    fn stretch(
        &mut self,
        parts: &Parts,
        (from, begun): (Nanos, Option<&Stretch>),
        world: &mut World,
        writer: &mut Writer,
    ) -> (Vec<Stretch>, Option<Stretch>) {
        let (mut pieces, mut whole, mut at) = (Vec::new(), None::<Stretch>, from);
        let of = |stretch: Option<&Stretch>| stretch.map_or((0, 0), |of| (of.length, of.transactions()));
        let before = of(begun);
        while at < parts.end && pieces.len() < PIECES {
            let to = parts.book.boundary_after(at).min(parts.end);
            let (length, transactions) = of(whole.as_ref());
            let begun = (before.0 + length, before.1 + transactions);
            let piece = self.piece((at, to), (&parts.judge, begun), world, writer);
            at += piece.length;
            match &mut whole {
                Some(whole) => whole.append(&piece),
                none => *none = Some(piece.clone()),
            }
            pieces.push(piece);
            let (length, transactions) = of(whole.as_ref());
            let is_enough = parts.judge.speaks_for_others(before.0 + length, before.1 + transactions);
            if is_enough || writer.control().is_stopping() {
                break;
            }
        }
        (pieces, whole)
    }

    /// Simulates up to a boundary of an interval, or less where the stretch is long enough before: whole seconds of it.
    fn piece(
        &mut self,
        (from, to): (Nanos, Nanos),
        (judge, (length, transactions)): (&Judge, (Nanos, u64)),
        world: &mut World,
        writer: &mut Writer,
    ) -> Stretch {
        let (begin, mut at) = (world.now, from);
        let standing = world.engine.as_ref().map(|engine| engine.standing()).unwrap_or_default();
        let used = world.used_now();
        loop {
            at = (at + SECOND).min(to);
            self.pass(begin + (at - from), world);
            let ended: u64 = self.stats.iter().map(|stats| stats.operations[super::TRANSACTION].count).sum();
            let is_enough = judge.speaks_for_others(length + at - from, transactions + ended);
            if at == to || is_enough || writer.control().is_stopping() {
                break;
            }
        }
        let kinds =
            self.stats.iter_mut().map(|stats| std::mem::take(&mut stats.operations[super::TRANSACTION])).collect();
        let engine = world.engine.as_mut().expect("a program works on an engine");
        Stretch {
            length: at - from,
            kinds,
            counted: engine.take_counted(world.now),
            standing: (standing, engine.standing()),
            used: (used, world.used_now()),
        }
    }

    /// Leaves a gap out: what it does to the data is carried out without time, if it has to be. Returns how many transactions
    /// that were, and pages flushed for the log's sake.
    fn leap(
        &mut self,
        (gap, lead_in): (Gap, Nanos),
        (before, carried_out): (&Stretch, Nanos),
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(u64, u64), SimError> {
        self.over = true;
        self.come_to_rest(world, writer)?;
        let engine = world.engine.as_mut().expect("a program works on an engine");
        let mut done = (0, 0);
        if carried_out > 0 {
            let (waiting, each) = (before.counted.waits_for_pages(), 1.0 / before.rate());
            let misses = before.counted.misses() as f64 / before.transactions() as f64;
            let pace = Pace {
                transaction_ns: if misses > 0.0 { each * (1.0 - waiting) } else { each },
                miss_ns: if misses > 0.0 { each * waiting / misses } else { 0.0 },
                flushed_per_second: before.counted.flushed_per_second(),
            };
            let mut going = engine.forward_from((gap.from / SECOND).cast_signed(), pace);
            let mut at = gap.from;
            let end = gap.from + carried_out;
            while at < end && !writer.control().is_stopping() {
                let to = (at + SECOND).min(end);
                engine.forward(&mut going, to - at);
                at = to;
            }
            engine.forward_ends(&going);
            done = (going.transactions, going.listed);
        }
        engine.resume(world.now);
        self.serve_engine(world);
        self.pass(world.now + lead_in, world);
        if let Some(engine) = &mut world.engine {
            engine.take_counted(world.now);
        }
        self.over = false;
        Ok(done)
    }

    /// Simulates until a time of the world's.
    fn pass(&mut self, until: Nanos, world: &mut World) {
        loop {
            let ((wake, device), host, engine) = (world.first_wake(), world.host_wake(), world.engine_wake());
            let first = wake.min(host).min(engine);
            if first > until {
                return self.enter(world, until);
            }
            self.enter(world, first);
            if engine <= wake.min(host) {
                self.engine(world);
            } else if host <= wake {
                self.host(world);
            } else {
                self.complete(world, device);
            }
        }
    }

    /// Tells how much of the phase of a program was simulated: stretches, and transactions carried out without time.
    pub(super) fn tell_simulated(
        &self,
        run: &RunSpec,
        (simulated, transactions): (&[(Nanos, Nanos)], u64),
        (world, writer): (&World, &mut Writer),
    ) -> Result<(), SimError> {
        let Some(mode) = run.database.as_ref().and_then(|database| database.mode) else { return Ok(()) };
        let fields = json!({
            "phase": self.index,
            "mode": mode,
            "simulated_ns": simulated.iter().map(|(from, to)| to - from).sum::<Nanos>(),
            "stretches": simulated,
            "carried_out": transactions,
        });
        Ok(writer.event(world.now, "simulated", fields)?)
    }
}
