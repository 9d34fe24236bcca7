//! Resolving of written stacks to trees of devices; errors have their place.

use crate::errors::{bad_value, one_kind, unknown_name};
use crate::profile::catalog::Profiles;
use crate::profile::{ProfileError, cache_error, link_error, rebuild_error};
use crate::run::node::{Cache, Function, Link, Node, Rebuild};
use crate::study::{self, Raid, Stack};
use crate::toml::document::{Source, Table, has_key};
use indexmap::IndexMap;
use tameshi_base::{InputError, InputErrorKind, Share, Size, Time};

/// Default chunk of arrays.
const CHUNK: Size = Size(256 << 10);
const PARTITION_DEPTH: u32 = 256;
const CACHE_LATENCY: Time = Time(50_000);
const CACHE_DIRTY: Share = Share(750_000);

const MOST_MEMBERS: u32 = 1024;
/// Controllers have up to some MiB.
const MOST_CHUNK: u64 = 16 << 20;
const LEAST_CHUNK: u64 = 4096;

/// Position of the resolver in the study.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a, 't> {
    pub(crate) source: Source<'a>,
    pub(crate) table: &'a Table<'t>,
    /// Links that the study defines.
    pub(crate) links: &'a IndexMap<String, study::Link>,
    /// All storages of the study.
    pub(crate) storages: &'a IndexMap<String, Stack>,
    pub(crate) profiles: &'a Profiles,
    /// Name of the storage that is resolved.
    pub(crate) storage: &'a str,
}

type Resolved<T> = Result<T, InputError>;

impl Place<'_, '_> {
    fn bad<T>(self, path: &[&str], key: &str, message: impl Into<String>, accepted: &str) -> Resolved<T> {
        Err(bad_value(self.source, self.table, &joined(path, key), message, accepted))
    }

    fn conflict<T>(self, path: &[&str], key: &str, message: impl Into<String>) -> Resolved<T> {
        Err(self.source.error_at(self.table, &joined(path, key), InputErrorKind::Conflict, message))
    }

    fn missing<T>(self, path: &[&str], message: impl Into<String>, accepted: &[&str]) -> Resolved<T> {
        let mut error = self.source.error_at(self.table, path, InputErrorKind::MissingKey, message);
        error.accepted = accepted.iter().map(|key| (*key).to_string()).collect();
        Err(error)
    }

    /// Return the tree of the stack at `path`.
    pub(crate) fn node(self, path: &[&str], stack: &Stack) -> Resolved<Node> {
        if let Some(profile) = &stack.device {
            return self.device(path, profile, "array");
        }
        let arrays =
            [("raid0", &stack.raid0), ("raid1", &stack.raid1), ("raid10", &stack.raid10), ("raid5", &stack.raid5)];
        if let Some((kind, raid)) = arrays.into_iter().find_map(|(kind, raid)| Some((kind, raid.as_ref()?))) {
            return self.array(&joined(path, kind), kind, raid);
        }
        if let Some(replica) = &stack.replica {
            let path = joined(path, "replica");
            let of = self.inner(&path, &replica.of)?;
            let (link, protocol) = (self.link(&path, &replica.link)?, replica.protocol.unwrap_or_default());
            return Ok(Node::Replica { of, link, protocol });
        }
        if let Some(partition) = &stack.partition {
            return self.partition(&joined(path, "partition"), partition);
        }
        if let Some(spare) = &stack.over_provisioned {
            let path = joined(path, "over_provisioned");
            let node = Node::OverProvisioned { of: self.inner(&path, &spare.of)?, visible: spare.visible };
            return match node.capacity().0 {
                0 => self.bad(&path, "visible", "nothing of the device would be visible", "more than \"0 %\""),
                _ => Ok(node),
            };
        }
        match &stack.cache {
            Some(cache) => self.cache(&joined(path, "cache"), cache),
            None => self.missing(path, "a storage needs a model to be simulated", &["device = \"PROFILE\""]),
        }
    }

