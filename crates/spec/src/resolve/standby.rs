//! Standby of a run's database: its replication and link, and its stand-in where it is simulated.

use crate::errors::bad_value;
use crate::profile::catalog::Profiles;
use crate::resolve::stacks::Place;
use crate::run::{Node, RunSpec, StandbySpec, World};
use crate::study::{Engine, Protocol, Replication, Study};
use crate::toml::document::{Source, Table};
use indexmap::IndexMap;
use tameshi_base::{InputError, InputErrorKind};

/// Return the standby of a database on a storage, if the study has one.
pub(crate) fn resolve_standby(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    (engine, storage): (&str, &str),
    profiles: &Profiles,
) -> Result<Option<StandbySpec>, InputError> {
    let Some(replication) = study.standby.replication else { return Ok(None) };
    let known = Replication::of(engine);
    if !known.contains(&replication) {
        let path = ["standby", "replication"];
        let message = format!("`{engine}` has no replication `{replication}`");
        let names: Vec<String> = known.iter().map(ToString::to_string).collect();
        let accepted = if names.is_empty() {
            "a `replica` as the storage: it mirrors blocks under any database".to_string()
        } else {
            names.join(", ")
        };
        return Err(bad_value(source, table, &path, message, &accepted));
    }
    let roles = [("log", &study.uses.log), ("binlog", &study.uses.binlog), ("temp", &study.uses.temp)];
    if let Some((role, _)) = roles.into_iter().find(|(_, name)| name.as_ref().is_some_and(|name| name != storage)) {
        let message = "a database with a standby has all its files on one storage";
        return Err(source.error_at(table, &["use", role], InputErrorKind::Conflict, message));
    }
    if study.storage[storage].replica.is_some() {
        let message = "a storage that is mirrored already needs no standby: leave out one of them";
        return Err(source.error_at(table, &["storage", storage, "replica"], InputErrorKind::Conflict, message));
    }
    let Some(link) = &study.standby.link else {
        let message = "a standby needs a link to the first server";
        let mut error = source.error_at(table, &["standby"], InputErrorKind::MissingKey, message);
        error.accepted = profiles.link_names().iter().map(|name| format!("link = \"{name}\"")).collect();
        return Err(error);
    };
    let place = Place { source, table, links: &study.link, storages: &study.storage, profiles, storage };
    Ok(Some(StandbySpec { replication, link: place.link(&["standby"], link)? }))
}

/// Let a mirror of blocks stand for a simulated standby: the storage gets a far side, and MySQL and
/// MariaDB write the binary log that a standby reads.
pub(crate) fn stand_in(run: &mut RunSpec) {
    let Some(database) = run.database.as_ref().filter(|_| run.world == World::Simulated) else { return };
    let (Some(standby), Some(storage)) = (&database.standby, run.storage.get_mut(&database.storage)) else { return };
    let protocol = match standby.replication {
        Replication::Asynchronous => Protocol::Asynchronous,
        Replication::SemiSynchronous | Replication::RemoteWrite => Protocol::FarMemory,
        Replication::On | Replication::RemoteApply => Protocol::FarMedium,
    };
    let link = standby.link;
    storage.model = storage.model.take().map(|of| Node::Replica { of: Box::new(of), link, protocol });
    if database.engine != "postgresql" {
        write_binary_log(&database.engine, &mut run.engines);
    }
}

fn write_binary_log(engine: &str, engines: &mut IndexMap<String, Engine>) {
    let Some(engine) = engines.get_mut(engine) else { return };
    for (option, value) in [("log_bin", "ON"), ("sync_binlog", "1")] {
        engine.options.entry(option.to_string()).or_insert_with(|| value.to_string());
    }
}
