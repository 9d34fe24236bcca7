//! Order of events: each can happen before the run's end, only failed parts are
//! replaced, and a failed part fails no second time.
//!
//! An order is refused only if no run of the study can have it: phases may end early, and an event
//! may have another time at another level of an axis.

use crate::plan::budget::time_at_most;
use crate::run::node::Node;
use crate::run::{PhaseSpec, RoundsSpec, RunSpec, World};
use crate::study::{Event, Failure, Member};
use crate::toml::document::{Source, Table};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use tameshi_base::{InputError, InputErrorKind, Time};
use tameshi_workload::Arrivals;

/// Reason why an event never happens: its key, a message, the value found and the values accepted.
struct Never {
    key: [&'static str; 2],
    message: String,
    found: String,
    accepted: String,
}

/// An event with its position in the study and its name.
type Named<'r> = (usize, &'r str, &'r Event);

/// Events of the cells so far: those that may happen in one, and why others never do.
#[derive(Default)]
pub(crate) struct EventOrder {
    may: BTreeSet<String>,
    /// The first reason by event, located.
    never: IndexMap<String, InputError>,
}

impl EventOrder {
    /// Add the events of a cell.
    pub(crate) fn add(&mut self, source: Source<'_>, table: &Table<'_>, run: &RunSpec) {
        for name in run.events.keys() {
            if self.may.contains(name) {
                continue;
            }
            let Some(never) = never(run, name) else {
                self.may.insert(name.clone());
                continue;
            };
            self.never.entry(name.clone()).or_insert_with(|| {
                let path = ["event", name].into_iter().chain(never.key).filter(|key| !key.is_empty());
                let path: Vec<&str> = path.collect();
                let mut error = source.error_at(table, &path, InputErrorKind::Conflict, never.message);
                (error.found, error.accepted) = (never.found, vec![never.accepted]);
                error
            });
        }
    }

