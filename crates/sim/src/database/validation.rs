//! Checks of a run's database against what is simulated, and of its events against the server.

use super::binlog;
use super::layout::{PAGE, leaves_of};
use super::options;
use super::settings::{flush_method, is_cached, log_bytes, named, pool_bytes};
use tameshi_base::Size;
use tameshi_spec::profile::{Device, FlushMethod, Innodb};
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{DatabaseSpec, HostSpec, Node, RunSpec};
use tameshi_spec::study::{Doublewrite, Engine, Event};
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

/// Refusals of a run's database for its settings.
pub(super) fn refusals(spec: &RunSpec) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let Some(database) = &spec.database else { return refusals };
    let name = database.engine.as_str();
    let Some((_, engine, model)) = named(spec) else {
        let message = "this product is not simulated yet";
        return vec![Refusal::new("product", &["engine", name], message).accepted(["mysql", "mariadb"])];
    };
    let setting = |code, key, why: String| Refusal::new(code, &["engine", name, key], why);
    refusals.extend(method_refusal(spec, engine, model).map(|why| setting("flush_method", "flush_method", why)));
    refusals.extend(pool_refusal(spec, engine, model).map(|why| setting("pool_beyond_memory", "buffer_pool", why)));
    if engine.doublewrite == Some(Doublewrite::Atomic) {
        if flush_method(engine, model).is_ok_and(is_cached) {
            let message = "`atomic` needs pages that are written as they are, and `fsync` and `O_DSYNC` leave them to the page cache; say `flush_method = \"O_DIRECT\"`";
            refusals.push(setting("atomic_pages_cached", "doublewrite", message.into()));
        }
        let model = spec.storage.get(&database.storage).and_then(|storage| storage.model.as_ref());
        refusals.extend(model.and_then(tearing).map(|why| {
            let size = Size(PAGE);
            let message = format!("`atomic` needs a storage that writes pages of {size} whole, and {why}; say `on`");
            setting("torn_pages", "doublewrite", message)
        }));
    }
    let commits: &[&str] = if options::is_mariadb(model) { &["0", "1", "2", "3"] } else { &["0", "1", "2"] };
    if let Some(found) = engine.commit.as_deref().filter(|commit| !commits.contains(commit)) {
        let message = format!("the server does not accept `{found}`");
        refusals.push(setting("commit", "commit", message).found(found).accepted(commits.iter().copied()));
    }
    refusals.extend(engine.options.iter().filter_map(|(option, value)| {
        let why = options::refusal(option, value, model)
            .or_else(|| options::binlog_refusal(option, engine, model, database.binlog.is_some()))?;
        Some(Refusal::new("option", &["engine", name, "options", option], why))
    }));
    refuse_roles(spec, database, (engine, model), &mut refusals);
    for phase in &spec.phases {
        phase.programs.iter().for_each(|program| refuse_program(program, &mut refusals));
        if phase.programs.len() > 1 {
            let path = ["phase", &phase.name, "workload"];
            refusals.push(Refusal::new("several_programs", &path, "one program runs at a time"));
        }
    }
    let crashes = spec.events.iter().filter(|(_, event)| ends_the_server(spec, event));
    refusals.extend(crashes.filter(|_| model.recovery.is_none()).map(|(event, _)| {
        let message = format!("the profile of engine.{name} does not say how it comes back (`engine.innodb.recovery`)");
        Refusal::new("no_recovery_model", &["event", event], message)
    }));
    refusals
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

/// Return whether data or logs of a database are on a storage.
fn is_on(database: &DatabaseSpec, storage: &str) -> bool {
    storage == database.storage || [database.log.as_deref(), database.binlog.as_deref()].contains(&Some(storage))
}

/// Refusals of storages for files of their own.
fn refuse_roles(
    spec: &RunSpec,
    database: &DatabaseSpec,
    (engine, model): (&Engine, &Innodb),
    refusals: &mut Vec<Refusal>,
) {
    if database.temp.is_some() {
        let why = "the simulated server has no temporary files; leave it out, or measure";
        refusals.push(Refusal::new("role", &["use", "temp"], why));
    }
    if database.binlog.is_some() && model.binlog.is_none() {
        refusals.push(Refusal::new("role", &["use", "binlog"], options::NO_BINLOG));
    }
    let log = log_bytes(engine, model);
    let of_binlog = database.binlog.as_ref().filter(|name| **name != database.storage);
    let is_shared = of_binlog.is_some() && of_binlog == database.log.as_ref();
    let binlog = binlog::file_bytes(engine) + if is_shared { log.next_multiple_of(1 << 20) } else { 0 };
    let files = if is_shared { "the redo log with a file of the binary log" } else { "a file of the binary log" };
    let roles = [
        (database.log.as_ref().filter(|_| !is_shared), "log_beyond_storage", "the redo log", Size(log), ""),
        (of_binlog, "binlog_beyond_storage", files, Size(binlog), ", or a smaller `max_binlog_size`"),
    ];
    for (role, code, what, bytes, or) in roles {
        let Some((name, on)) = role.and_then(|name| spec.storage.get_key_value(name)) else { continue };
        if on.size < bytes {
            let message = format!("{what} of {bytes} does not fit into its storage of {}", on.size);
            let refusal = Refusal::new(code, &["storage", name, "size"], message);
            refusals.push(refusal.accepted([format!("{bytes} or more{or}")]));
        }
        for (event, _) in spec.events.iter().filter(|(_, event)| event.failover.is_some()) {
            let message = "the other machine has the mirrored data and not the log on a storage of its own; put the log on the mirrored storage";
            refusals.push(Refusal::new("failover_without_log", &["event", event, "failover"], message));
        }
    }
}

/// Return whether an event ends the server of the run's database.
fn ends_the_server(spec: &RunSpec, event: &Event) -> bool {
    let Some(database) = &spec.database else { return false };
    let is_cut =
        event.power_cut.as_ref().is_some_and(|cut| cut.storage.as_deref().is_none_or(|name| is_on(database, name)));
    let failover = event.failover.as_ref().and_then(|failover| failover.storage.as_deref());
    event.kill.is_some() || event.restart.is_some() || is_cut || failover == Some(database.storage.as_str())
}

/// Return whether an event ends the server of the run's database, or hits its storage.
pub(super) fn has_faults(spec: &RunSpec) -> bool {
    let Some(database) = &spec.database else { return false };
    let fails = |event: &Event| {
        let failing = event.fail.as_ref().and_then(|failure| failure.storage.as_deref());
        failing.is_some_and(|name| is_on(database, name))
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

fn refuse_program(program: &ProgramSpec, refusals: &mut Vec<Refusal>) {
    let word = program.word();
    let mut refuse = |condition: bool, key: &str, why: &str| {
        if condition {
            let path = if key.is_empty() { &["workload", word][..] } else { &["workload", word, key] };
            refusals.push(Refusal::new("program", path, why));
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
        refuse(of.secondary, "secondary", &unlike("a table without a primary key"));
        refuse(of.reconnect > 0, "reconnect", &unlike("the making of connections"));
        refuse(of.db_ps_mode == PsMode::Disable, "db_ps_mode", &unlike("the cost of statements as text"));
        refuse(of.loaded_rows() == 0, "auto_inc", &unlike("a table that begins empty"));
        let other = !of.mysql_storage_engine.eq_ignore_ascii_case("innodb");
        refuse(other, "mysql_storage_engine", "only InnoDB is simulated");
    }
    let wide = matches!(program, ProgramSpec::KeyUpdate(of) if of.row_size > Size(8000));
    refuse(wide, "row_size", "a row of more than half a page is not simulated yet");
}
