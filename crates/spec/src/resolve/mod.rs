//! Names become things: streams of phases, storages and their models.

pub(crate) mod ambient;
pub(crate) mod arbitration;
pub(crate) mod arrays;
pub(crate) mod durability;
pub(crate) mod phases;
pub(crate) mod scale;
pub(crate) mod stacks;
pub(crate) mod standby;

use crate::errors::unknown_name;
use crate::profile::Submission;
use crate::profile::catalog::Profiles;
use crate::resolve::stacks::Place;
use crate::run::{DatabaseSpec, HostSpec, Node, PhaseSpec, PhaseStream, RunSpec, StorageSpec, World};
use crate::study::{Engine, Mode, Phase, Study};
use crate::toml::document::{Source, Table};
use indexmap::IndexMap;
use tameshi_base::{InputError, InputErrorKind};
use tameshi_workload::program::ProgramSpec;

/// The machine that the jobs run on, where the study names one and the world simulates it.
pub(crate) fn resolve_host(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    world: World,
    profiles: &Profiles,
) -> Result<Option<HostSpec>, InputError> {
    let (Some(host), true) = (&study.host, world == World::Simulated) else { return Ok(None) };
    let mut names: Vec<String> = profiles.hosts.iter().map(|(name, ..)| name.clone()).collect();
    names.sort();
    let Some(profile) = &host.profile else {
        let message = "a simulated host needs a profile";
        let mut error = source.error_at(table, &["host"], InputErrorKind::MissingKey, message);
        (error.key, error.accepted) = ("host.profile".into(), names);
        return Err(error);
    };
    let Some(read) = profiles.host(profile) else {
        return Err(unknown_name(source, table, &["host", "profile"], "host profile", profile, names));
    };
    let (profile, model) = (profile.clone(), read?.host);
    let spec = HostSpec { profile, model, cores: host.cores, memory: host.memory, submission: host.submission };
    crate::validate::values::host(source, table, &spec)?;
    Ok(Some(spec))
}

/// In the way that the simulated host submits, the jobs of each stream keep as much outstanding as
/// it asks of them.
pub(crate) fn submissions(source: Source<'_>, table: &Table<'_>, run: &RunSpec) -> Result<(), InputError> {
    let Some(host) = &run.host else { return Ok(()) };
    for PhaseStream { name, stream, .. } in run.phases.iter().flat_map(|phase| &phase.streams) {
        let outstanding = stream.most_outstanding();
        let Err(why) = host.model.chosen(host.submission, outstanding) else { continue };
        let path = ["workload", "stream", name.as_str(), "queue_depth"];
        let mut error = source.error_at(table, &path, InputErrorKind::BadValue, why);
        let one = (outstanding == stream.queue_depth).then(|| "1, and more `jobs`".to_string());
        let others = Submission::ALL.into_iter().filter(|&way| host.model.chosen(Some(way), outstanding).is_ok());
        let others = others.map(|way| format!("host.submission = \"{}\"", way.word()));
        error.accepted = one.into_iter().chain(others).collect();
        return Err(error);
    }
    Ok(())
}

/// The streams that a phase runs.
pub(crate) fn streams_of(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    name: &str,
    phase: &Phase,
) -> Result<Vec<PhaseStream>, InputError> {
    let names = study.workload.names();
    let mut streams = Vec::new();
    for reference in &phase.workload {
        if !names.contains(reference) {
            let path = ["phase", name, "workload"];
            return Err(unknown_name(source, table, &path, "workload", reference, names));
        }
        let Some(stream_name) = reference.strip_prefix("stream.") else { continue };
        let stream = study.workload.stream[stream_name].clone();
        let path = ["workload", "stream", stream_name, "storage"];
        let storage = used_storage(source, table, study, stream.storage.as_deref(), &path)?;
        streams.push(PhaseStream { name: stream_name.to_string(), storage, stream });
    }
    Ok(streams)
}

/// The programs that a phase runs; `streams_of` has refused names that the study does not define.
pub(crate) fn programs_of(study: &Study, phase: &Phase) -> Vec<ProgramSpec> {
    phase.workload.iter().filter_map(|name| study.workload.program(name)).collect()
}