    /// Every event may happen in some run.
    pub(crate) fn check(self) -> Result<(), InputError> {
        let first = self.never.into_iter().find(|(name, _)| !self.may.contains(name));
        first.map_or(Ok(()), |(_, error)| Err(error))
    }
}

fn never(run: &RunSpec, name: &str) -> Option<Never> {
    let (place, name, event) = run.events.get_full(name)?;
    let named = (place, name.as_str(), event);
    if let Some(never) = is_behind_the_end(run, event) {
        return Some(never);
    }
    match (&event.replace, &event.fail) {
        (Some(member), _) => replaces_a_living_one(run, named, member),
        (_, Some(failure)) => fails_a_dead_one(run, named, failure),
        _ => None,
    }
}

/// For events of the run; those of a phase are compared with the time of the phase.
fn is_behind_the_end(run: &RunSpec, event: &Event) -> Option<Never> {
    let end = Time(time_at_most(run)?);
    (event.phase.is_none() && event.at >= end && has_no_pauses(run)).then(|| Never {
        key: ["at", ""],
        message: format!("the run ends after {end}, before this event"),
        found: event.at.to_string(),
        accepted: format!("less than {end}"),
    })
}

/// Return whether each phase begins at the end of the one before, whatever the run does. A real
/// machine takes its time in between; the simulated one lets transactions come to their end there,
/// and what is outstanding where the next phase may have less.
fn has_no_pauses(run: &RunSpec) -> bool {
    let visits = (0..run.phases.len()).flat_map(|index| {
        let ends = |rounds: &&RoundsSpec| rounds.most() > 1 && rounds.range().end == index + 1;
        let again = run.rounds.iter().find(ends).map_or(0..0, RoundsSpec::range);
        std::iter::once(index).chain(again).map(|index| &run.phases[index])
    });
    let visits: Vec<&PhaseSpec> = visits.collect();
    if visits.len() == 1 {
        return true;
    }
    let is_simple = |phase: &&PhaseSpec| {
        phase.programs.is_empty() && phase.streams.iter().all(|of| of.stream.arrivals == Arrivals::Closed)
    };
    let never_less_on = |storage: &String| {
        let outstanding = |phase: &&PhaseSpec| -> u64 {
            let there = phase.streams.iter().filter(|of| of.storage == *storage);
            there.map(|of| u64::from(of.stream.jobs) * u64::from(of.stream.most_outstanding())).sum()
        };
        visits.iter().map(outstanding).filter(|&most| most > 0).is_sorted()
    };
    run.world == World::Simulated && visits.iter().all(is_simple) && run.storage.keys().all(never_less_on)
}

fn replaces_a_living_one(run: &RunSpec, named: Named<'_>, of: &Member) -> Option<Never> {
    let (storage, member) = (of.storage.as_deref()?, of.member?);
    let may_kill = |event: &Event| {
        let fails = event.fail.as_ref().filter(|other| other.member.is_none_or(|other| other == member));
        let failed = fails.and_then(|other| other.storage.as_deref());
        let left = event.failover.as_ref().and_then(|failover| failover.storage.as_deref());
        failed.or(left).is_some_and(|other| is_one(run, storage, other))
    };
    let restores = |event: &Event| {
        let replaced = event.replace.as_ref().filter(|other| other.member == Some(member));
        replaced.and_then(|other| other.storage.as_deref()).is_some_and(|other| is_one(run, storage, other))
    };
    let mut kills = events(run).filter(|(_, _, event)| may_kill(event)).peekable();
    let first = kills.peek().copied();
    let mut restored = None;
    for kill in kills.filter(|&kill| !is_before(run, named, kill)) {
        let between =
            |&other: &Named<'_>| restores(other.2) && is_before(run, kill, other) && is_before(run, other, named);
        restored = Some(events(run).find(between)?);
    }
    let (key, found) = match (restored, first) {
        (Some((_, other, event)), _) => (
            ["replace", "member"],
            format!("event `{other}` replaces it at {}, and none fails it in between", when(event)),
        ),
        (None, Some((_, later, event))) => {
            (["at", ""], format!("event `{later}` fails it at {}, after that", when(event)))
        }
        (None, None) => (["replace", "member"], "no event that fails it".into()),
    };
    Some(Never {
        key,
        message: format!(
            "member {member} of storage `{storage}` is alive when it is to be replaced, at {}",
            when(named.2)
        ),
        found,
        accepted: format!("an event before this one that fails member {member}"),
    })
}

fn fails_a_dead_one(run: &RunSpec, named: Named<'_>, of: &Failure) -> Option<Never> {
    let storage = of.storage.as_deref()?;
    let alone = run.storage[storage].model.as_ref().is_some_and(|model| model.drives() == 1);
    let same = |other: &Option<String>| other.as_deref().is_some_and(|other| is_one(run, storage, other));
    let has_killed = |event: &Event| {
        event.fail.as_ref().is_some_and(|other| {
            let member = other.member.is_none() || other.member == of.member || alone;
            same(&other.storage) && member && (other.channel.is_none() || other.channel == of.channel)
        })
    };
    let renewed = |since: Named<'_>| {
        events(run).any(|between| {
            let replaced = between.2.replace.as_ref().filter(|other| same(&other.storage));
            replaced.is_some_and(|other| of.member.is_none() || other.member == of.member)
                && !is_before(run, between, since)
                && !is_before(run, named, between)
        })
    };
    let kill = events(run).find(|&kill| has_killed(kill.2) && is_before(run, kill, named) && !renewed(kill))?;
    let what = match (of.channel, of.member) {
        (Some(channel), Some(member)) => format!("channel {channel} of member {member} of storage `{storage}`"),
        (_, Some(member)) => format!("member {member} of storage `{storage}`"),
        _ => format!("storage `{storage}`"),
    };
    Some(Never {
        key: ["fail", if of.channel.is_some() { "channel" } else { "member" }],
        message: format!("{what} is dead already when it is to fail, at {}", when(named.2)),
        found: format!("event `{}` fails it at {}, and none replaces it in between", kill.1, when(kill.2)),
        accepted: "what is alive then, or an event in between that replaces it".into(),
    })
}

fn events(run: &RunSpec) -> impl Iterator<Item = Named<'_>> {
    run.events.iter().enumerate().map(|(place, (name, event))| (place, name.as_str(), event))
}

/// Return whether two storages are one: the functions of a drive fail together.
fn is_one(run: &RunSpec, storage: &str, other: &str) -> bool {
    let drive = |name: &str| match run.storage.get(name)?.model.as_ref()? {
        Node::Partition { function, .. } => function.drive.clone(),
        _ => None,
    };
    storage == other || drive(storage).is_some_and(|shared| drive(other) == Some(shared))
}

/// Return whether one event precedes another in every run; at equal times they happen
/// in the order of the study.
fn is_before(run: &RunSpec, first: Named<'_>, then: Named<'_>) -> bool {
    if first.2.phase == then.2.phase {
        return (first.2.at, first.0) < (then.2.at, then.0);
    }
    let begins = |event: &Event| run.phases.iter().position(|phase| event.phase.as_ref() == Some(&phase.name));
    match (begins(first.2), begins(then.2)) {
        (Some(one), Some(other)) => one < other && (first.2.at.0 == 0 || lasts_its_time(&run.phases[one])),
        _ => false,
    }
}

/// Return whether a phase ends by its time alone.
fn lasts_its_time(phase: &PhaseSpec) -> bool {
    phase.until.time.is_some() && phase.until.steady.is_none() && !phase.is_bounded()
}

fn when(event: &Event) -> String {
    match &event.phase {
        Some(phase) => format!("{} of phase `{phase}`", event.at),
        None => format!("{} of the run", event.at),
    }
}
