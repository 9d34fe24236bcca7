//! Checks of values and names; each error has its place.

use crate::errors::{bad_value, not_zero, one_kind, stream_error, unknown_name};
use crate::profile::Submission;
use crate::run::{HostSpec, SteadyRule};
use crate::study::{Event, Phase, Rounds, Stack, Study, Until};
use crate::toml::axes::AxisTable;
use crate::toml::document::{Source, Table, has_key, span_of};
use tameshi_base::{InputError, InputErrorKind, Rate, Share, Size};
use tameshi_workload::spec::Access;
use tameshi_workload::{Arrivals, StreamSpec, Sync};

type Checked = Result<(), InputError>;

/// Everything about a merged study that its types can't say.
pub(crate) fn study(source: Source<'_>, table: &Table<'_>, study: &Study) -> Checked {
    for (kind, names) in [
        ("storage", study.storage.keys().collect::<Vec<_>>()),
        ("phase", study.phase.keys().collect()),
        ("event", study.event.keys().collect()),
        ("window", study.window.keys().collect()),
    ] {
        names.into_iter().try_for_each(|name| name_is_plain(source, table, &[kind, name]))?;
    }
    for (name, stack) in &study.storage {
        one_kind(source, table, &["storage", name], "storage", &stack.kinds(), &Stack::KINDS)?;
        if stack.size.is_some_and(|size| size < LEAST_STORAGE) {
            let message = "storage is smaller than one block (4 KiB)";
            return Err(bad_value(
                source,
                table,
                &["storage", name, "size"],
                message,
                &format!("{LEAST_STORAGE} or more"),
            ));
        }
    }
    for (name, stream) in &study.workload.stream {
        name_is_plain(source, table, &["workload", "stream", name])?;
        stream_values(source, table, name, stream)?;
        if let Some(donor) = stream.donor.as_ref().filter(|donor| !study.storage.contains_key(&donor.storage)) {
            let path = ["workload", "stream", name, "donor", "storage"];
            let storages = study.storage.keys().cloned().collect();
            return Err(unknown_name(source, table, &path, "storage", &donor.storage, storages));
        }
        if let Some(other) = stream.ends_with.iter().find(|other| !study.workload.stream.contains_key(*other)) {
            let path = ["workload", "stream", name, "ends_with"];
            let streams = study.workload.stream.keys().cloned().collect();
            return Err(unknown_name(source, table, &path, "stream", other, streams));
        }
    }
    for (name, phase) in &study.phase {
        phase_values(source, table, name, phase)?;
    }
    for (name, event) in &study.event {
        one_kind(source, table, &["event", name], "event", &event.kinds(), &Event::KINDS)?;
        phase_is_known(source, table, study, &["event", name, "phase"], event.phase.as_ref())?;
    }
    for (name, window) in &study.window {
        phase_is_known(source, table, study, &["window", name, "phase"], window.phase.as_ref())?;
    }
    crate::validate::bounds::values(source, table, study)
}

/// Names end up in tags, folders and command lines.
fn name_is_plain(source: Source<'_>, table: &Table<'_>, path: &[&str]) -> Checked {
    let name = path.last().copied().unwrap_or_default();
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Ok(());
    }
    let mut error = bad_value(source, table, path, "this name can't be used", "letters, digits, `_` and `-`");
    error.found = name.to_string();
    Err(error)
}

fn phase_is_known(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    path: &[&str],
    phase: Option<&String>,
) -> Checked {
    match phase {
        Some(name) if !study.phase.contains_key(name) => {
            Err(unknown_name(source, table, path, "phase", name, study.phase.keys().cloned().collect()))
        }
        _ => Ok(()),
    }
}

/// One block, as devices map them.
const LEAST_STORAGE: Size = Size(4096);
const MOST_CORES: u32 = 4096;
const MOST_OUTSTANDING: u32 = 65_536;
/// One request a nanosecond.
const MOST_RATE: Rate = Rate(1_000_000_000_000);

