//! Events that a world injects by itself: their targets, and errors of invalid targets.

use crate::errors::{bad_value, unknown_name};
use crate::profile::Device;
use crate::run::node::Node;
use crate::run::{PhaseSpec, StorageSpec, World};
use crate::study::{Cause, Event, Failover, Failure, Member, PowerCut, Study};
use crate::toml::document::{Source, Table};
use indexmap::IndexMap;
use tameshi_base::{InputError, InputErrorKind};

/// Context of an event: its source and the names that it refers to.
#[derive(Clone, Copy)]
pub(crate) struct EventContext<'a, 't> {
    pub(crate) source: Source<'a>,
    pub(crate) table: &'a Table<'t>,
    pub(crate) study: &'a Study,
    pub(crate) phases: &'a [PhaseSpec],
    pub(crate) storages: &'a IndexMap<String, StorageSpec>,
    /// True if its phases drive a database.
    pub(crate) has_programs: bool,
}

impl EventContext<'_, '_> {
    /// Every event, in the study's order; injected ones name their storage.
    pub(crate) fn events(self, world: World) -> Result<IndexMap<String, Event>, InputError> {
        let event = |(name, event): (&String, &Event)| {
            let event = if is_injected(event, world, self.has_programs) {
                self.event(name, event, world)?
            } else {
                event.clone()
            };
            Ok((name.clone(), event))
        };
        self.study.event.iter().map(event).collect()
    }

    fn event(self, name: &str, event: &Event, world: World) -> Result<Event, InputError> {
        self.is_in_time(name, event)?;
        let mut event = event.clone();
        if let Some(failure) = &mut event.fail {
            *failure = self.failure(name, failure)?;
        }
        if let Some(member) = &mut event.replace {
            *member = self.target(name, "replace", member)?;
            self.can_be_rebuilt(name, member)?;
        }
        if world == World::Emulated {
            self.suits_a_standby(name, &event)?;
        }
        if let Some(cut) = &mut event.power_cut {
            self.power_cut(name, cut, world)?;
        }
        if let Some(failover) = &mut event.failover {
            let side = Member { storage: failover.storage.clone(), member: None };
            failover.storage = self.target(name, "failover", &side)?.storage;
            self.failover(name, failover, world)?;
        }
        Ok(event)
    }

    /// Check that a server with a standby is lost once, and for good.
    fn suits_a_standby(self, name: &str, event: &Event) -> Result<(), InputError> {
        if self.study.standby.replication.is_none() {
            return Ok(());
        }
        if event.kill.is_some() || event.power_cut.is_some() {
            let kind = event.kinds().join(".");
            let message = format!(
                "a server with a standby is not restarted: let the standby take over, `failover = {{ cause = \"{kind}\" }}`"
            );
            return self.conflict(&["event", name, &kind], message);
        }
        let failovers = self.study.event.iter().filter(|(_, event)| event.failover.is_some());
        match failovers.map(|(first, _)| first).next() {
            Some(first) if event.failover.is_some() && first != name => {
                let message = format!("event `{first}` leaves no standby for another failover");
                self.conflict(&["event", name, "failover"], message)
            }
            _ => Ok(()),
        }
    }

    /// Check that another side can take over, and that the world knows the cause.
    fn failover(self, name: &str, failover: &Failover, world: World) -> Result<(), InputError> {
        let of = failover.storage.as_ref().and_then(|storage| self.storages[storage].model.as_ref());
        let has_standby = self.study.standby.replication.is_some();
        if !has_standby && !matches!(of, Some(Node::Replica { .. })) {
            let message = "no other side can take over: it needs a `standby.replication`, or a `replica` as storage";
            return self.conflict(&["event", name, "failover"], message.into());
        }
        if failover.cause.is_some_and(|cause| cause != Cause::PowerCut) && !(has_standby && world == World::Emulated) {
            let message = "only in the emulated world, and with a `standby.replication`, a failover has another cause than `power_cut`";
            return self.conflict(&["event", name, "failover", "cause"], message.into());
        }
        Ok(())
    }

    /// Find the target of a power cut, and check that its world knows the moment.
    fn power_cut(self, name: &str, cut: &mut PowerCut, world: World) -> Result<(), InputError> {
        let target = Member { storage: cut.storage.clone(), member: cut.member };
        cut.storage = self.target(name, "power_cut", &target)?.storage;
        if cut.member.is_some() {
            let message = "a power cut affects the whole storage, not one member";
            return self.conflict(&["event", name, "power_cut", "member"], message.into());
        }
        if cut.during_write.is_some() && world == World::Measured {
            let message = "only a modelled drive knows its writes under way: run it simulated or emulated";
            return self.conflict(&["event", name, "power_cut", "during_write"], message.into());
        }
        Ok(())
    }