/// The engine that is named, or the only one; where programs run and none is defined, SQLite, which
/// needs nothing.
pub(crate) fn resolve_engine(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    has_programs: bool,
) -> Result<IndexMap<String, Engine>, InputError> {
    let mut engines = study.engine.by_name();
    if let Some(name) = &study.uses.engine {
        let Some(engine) = engines.swap_remove(name) else {
            let all = engines.into_keys().collect();
            return Err(unknown_name(source, table, &["use", "engine"], "engine", name, all));
        };
        return Ok([(name.clone(), engine)].into());
    }
    if has_programs && engines.len() > 1 {
        let message = "the study defines several engines; say which is used";
        let mut error = source.error_at(table, &["use"], InputErrorKind::MissingKey, message);
        (error.key, error.accepted) = ("use.engine".into(), engines.into_keys().collect());
        return Err(error);
    }
    if has_programs && engines.is_empty() {
        engines.insert("sqlite".into(), Engine::default());
    }
    Ok(engines)
}

/// The database that the programs of a run work on.
pub(crate) fn resolve_database(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    engines: &IndexMap<String, Engine>,
    phases: &[PhaseSpec],
    (world, profiles): (World, &Profiles),
) -> Result<Option<DatabaseSpec>, InputError> {
    if phases.iter().all(|phase| phase.programs.is_empty()) {
        return Ok(None);
    }
    let engine = engines.keys().next().cloned().unwrap_or_default();
    let storage = used_storage(source, table, study, None, &["use", "storage"])?;
    // With the data is what an absent role means.
    let elsewhere = |role: &Option<String>| role.clone().filter(|name| *name != storage);
    let uses = &study.uses;
    let mut database = DatabaseSpec {
        engine,
        log: elsewhere(&uses.log),
        binlog: uses.binlog.clone(),
        temp: elsewhere(&uses.temp),
        storage,
        seed: study.run.seed,
        profile: None,
        model: None,
        mode: None,
        standby: None,
    };
    database.standby = standby::resolve_standby(source, table, study, (&database.engine, &database.storage), profiles)?;
    if world == World::Simulated {
        engine_model(source, table, engines, &mut database, (profiles, study.run.mode))?;
    }
    Ok(Some(database))
}

/// Return the model of a simulated database's engine, if the product has one.
fn engine_model(
    source: Source<'_>,
    table: &Table<'_>,
    engines: &IndexMap<String, Engine>,
    database: &mut DatabaseSpec,
    (profiles, mode): (&Profiles, Mode),
) -> Result<(), InputError> {
    let product = database.engine.as_str();
    let version = engines.get(product).and_then(|engine| engine.version.as_deref());
    let Some(name) = profiles.engine_name(product, version) else {
        let begin = format!("{product}-");
        let known = profiles.engines.iter().filter_map(|(name, ..)| name.strip_prefix(&begin));
        let known: Vec<String> = known.map(str::to_string).collect();
        let (Some(version), false) = (version, known.is_empty()) else { return Ok(()) };
        let path = ["engine", product, "version"];
        return Err(unknown_name(source, table, &path, "profile of this version", version, known));
    };
    database.model = profiles.engine(&name).transpose()?.map(|profile| profile.engine);
    database.profile = Some(name);
    database.mode = Some(mode);
    Ok(())
}

/// The storage that is named, or used, or the only one.
fn used_storage(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    named: Option<&str>,
    path: &[&str],
) -> Result<String, InputError> {
    let all: Vec<String> = study.storage.keys().cloned().collect();
    let (name, path) = match (named, &study.uses.storage) {
        (Some(name), _) => (name, path),
        (None, Some(name)) => (name.as_str(), &["use", "storage"][..]),
        (None, None) if all.len() == 1 => return Ok(all[0].clone()),
        (None, None) => {
            let message = "the study defines several storages (or none); say which is used";
            let mut error = source.error_at(table, &["use"], InputErrorKind::MissingKey, message);
            (error.key, error.accepted) = ("use.storage".into(), all);
            return Err(error);
        }
    };
    if study.storage.contains_key(name) {
        return Ok(name.to_string());
    }
    Err(unknown_name(source, table, path, "storage", name, all))
}