fn stream_values(source: Source<'_>, table: &Table<'_>, name: &str, stream: &StreamSpec) -> Checked {
    let path = |key| ["workload", "stream", name, key];
    lengths(source, table, name, stream)?;
    for (value, key) in [(stream.queue_depth, "queue_depth"), (stream.jobs, "jobs")] {
        if value == 0 || value > MOST_OUTSTANDING {
            return Err(bad_value(source, table, &path(key), "out of range", &format!("1 to {MOST_OUTSTANDING}")));
        }
    }
    if !stream.offset.0.is_multiple_of(granule(stream)) {
        return Err(bad_value(source, table, &path("offset"), "an offset must be aligned", "a multiple of 512 B"));
    }
    for (value, key) in [(stream.align, "align"), (stream.pattern.stretch(), "pattern")] {
        if !value.is_none_or(|size| size.0.is_multiple_of(granule(stream))) {
            return Err(bad_value(
                source,
                table,
                &path(key),
                "past the page cache only sectors are moved",
                "multiples of 512 B",
            ));
        }
    }
    for (value, key) in [(stream.amount.map(|size| size.0), "amount"), (stream.duration.map(|time| time.0), "duration")]
    {
        not_zero(source, table, value.unwrap_or(1), &path(key), "more than zero")?;
    }
    let rate = match &stream.arrivals {
        Arrivals::Constant { rate } => Some(("constant", *rate)),
        Arrivals::Poisson { rate } => Some(("poisson", *rate)),
        Arrivals::Closed | Arrivals::Ramp { .. } | Arrivals::Bursts { .. } => None,
    };
    if let Some((kind, rate)) = rate {
        let path = ["workload", "stream", name, "arrivals", kind, "rate"];
        not_zero(source, table, rate.0, &path, "a rate above zero, such as \"500 /s\"")?;
        if rate > MOST_RATE {
            let accepted = format!("at most \"{MOST_RATE}\"");
            return Err(bad_value(source, table, &path, "the rate is too high", &accepted));
        }
    }
    if stream.sync == Some(Sync::Fua) && stream.access == Access::Buffered {
        let message =
            "force unit access goes past the page cache; with `access = \"buffered\"`, `dsync` is what there is";
        return Err(source.error_at(table, &path("sync"), InputErrorKind::Conflict, message));
    }
    if stream.sync.and_then(tameshi_workload::Sync::every) == Some(0) {
        return Err(bad_value(source, table, &path("sync"), "a sync after no write never comes", "every = 1 or more"));
    }
    pauses(source, table, name, stream)?;
    stream.error().map_or(Ok(()), |error| Err(stream_error(source, table, name, &error)))
}

/// Slots think in closed loop only: in open loop their pauses would hold back the arrivals, and it
/// were none.
fn pauses(source: Source<'_>, table: &Table<'_>, name: &str, stream: &StreamSpec) -> Checked {
    let thinks = [("think_time", stream.think_time.0 > 0), ("think_every", stream.think_every != 1)];
    let Some((key, _)) = thinks.into_iter().find(|(_, given)| *given && stream.arrivals != Arrivals::Closed) else {
        return Ok(());
    };
    let path = ["workload", "stream", name, key];
    let message = "think time has no effect in an open loop";
    let mut error = source.error_at(table, &path, InputErrorKind::Conflict, message);
    error.found = source.text_at(span_of(table, &path));
    error.accepted = vec!["arrivals = \"closed\"".into(), format!("no `{key}`")];
    Err(error)
}

/// Return the unit of lengths and offsets: without the page cache only whole sectors can be moved.
fn granule(stream: &StreamSpec) -> u64 {
    if stream.access == Access::Direct { 512 } else { 1 }
}

/// One length, or a mix of them whose shares are a whole.
fn lengths(source: Source<'_>, table: &Table<'_>, name: &str, stream: &StreamSpec) -> Checked {
    let path = |key| ["workload", "stream", name, key];
    let granule = granule(stream);
    let is_invalid = |size: Size| size.0 == 0 || !size.0.is_multiple_of(granule) || size.0 > 1 << 30;
    let accepted = if granule > 1 { "a multiple of 512 B up to 1 GiB" } else { "1 B to 1 GiB" };
    if stream.block_size_mix.is_none() && is_invalid(stream.block_size) {
        return Err(bad_value(source, table, &path("block_size"), "this is no length of a request", accepted));
    }
    if stream.block_size_mix.is_some() && has_key(table, &path("block_size")) {
        let message = "a stream has one length or a mix of them: `block_size` and `block_size_mix` exclude each other";
        return Err(source.error_at(table, &path("block_size_mix"), InputErrorKind::Conflict, message));
    }
    let mixes = [("block_size_mix", &stream.block_size_mix), ("write_block_size_mix", &stream.write_block_size_mix)];
    for (key, mix) in mixes.into_iter().filter_map(|(key, mix)| mix.as_ref().map(|mix| (key, mix))) {
        if let Some(index) = mix.iter().position(|length| is_invalid(length.size)) {
            let index = index.to_string();
            let path = ["workload", "stream", name, key, &index, "size"];
            return Err(bad_value(source, table, &path, "this is no length of a request", accepted));
        }
        let whole: u64 = mix.iter().map(|length| u64::from(length.share.0)).sum();
        if whole != u64::from(Share::WHOLE.0) {
            let percent = format!("the shares of the lengths add up to {} %", whole as f64 / 1e4);
            return Err(bad_value(source, table, &path(key), percent, "shares that add up to 100 %"));
        }
    }
    Ok(())
}