    fn is_in_time(self, name: &str, event: &Event) -> Result<(), InputError> {
        let Some(named) = &event.phase else { return Ok(()) };
        let phase = self.phases.iter().find(|phase| phase.name == *named);
        match phase.and_then(|phase| phase.until.time).filter(|time| event.at >= *time) {
            None => Ok(()),
            Some(time) => {
                let message = format!("phase `{named}` ends after {time}, before this event");
                self.conflict(&["event", name, "at"], message)
            }
        }
    }

    /// Return the storage, and its member, that an event is about.
    fn target(self, name: &str, kind: &str, member: &Member) -> Result<Member, InputError> {
        let known: Vec<String> = self.storages.keys().cloned().collect();
        let path = ["event", name, kind, "storage"];
        let storage = match member.storage.clone().or_else(|| self.study.uses.storage.clone()) {
            Some(storage) if known.contains(&storage) => storage,
            Some(storage) => {
                return Err(unknown_name(self.source, self.table, &path, "storage in use", &storage, known));
            }
            None if known.len() == 1 => known[0].clone(),
            None => {
                let message = "several storages are in use; name the target of this event";
                let accepted = known.iter().map(|name| format!("storage = \"{name}\""));
                return self.missing(&path[..3], message, accepted.collect());
            }
        };
        let drives = self.storages[&storage].model.as_ref().map_or(1, Node::drives);
        if let Some(drive) = member.member.filter(|&drive| drive >= drives) {
            let message = format!("storage `{storage}` has no member {drive}");
            let path = ["event", name, kind, "member"];
            return Err(bad_value(self.source, self.table, &path, message, &format!("0 to {}", drives - 1)));
        }
        Ok(Member { storage: Some(storage), ..member.clone() })
    }

    /// Return the failed part: everything, a member, or a channel of a member with parity.
    fn failure(self, name: &str, of: &Failure) -> Result<Failure, InputError> {
        let member = Member { storage: of.storage.clone(), member: of.member };
        let Member { storage, mut member } = self.target(name, "fail", &member)?;
        let model = storage.as_ref().and_then(|storage| self.storages[storage].model.as_ref());
        if let (Some(channel), Some(model)) = (of.channel, model) {
            let path = ["event", name, "fail", "channel"];
            let Device::Flash(flash) = model.drive().1 else {
                return self.conflict(&path, "only flash drives have channels".into());
            };
            if model.drives() > 1 && member.is_none() {
                let message = "a failed channel needs a `member`";
                return self.missing(&path[..3], message, vec!["member = 0".into()]);
            }
            let controller = &flash.controller;
            if controller.parity_channels.value == 0 {
                let message = "the drive has no parity across channels, so one failed channel is a failed drive: fail its `member`";
                return self.conflict(&path, message.into());
            }
            let each =
                controller.data_channels.value + controller.parity_channels.value - flash.simulated.dead_channels;
            let most = each * controller.count.value - 1;
            if channel > most {
                let message = format!("the drive has no channel {channel}");
                return Err(bad_value(self.source, self.table, &path, message, &format!("0 to {most}")));
            }
            member = member.or(Some(0));
        }
        Ok(Failure { storage, member, channel: of.channel })
    }

    /// Check that a replacement names one member, and that redundancy allows its rebuild.
    fn can_be_rebuilt(self, name: &str, member: &Member) -> Result<(), InputError> {
        let path = ["event", name, "replace"];
        if member.member.is_none() {
            return self.missing(&path, "a replacement needs a `member`", vec!["member = 0".into()]);
        }
        let storage = member.storage.as_deref().unwrap_or_default();
        if self.storages[storage].model.as_ref().is_none_or(Node::is_redundant) {
            return Ok(());
        }
        let message = format!("storage `{storage}` has no redundancy: its member can't be rebuilt");
        self.conflict(&path, message)
    }

    fn conflict<T>(self, path: &[&str], message: String) -> Result<T, InputError> {
        Err(self.source.error_at(self.table, path, InputErrorKind::Conflict, message))
    }

    fn missing<T>(self, path: &[&str], message: &str, accepted: Vec<String>) -> Result<T, InputError> {
        let mut error = self.source.error_at(self.table, path, InputErrorKind::MissingKey, message);
        error.accepted = accepted;
        Err(error)
    }
}

/// The kinds of events that a world injects by itself: simulated and emulated ones on storages and
/// databases, measured ones on a private database.
pub(crate) fn injected(world: World, has_programs: bool) -> &'static [&'static str] {
    match world {
        World::Simulated if has_programs => &["fail", "replace", "power_cut", "kill", "restart", "failover"],
        World::Simulated => &["fail", "replace", "power_cut"],
        World::Measured if has_programs => &["kill", "power_cut"],
        World::Measured => &[],
        World::Emulated if has_programs => &["fail", "replace", "power_cut", "kill", "failover"],
        World::Emulated => &["fail", "replace"],
    }
}

/// Return whether a world injects such an event by itself.
pub(crate) fn is_injected(event: &Event, world: World, has_programs: bool) -> bool {
    event.kinds().iter().all(|kind| injected(world, has_programs).contains(kind))
}