    /// Return the stack under `of`.
    fn inner(self, path: &[&str], stack: &Stack) -> Resolved<Box<Node>> {
        self.part(&joined(path, "of"), stack).map(Box::new)
    }

    /// A stack that is no storage of its own: exactly one kind, and no size.
    pub(crate) fn part(self, path: &[&str], stack: &Stack) -> Resolved<Node> {
        if stack.kinds().is_empty() {
            return self.missing(path, "a part of a stack needs a model", &Stack::KINDS);
        }
        one_kind(self.source, self.table, path, "storage", &stack.kinds(), &Stack::KINDS)?;
        if stack.size.is_some() {
            let message = "a part of a stack has the size of its device; `over_provisioned` makes a device smaller";
            return self.conflict(path, "size", message);
        }
        if let Some(key) = crate::resolve::scale::of_storage_only(stack) {
            return self.conflict(path, key, "this key belongs to the whole storage, not to a part of a stack");
        }
        self.node(path, stack)
    }

    /// Return a drive; `array` is the key that would name an array instead.
    fn device(self, path: &[&str], profile: &str, array: &str) -> Resolved<Node> {
        if let Some(read) = self.profiles.device(profile) {
            return Ok(Node::Device { profile: profile.to_string(), device: read?.device });
        }
        let (path, names) = (joined(path, "device"), self.profiles.device_names());
        let mut error = unknown_name(self.source, self.table, &path, "device profile", profile, names);
        if self.profiles.arrays.iter().any(|(name, ..)| name == profile) {
            error.did_you_mean = Some(format!("{array} = \"{profile}\""));
        }
        Err(error)
    }

    fn array(self, path: &[&str], kind: &str, raid: &Raid) -> Resolved<Node> {
        let (least, even) = match kind {
            "raid0" => (1, false),
            "raid10" => (4, true),
            "raid5" => (3, false),
            _ => (2, false),
        };
        let members = raid.members;
        if !(least..=MOST_MEMBERS).contains(&members) || (even && members % 2 == 1) {
            let accepted =
                format!("{} from {least} to {MOST_MEMBERS}", if even { "an even number" } else { "a number" });
            return self.bad(path, "members", format!("{kind} can't have {members} members"), &accepted);
        }
        let of = match (&raid.device, &raid.of) {
            (Some(profile), None) => Box::new(self.device(path, profile, "of.array")?),
            (None, Some(stack)) => self.inner(path, stack)?,
            (Some(_), Some(_)) => {
                return self.conflict(
                    path,
                    "of",
                    "a member is a plain device or a stack: `device` and `of` exclude each other",
                );
            }
            (None, None) => {
                let accepted = ["device = \"PROFILE\"", "of = { … }"];
                return self.missing(path, format!("{kind} has no members"), &accepted);
            }
        };
        self.only_where_it_counts(path, kind, raid)?;
        let (chunk, read) = (self.chunk(path, raid, &of)?, raid.read.unwrap_or_default());
        let rebuild = self.rebuild(path, raid)?;
        Ok(match kind {
            "raid0" => Node::Raid0 { members, of, chunk },
            "raid1" => Node::Raid1 { members, of, read, rebuild },
            "raid10" => Node::Raid10 { members, of, chunk, read, rebuild },
            _ => Node::Raid5 { members, of, chunk, rebuild },
        })
    }

