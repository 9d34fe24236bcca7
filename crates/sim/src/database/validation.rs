//! Checks of a run's database against what is simulated, and of its events against the server.

use super::layout::{PAGE, leaves_of};
use super::options;
use super::settings::{flush_method, is_cached, named, pool_bytes};
use tameshi_base::Size;
use tameshi_spec::profile::{Device, FlushMethod, Innodb};
use tameshi_spec::run::{HostSpec, Node, RunSpec};
use tameshi_spec::study::{Doublewrite, Engine, Event, Member};
use tameshi_workload::program::{Oltp, Program, ProgramSpec, PsMode};

/// Leaves of a data set at most: page and frame numbers have 31 bits, and other pages need some.
const MOST_LEAVES: u32 = 1 << 30;

/// Reason for which the pool does not fit into the host's memory.
fn pool_refusal(spec: &RunSpec, engine: &Engine, model: &Innodb) -> Option<String> {
    let (memory, pool) = (spec.host.as_ref().and_then(HostSpec::memory)?, Size(pool_bytes(engine, model)));
    (memory < pool).then(|| format!("a buffer pool of {pool} does not fit into the host's memory of {memory}"))
}

/// Reason for which the flush method is not simulated.
fn method_refusal(spec: &RunSpec, engine: &Engine, model: &Innodb) -> Option<String> {
    let whose = if engine.flush_method.is_none() { "this version's own, " } else { "" };
    match flush_method(engine, model) {
        Err(other) => {
            Some(format!("`{other}` is not simulated; say `fsync`, `O_DSYNC`, `O_DIRECT` or `O_DIRECT_NO_FSYNC`"))
        }
        Ok(method) if is_cached(method) => match spec.host.as_ref().and_then(HostSpec::memory) {
            None => Some(format!(
                "{whose}`{}`, goes through the page cache, and how much memory the host has is not known; say `host.memory`, or `O_DIRECT`",
                if method == FlushMethod::Dsync { "O_DSYNC" } else { "fsync" }
            )),
            Some(_) => None,
        },
        Ok(_) => None,
    }
}

/// Return a sentence for each setting of a run's database that is not simulated.
pub(super) fn unsupported(spec: &RunSpec) -> Vec<String> {
    let mut sentences = Vec::new();
    let Some(database) = &spec.database else { return sentences };
    let name = &database.engine;
    let Some((_, engine, model)) = named(spec) else {
        sentences.push(format!("engine.{name}: this product is not simulated yet; `mysql` and `mariadb` are"));
        return sentences;
    };
    sentences.extend(method_refusal(spec, engine, model).map(|why| format!("engine.{name}.flush_method: {why}")));
    sentences.extend(pool_refusal(spec, engine, model).map(|why| format!("engine.{name}.buffer_pool: {why}")));
    if engine.doublewrite == Some(Doublewrite::Atomic) {
        if flush_method(engine, model).is_ok_and(is_cached) {
            sentences.push(format!(
                "engine.{name}.doublewrite: `atomic` needs pages that are written as they are, and `fsync` and `O_DSYNC` leave them to the page cache; say `flush_method = \"O_DIRECT\"`"
            ));
        }
        let model = spec.storage.get(&database.storage).and_then(|storage| storage.model.as_ref());
        sentences.extend(model.and_then(tearing).map(|why| {
            format!("engine.{name}.doublewrite: `atomic` needs a storage that writes pages of {} whole, and {why}; say `on`", Size(PAGE))
        }));
    }
    let (commits, accepted): (&[&str], _) = match options::is_mariadb(model) {
        true => (&["0", "1", "2", "3"], "0, 1, 2 or 3"),
        false => (&["0", "1", "2"], "0, 1 or 2"),
    };
    if let Some(found) = engine.commit.as_deref().filter(|commit| !commits.contains(commit)) {
        sentences.push(format!("engine.{name}.commit: `{found}` is not accepted by the server; {accepted} is"));
    }
    let options = engine.options.iter();
    sentences.extend(options.filter_map(|(option, value)| {
        let why = options::refusal(option, value, model)?;
        Some(format!("engine.{name}.options.{option}: {why}"))
    }));
    for phase in &spec.phases {
        phase.programs.iter().for_each(|program| refuse_program(program, &mut sentences));
        if phase.programs.len() > 1 {
            sentences.push(format!("phase.{}.workload: one program runs at a time", phase.name));
        }
    }
    let crashes = spec.events.iter().filter(|(_, event)| ends_the_server(spec, event));
    sentences.extend(crashes.filter(|_| model.recovery.is_none()).map(|(event, _)| {
        format!("event.{event}: the profile of engine.{name} does not say how it comes back (`engine.innodb.recovery`)")
    }));
    sentences
}