fn phase_values(source: Source<'_>, table: &Table<'_>, name: &str, phase: &Phase) -> Checked {
    let until = phase.until;
    if until == Until::default() {
        let mut error =
            source.error_at(table, &["phase", name, "until"], InputErrorKind::MissingKey, "this phase never ends");
        error.accepted = ["time", "amount", "steady"].map(str::to_string).to_vec();
        return Err(error);
    }
    for (value, key) in
        [(until.time.map(|time| time.0), "time"), (until.amount.map(|amount| amount.bytes(1_000_000).0), "amount")]
    {
        not_zero(source, table, value.unwrap_or(1), &["phase", name, "until", key], "more than zero")?;
    }
    if let Some(rule) = until.steady {
        steady_values(source, table, &["phase", name, "until", "steady"], &rule)?;
        if rule.round.is_none() {
            let path = ["phase", name, "until", "steady", "round"];
            let mut error = source.error_at(
                table,
                &path,
                InputErrorKind::MissingKey,
                "a phase that ends at steady state has rounds",
            );
            error.accepted = vec!["round = \"1 min\"".into()];
            return Err(error);
        }
    }
    if let Some(time) = until.time.filter(|time| *time <= phase.ramp) {
        let message = format!("the ramp of {} leaves nothing of the phase's {time}", phase.ramp);
        return Err(source.error_at(table, &["phase", name, "ramp"], InputErrorKind::Conflict, message));
    }
    if phase.workload.is_empty() && until.time.is_none() {
        let message = "a phase without work is idle for a time";
        return Err(bad_value(source, table, &["phase", name, "until"], message, "until = { time = \"10 s\" }"));
    }
    Ok(())
}

/// A rule that can be met: a window of some rounds, something to track.
fn steady_values(source: Source<'_>, table: &Table<'_>, path: &[&str], rule: &SteadyRule) -> Checked {
    let at = |key| path.iter().copied().chain([key]).collect::<Vec<&str>>();
    not_zero(source, table, rule.round.map_or(1, |round| round.0), &at("round"), "a time above zero")?;
    if rule.rounds < 2 {
        return Err(bad_value(
            source,
            table,
            &at("rounds"),
            "no line can be fitted to so few",
            "2 or more; the PTS asks for 5",
        ));
    }
    if rule.absolute.is_some() && rule.track.variables().count() > 1 {
        let message = "a limit that is no share of the mean is of one variable";
        return Err(bad_value(source, table, &at("track"), message, "one of iops, bandwidth, latency"));
    }
    if rule.max_rounds < rule.rounds {
        let message = format!("fewer than the {} rounds of a window", rule.rounds);
        return Err(bad_value(source, table, &at("max_rounds"), message, &format!("{} or more", rule.rounds)));
    }
    if rule.track.variables().next().is_none() {
        return Err(bad_value(source, table, &at("track"), "nothing is tracked", "some of iops, bandwidth, latency"));
    }
    Ok(())
}

/// The axes that a phase is repeated over, in the study's order.
pub(crate) fn over<'a, 't>(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    phase: &Phase,
    within: &[&'a AxisTable<'t>],
) -> Result<Vec<&'a AxisTable<'t>>, InputError> {
    match &phase.over {
        Some(over) => axes_named(source, table, &["phase", name], over, within),
        None => Ok(within.to_vec()),
    }
}