    /// Refuse keys without effect.
    fn only_where_it_counts(self, path: &[&str], kind: &str, raid: &Raid) -> Resolved<()> {
        let mirrors = kind == "raid1" || kind == "raid10";
        for (given, key, counts, why) in [
            (raid.chunk.is_some(), "chunk", kind != "raid1", "mirrors are not cut into chunks"),
            (raid.read.is_some(), "read", mirrors, "only mirrors have a choice of where to read"),
            (raid.rebuild_rate.is_some(), "rebuild_rate", kind != "raid0", "a stripe can't be rebuilt"),
            (raid.rebuild_rate_min.is_some(), "rebuild_rate_min", kind != "raid0", "a stripe can't be rebuilt"),
            (raid.rebuild.is_some(), "rebuild", kind != "raid0", "a stripe can't be rebuilt"),
        ] {
            if given && !counts {
                return self.conflict(path, key, format!("`{key}` says nothing about {kind}: {why}"));
            }
        }
        Ok(())
    }

    fn chunk(self, path: &[&str], raid: &Raid, of: &Node) -> Resolved<Size> {
        let chunk = raid.chunk.unwrap_or(CHUNK);
        if !chunk.0.is_power_of_two() || !(LEAST_CHUNK..=MOST_CHUNK).contains(&chunk.0) {
            return self.bad(path, "chunk", "this is no chunk", "a power of two from \"4 KiB\" to \"16 MiB\"");
        }
        if of.capacity().0 < chunk.0 {
            let most = of.capacity();
            return self.bad(path, "chunk", "a member is smaller than one chunk", &format!("at most \"{most}\""));
        }
        Ok(chunk)
    }

    fn rebuild(self, path: &[&str], raid: &Raid) -> Resolved<Rebuild> {
        let default = Rebuild::default();
        let rate = raid.rebuild_rate.unwrap_or(default.rate);
        let rate_min = raid.rebuild_rate_min.unwrap_or(default.rate_min.min(rate));
        let rebuild = Rebuild { rate, rate_min, manner: raid.rebuild.unwrap_or_default() };
        self.check(path, rebuild_error(&rebuild))?;
        if rate_min > rate {
            return self.conflict(path, "rebuild_rate_min", "the least rate of a rebuild is above its greatest");
        }
        Ok(rebuild)
    }

    /// Return the figures of a link of the study, or of a link profile.
    pub(crate) fn link(self, path: &[&str], name: &str) -> Resolved<Link> {
        let Some(written) = self.links.get(name) else {
            return match self.profiles.link(name) {
                Some(read) => Ok(read?.link.figures()),
                None => {
                    let mut known: Vec<String> = self.links.keys().cloned().collect();
                    known.extend(self.profiles.link_names());
                    Err(unknown_name(self.source, self.table, &joined(path, "link"), "link", name, known))
                }
            };
        };
        let path = ["link", name];
        let profile = match &written.profile {
            None => None,
            Some(profile) => match self.profiles.link(profile) {
                Some(read) => Some(read?.link.figures()),
                None => {
                    let (path, names) = (joined(&path, "profile"), self.profiles.link_names());
                    return Err(unknown_name(self.source, self.table, &path, "link profile", profile, names));
                }
            },
        };
        let round_trip = written.round_trip.or(profile.map(|link| link.round_trip));
        let rate = written.rate.or(profile.map(|link| link.rate));
        let (Some(round_trip), Some(rate)) = (round_trip, rate) else {
            return self.missing(
                &path,
                "a link needs a profile, or both its figures",
                &["profile", "round_trip", "rate"],
            );
        };
        let link = Link { round_trip, rate };
        let Some(found) = link_error(&link) else { return Ok(link) };
        // The profile's value is wrong only together with the study's value.
        let key = match (written.round_trip, written.rate) {
            (None, _) => "rate",
            (_, None) => "round_trip",
            _ => found.path[0],
        };
        self.bad(&path, key, found.message, &found.accepted)
    }