/// The storages that the phases (or an engine) use, with their models where the world needs them.
pub(crate) fn resolve_storages(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    phases: &[PhaseSpec],
    world: World,
    profiles: &Profiles,
) -> Result<IndexMap<String, StorageSpec>, InputError> {
    let uses = &study.uses;
    let roles = [(&uses.storage, "storage"), (&uses.log, "log"), (&uses.binlog, "binlog"), (&uses.temp, "temp")];
    let mut used: Vec<String> =
        phases.iter().flat_map(|phase| &phase.streams).map(|stream| stream.storage.clone()).collect();
    let donors = phases.iter().flat_map(|phase| &phase.streams).filter_map(|stream| stream.stream.donor.as_ref());
    used.extend(donors.map(|donor| donor.storage.clone()));
    for (role, key) in roles {
        if let Some(name) = role {
            used.push(used_storage(source, table, study, Some(name), &["use", key])?);
        }
    }
    if phases.iter().any(|phase| !phase.programs.is_empty()) {
        used.push(used_storage(source, table, study, None, &["use", "storage"])?);
    }
    if used.is_empty() && study.storage.len() == 1 {
        used.extend(study.storage.keys().cloned());
    }
    let mut storages = IndexMap::new();
    for name in used {
        if !storages.contains_key(&name) {
            let storage = resolve_storage(source, table, (study, phases), &name, world, profiles)?;
            storages.insert(name, storage);
        }
    }
    Ok(storages)
}

pub(crate) fn resolve_storage(
    source: Source<'_>,
    table: &Table<'_>,
    (study, phases): (&Study, &[PhaseSpec]),
    name: &str,
    world: World,
    profiles: &Profiles,
) -> Result<StorageSpec, InputError> {
    let stack = &study.storage[name];
    let missing = |message: &str, key: &str| {
        let mut error = source.error_at(table, &["storage", name], InputErrorKind::MissingKey, message);
        error.accepted = vec![key.to_string()];
        Err(error)
    };
    if world == World::Measured {
        return match stack.size {
            Some(size) => Ok(StorageSpec { size, scale: 1, sparse: stack.sparse, ignores_flush: false, model: None }),
            None => missing("a measured run needs the size of the device or file that it may use", "size = \"1 GiB\""),
        };
    }
    let mut model = storage_node(source, table, study, name, profiles)?;
    let capacity = model.capacity();
    let size = stack.size.unwrap_or(capacity);
    if capacity < size {
        let message = format!("the device holds {} bytes, less than the requested size", capacity.0);
        let mut error = source.error_at(table, &["storage", name, "size"], InputErrorKind::BadValue, message);
        error.accepted = vec![format!("at most \"{capacity}\"")];
        return Err(error);
    }
    let (size, scale) = crate::resolve::scale::apply(source, table, (study, phases), name, &mut model, size)?;
    if stack.ignores_flush {
        durability::require_volatile(source, table, name, &model)?;
    }
    Ok(StorageSpec { size, scale, sparse: false, ignores_flush: stack.ignores_flush, model: Some(model) })
}

/// Return the drive or stack of drives of a storage, before its scale and its past.
pub(crate) fn storage_node(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    name: &str,
    profiles: &Profiles,
) -> Result<Node, InputError> {
    let stack = &study.storage[name];
    let place = Place { source, table, links: &study.link, storages: &study.storage, profiles, storage: name };
    let mut model = place.node(&["storage", name], stack)?;
    if let Some(arbitration) = &stack.arbitration {
        model = crate::resolve::arbitration::arbitrate(source, table, name, model, arbitration)?;
    }
    if let Some(slot) = stack.slot {
        crate::resolve::ambient::slot(source, table, name, &mut model, slot)?;
    }
    if stack.without_capacitor {
        durability::remove_capacitor(source, table, name, &mut model)?;
    }
    if stack.without_atomic_write {
        durability::remove_atomic_write(source, table, name, &mut model)?;
    }
    Ok(model)
}