/// The axes within the run that `over` names at `path`, in the study's order.
pub(crate) fn axes_named<'a, 't>(
    source: Source<'_>,
    table: &Table<'_>,
    path: &[&str],
    over: &[String],
    within: &[&'a AxisTable<'t>],
) -> Result<Vec<&'a AxisTable<'t>>, InputError> {
    let names: Vec<String> = within.iter().map(|axis| axis.name.clone()).collect();
    if let Some(unknown) = over.iter().find(|axis| !names.contains(axis)) {
        let path: Vec<&str> = path.iter().copied().chain(["over"]).collect();
        return Err(unknown_name(source, table, &path, "axis within the run", unknown, names));
    }
    Ok(within.iter().copied().filter(|axis| over.contains(&axis.name)).collect())
}

/// Rounds consist of phases that are there, in one of them each, and end by number or at steady
/// state.
pub(crate) fn rounds(source: Source<'_>, table: &Table<'_>, study: &Study) -> Checked {
    let mut taken: Vec<&String> = Vec::new();
    for (name, rounds) in &study.rounds {
        name_is_plain(source, table, &["rounds", name])?;
        let path = ["rounds", name, "phases"];
        for phase in &rounds.phases {
            let Some(known) = study.phase.get(phase) else {
                let phases = study.phase.keys().cloned().collect();
                return Err(unknown_name(source, table, &path, "phase", phase, phases));
            };
            let trouble = if taken.contains(&phase) {
                Some("is in two rounds, or twice in one")
            } else if known.until.steady.is_some() {
                Some("ends at steady state itself; a phase that is repeated ends by time or amount")
            } else {
                None
            };
            if let Some(trouble) = trouble {
                let message = format!("the phase `{phase}` {trouble}");
                return Err(source.error_at(table, &path, InputErrorKind::Conflict, message));
            }
            taken.push(phase);
        }
        if rounds.phases.is_empty() {
            return Err(bad_value(source, table, &path, "a round without phases", "a list of phases"));
        }
        rounds_end(source, table, name, rounds)?;
    }
    Ok(())
}

fn rounds_end(source: Source<'_>, table: &Table<'_>, name: &str, rounds: &Rounds) -> Checked {
    let path = ["rounds", name];
    match (rounds.times, &rounds.steady) {
        (Some(times), None) => not_zero(source, table, u64::from(times), &["rounds", name, "times"], "1 or more"),
        (None, Some(rule)) if rule.round.is_some() => {
            let message = "these rounds are as long as their phases; only a phase's own rounds have a length";
            Err(source.error_at(table, &["rounds", name, "steady", "round"], InputErrorKind::Conflict, message))
        }
        (None, Some(rule)) => steady_values(source, table, &["rounds", name, "steady"], rule),
        (times, _) => {
            let (kind, message) = match times {
                None => (InputErrorKind::MissingKey, "these rounds never end"),
                Some(_) => (InputErrorKind::Conflict, "rounds end by their number or at steady state, not by both"),
            };
            let mut error = source.error_at(table, &path, kind, message);
            error.accepted = vec!["times = 10".into(), "steady = {}".into()];
            Err(error)
        }
    }
}

/// An engine's settings can't change within a run: its server would have to start anew.
pub(crate) fn same_engine(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    varied: &Study,
    axes: &[&AxisTable<'_>],
) -> Checked {
    if varied.engine == study.engine && varied.uses.engine == study.uses.engine {
        return Ok(());
    }
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let message = format!("an axis within a run ({}) can't change the engine", names.join(", "));
    let mut error = source.error_at(table, &["engine"], InputErrorKind::Conflict, message);
    error.accepted = vec!["varies = \"across\"".to_string()];
    Err(error)
}

/// Check a study's changes of its host.
pub(crate) fn host(source: Source<'_>, table: &Table<'_>, host: &HostSpec) -> Checked {
    if host.cores.is_some_and(|cores| !(1..=MOST_CORES).contains(&cores)) {
        let accepted = format!("1 to {MOST_CORES}");
        return Err(bad_value(source, table, &["host", "cores"], "too many cores for a host", &accepted));
    }
    match host.submission {
        Some(submission) if host.model.path(submission).is_none() => {
            let ways = Submission::ALL.into_iter().filter(|&way| host.model.path(way).is_some());
            let message = format!("host `{}` has no such way to submit requests", host.profile);
            let mut error = source.error_at(table, &["host", "submission"], InputErrorKind::BadValue, message);
            error.accepted = ways.map(|way| way.word().to_string()).collect();
            Err(error)
        }
        _ => Ok(()),
    }
}