    fn partition(self, path: &[&str], written: &study::Partition) -> Resolved<Node> {
        let of = self.inner(path, &written.of)?;
        let functions = written.functions;
        if !(1..=MOST_MEMBERS).contains(&functions) {
            return self.bad(path, "functions", "a drive has at least one function", &format!("1 to {MOST_MEMBERS}"));
        }
        let (drive, device) = of.drive();
        if let Some(most) = device.functions().filter(|&most| functions > most) {
            let many = if most == 1 { "one function".into() } else { format!("{most} functions") };
            let message = format!("drive `{drive}` has {many} (SR-IOV), by its profile");
            return self.bad(path, "functions", message, &if most == 1 { "1".into() } else { format!("1 to {most}") });
        }
        let equal = Share(Share::WHOLE.0 / functions);
        let (weight, queue_depth) = (written.weight.unwrap_or(equal), written.queue_depth.unwrap_or(PARTITION_DEPTH));
        if weight.0 == 0 {
            return self.bad(path, "weight", "a function without a share would never be served", "more than \"0 %\"");
        }
        if !(1..=65_536).contains(&queue_depth) {
            return self.bad(path, "queue_depth", "a drive holds from one command to 65,536 at once", "1 to 65536");
        }
        let index = self.function_index(path, written)?;
        let function =
            Function { drive: written.drive.clone(), index, functions, weight, queue_depth, arbitration: None };
        let node = Node::Partition { of, function };
        match node.capacity().0 {
            0 => self.bad(path, "functions", "nothing of the device is left for each", "fewer functions"),
            _ => Ok(node),
        }
    }

    /// Return the index of the storage's function in its drive: functions are numbered in the
    /// study's order.
    fn function_index(self, path: &[&str], written: &study::Partition) -> Resolved<u32> {
        let Some(drive) = &written.drive else { return Ok(0) };
        if path.len() > 3 {
            return self.conflict(path, "drive", "a part of a stack can't share its drive with other storages");
        }
        let (mut index, mut before) = (0, 0u64);
        for (name, stack) in self.storages {
            let Some(other) = stack.partition.as_ref().filter(|other| other.drive.as_ref() == Some(drive)) else {
                continue;
            };
            if name == self.storage {
                break;
            }
            let same = other.of == written.of && other.functions == written.functions;
            if !same || other.queue_depth != written.queue_depth {
                let message = format!("drive `{drive}` is another one in storage `{name}`: they must agree");
                return self.conflict(path, "drive", message);
            }
            index += 1;
            before += u64::from(other.weight.unwrap_or(Share(Share::WHOLE.0 / written.functions)).0);
        }
        let weight = written.weight.unwrap_or(Share(Share::WHOLE.0 / written.functions));
        if index >= written.functions {
            let message = format!("drive `{drive}` has {} functions, all of them taken", written.functions);
            return self.conflict(path, "drive", message);
        }
        if before + u64::from(weight.0) > u64::from(Share::WHOLE.0) {
            let key = if has_key(self.table, &joined(path, "weight")) { "weight" } else { "drive" };
            return self.conflict(path, key, format!("the functions of drive `{drive}` are granted more than 100 %"));
        }
        Ok(index)
    }

    fn cache(self, path: &[&str], written: &study::Cache) -> Resolved<Node> {
        let of = self.inner(path, &written.of)?;
        let cache = Cache {
            memory: written.memory,
            kind: written.kind,
            latency: written.latency.unwrap_or(CACHE_LATENCY),
            rate: written.rate,
            dirty: written.dirty.unwrap_or(CACHE_DIRTY),
        };
        if cache.dirty.0 == 0 {
            return self.bad(path, "dirty", "a cache that may hold no write is none", "more than \"0 %\"");
        }
        self.check(path, cache_error(&cache))?;
        Ok(Node::Cache { of, cache })
    }

    /// Fail with the error of the stack at `path`, if there is one.
    fn check(self, path: &[&str], error: Option<ProfileError<'_>>) -> Resolved<()> {
        error.map_or(Ok(()), |found| self.bad(path, found.path[0], found.message, &found.accepted))
    }
}

fn joined<'p>(path: &[&'p str], key: &'p str) -> Vec<&'p str> {
    path.iter().copied().chain([key]).collect()
}