/// Reason for which a storage may tear a page in a power cut; `None` if its page writes are atomic.
fn tearing(node: &Node) -> Option<String> {
    match node {
        Node::Device { profile, device: Device::Flash(flash) } => {
            let atomic = flash.atomic_write.as_ref().unwrap_or(&flash.mapping_unit).value;
            (atomic.0 < PAGE).then(|| format!("drive `{profile}` writes {atomic} so (`flash.atomic_write`)"))
        }
        Node::Device { profile, .. } => Some(format!("drive `{profile}` does not say that it does")),
        Node::Raid0 { of, chunk, .. } | Node::Raid10 { of, chunk, .. } if chunk.0.is_multiple_of(PAGE) => tearing(of),
        Node::Raid0 { chunk, .. } | Node::Raid10 { chunk, .. } => Some(format!("its chunks are of {chunk}")),
        Node::Raid5 { .. } => Some("an array with parity writes a page and its parity one after the other".into()),
        Node::Raid1 { of, .. }
        | Node::Replica { of, .. }
        | Node::Partition { of, .. }
        | Node::OverProvisioned { of, .. }
        | Node::Cache { of, .. } => tearing(of),
    }
}

/// Return whether an event ends the server of the run's database.
fn ends_the_server(spec: &RunSpec, event: &Event) -> bool {
    let Some(database) = &spec.database else { return false };
    let of_storage = |member: &Option<Member>| {
        member.as_ref().is_some_and(|failure| failure.storage.as_deref().is_none_or(|name| name == database.storage))
    };
    let failover = event.failover.as_ref().and_then(|failover| failover.storage.as_deref());
    event.kill.is_some()
        || event.restart.is_some()
        || of_storage(&event.power_cut)
        || failover == Some(database.storage.as_str())
}

/// Return whether an event ends the server of the run's database, or hits its storage.
pub(super) fn has_faults(spec: &RunSpec) -> bool {
    let Some(database) = &spec.database else { return false };
    let fails = |event: &Event| {
        let failing = event.fail.as_ref().and_then(|failure| failure.storage.as_deref());
        failing.is_some_and(|name| name == database.storage)
    };
    spec.events.values().any(|event| ends_the_server(spec, event) || fails(event))
}

/// Return whether two programs work on the same tables.
pub(super) fn same_data(one: &ProgramSpec, other: &ProgramSpec) -> bool {
    match (one, other) {
        (ProgramSpec::Tpcc(one), ProgramSpec::Tpcc(other)) => {
            (one.warehouses, one.manner) == (other.warehouses, other.manner)
        }
        (ProgramSpec::Oltp(one), ProgramSpec::Oltp(other)) => {
            let data = |of: &Oltp| (of.tables, of.rows, of.create_secondary);
            data(one) == data(other)
        }
        (ProgramSpec::KeyUpdate(one), ProgramSpec::KeyUpdate(other)) => {
            (one.tables, one.rows, one.row_size) == (other.tables, other.rows, other.row_size)
        }
        (ProgramSpec::Scan(one), ProgramSpec::Scan(other)) => one.size == other.size,
        (ProgramSpec::Ycsb(one), ProgramSpec::Ycsb(other)) => one.records == other.records,
        _ => false,
    }
}

fn refuse_program(program: &ProgramSpec, sentences: &mut Vec<String>) {
    let word = program.word();
    let mut refuse = |condition: bool, key: &str, why: &str| {
        if condition {
            sentences.push(format!("workload.{word}{key}: {why}"));
        }
    };
    refuse(matches!(program, ProgramSpec::Document(_)), "", "a document database is not simulated yet");
    refuse(matches!(program, ProgramSpec::Pgbench(_)), "", "pgbench's transactions are not simulated yet");
    let (leaves, most) =
        (leaves_of(&Program::new(program, 0).catalogue().tables).0, Size(u64::from(MOST_LEAVES) * PAGE));
    let size = Size(leaves.saturating_mul(PAGE));
    refuse(
        leaves > MOST_LEAVES.into(),
        "",
        &format!("a data set of {size} is more than the {most} that are simulated"),
    );
    if let ProgramSpec::Oltp(of) = program {
        let unlike = |key: &str| format!("{key} is not simulated yet");
        refuse(of.secondary, ".secondary", &unlike("a table without a primary key"));
        refuse(of.reconnect > 0, ".reconnect", &unlike("the making of connections"));
        refuse(of.db_ps_mode == PsMode::Disable, ".db_ps_mode", &unlike("the cost of statements as text"));
        refuse(of.loaded_rows() == 0, ".auto_inc", &unlike("a table that begins empty"));
        let other = !of.mysql_storage_engine.eq_ignore_ascii_case("innodb");
        refuse(other, ".mysql_storage_engine", "only InnoDB is simulated");
    }
    let wide = matches!(program, ProgramSpec::KeyUpdate(of) if of.row_size > Size(8000));
    refuse(wide, ".row_size", "a row of more than half a page is not simulated yet");
}
