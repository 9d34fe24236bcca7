//! Refusals of a RunSpec, before anything is done.

use crate::error::BlockError;
use crate::files;
use crate::target::Target;
use crate::threads::affinity;
use tameshi_base::{Share, Size};
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{PhaseSpec, PhaseStream, RUN_SPEC_VERSION, RunSpec, Start, World};
use tameshi_workload::FileCall;
use tameshi_workload::spec::{Access, Verify};

/// Most outstanding requests of one job: the largest queue of io_uring.
const MOST_DEPTH: u32 = 32_768;
/// Longest request in bytes.
const MOST_BLOCK: u64 = 1 << 30;

/// Refusals of the measured world for `spec`; empty if it can be run.
pub fn refusals(spec: &RunSpec) -> Vec<Refusal> {
    let mut refusals = refused_database(spec);
    refusals.extend(spec.storage.keys().flat_map(|name| spoiled(spec, name)));
    refusals.extend(spec.storage.keys().flat_map(|name| files::refusals(spec, name)));
    refusals.extend(spec.phases.iter().flat_map(|phase| &phase.streams).filter_map(elsewhere));
    refusals.sort();
    refusals.dedup();
    refusals
}

/// Refuse a stream bound to a processor that this process can't run on.
fn elsewhere(stream: &PhaseStream) -> Option<Refusal> {
    let missing = stream.stream.processors.iter().flatten().find(|&&processor| !affinity::is_allowed(processor))?;
    let message = format!("it names {missing}, and this process may not run there, or there is none of that number");
    Some(Refusal::of_stream(&stream.name, "processors", message))
}

/// Return whether any stream reads or writes through the page cache.
fn buffered(spec: &RunSpec) -> bool {
    let mut streams = spec.phases.iter().flat_map(|phase| &phase.streams);
    streams.any(|stream| stream.stream.access == Access::Buffered)
}

/// Refusals of a run with a database, or of one that names an engine without it.
fn refused_database(spec: &RunSpec) -> Vec<Refusal> {
    if spec.database.is_none() {
        let unused = |name: &String| Refusal::new("unused_engine", &["engine", name], "no phase runs a program on it");
        let start = match spec.start {
            Start::AsIs => None,
            Start::Cold if buffered(spec) => None,
            Start::Cold => Some("no stream has `access = \"buffered\"`, so no cache can be cold"),
            Start::Warm | Start::Scanned => Some("only a database starts warm"),
        };
        let start = start.map(|message| Refusal::new("start", &["run", "start"], message));
        return spec.engines.keys().map(unused).chain(start).collect();
    }
    let mut refusals = Vec::new();
    for phase in &spec.phases {
        let mut refuse = |condition: bool, key: &[&str], why: &str| {
            if condition {
                let path = [&["phase", &phase.name], key].concat();
                refusals.push(Refusal::new("program_phase", &path, why));
            }
        };
        refuse(!phase.streams.is_empty(), &["workload"], "streams beside a database are not measured yet");
        refuse(phase.programs.len() > 1, &["workload"], "one program runs at a time");
        refuse(phase.programs.is_empty() && phase.streams.is_empty(), &["workload"], "nothing runs");
        refuse(phase.until.time.is_none(), &["until"], "a phase of a program ends by `time`");
        refuse(phase.until.amount.is_some(), &["until", "amount"], "a phase of a program ends by `time`");
        refuse(phase.until.steady.is_some(), &["until", "steady"], "a phase of a program ends by `time`");
    }
    let in_rounds = |name: &str| Refusal::new("program_rounds", &["rounds", name], "programs run in no rounds yet");
    refusals.extend(spec.rounds.iter().map(|round| in_rounds(&round.name)));
    refusals
}

fn streams_on<'a>(spec: &'a RunSpec, storage: &'a str) -> impl Iterator<Item = &'a PhaseStream> {
    spec.phases.iter().flat_map(|phase| &phase.streams).filter(move |stream| stream.storage == storage)
}

/// Refuse streams that write without stamps where another stream verifies, at any time of the run.
fn spoiled(spec: &RunSpec, storage: &str) -> Vec<Refusal> {
    let bytes = spec.storage[storage].size.0;
    let (checked, plain): (Vec<_>, Vec<_>) =
        streams_on(spec, storage).partition(|stream| stream.stream.verify != Verify::Off);
    // Moved extents take their data along.
    let changes = |stream: &&&PhaseStream| {
        let moved = stream.stream.call == Some(FileCall::MoveExtents);
        !moved && (stream.stream.written() > Share(0) || stream.stream.trims())
    };
    let pairs = checked.iter().flat_map(|checked| plain.iter().filter(changes).map(move |plain| (checked, plain)));
    let overlapping = pairs.filter(|(checked, plain)| {
        let (checked, plain) = (checked.stream.part(bytes), plain.stream.part(bytes));
        checked.start < plain.end && plain.start < checked.end
    });
    let told = overlapping.map(|(checked, plain)| {
        let message = format!(
            "stream `{}` verifies a part that stream `{}` changes without stamps; give both of them `verify`, or parts of \
             their own by `offset` and `span`",
            checked.name, plain.name
        );
        Refusal::new("verified_part", &["storage", storage], message)
    });
    told.collect()
}

/// Refuse an impossible run with all reasons at once.
pub(crate) fn refuse(spec: &RunSpec, targets: &[(String, Target)]) -> Result<(), BlockError> {
    let mut sentences: Vec<String> = refusals(spec).iter().map(Refusal::to_string).collect();
    if spec.schema_version != RUN_SPEC_VERSION {
        sentences.push(format!("the spec has version {}, known is {RUN_SPEC_VERSION}", spec.schema_version));
    }
    if spec.world == World::Simulated {
        sentences.push("the spec is of the simulated world".into());
    }
    if spec.interval.0 == 0 {
        sentences.push("`interval` must not be zero".into());
    }
    for (name, target) in targets {
        sentences.extend(target.objections(name));
        if files::holds_files(spec, name) != target.is_directory() {
            sentences.push(format!(
                "storage `{name}`: its streams ask for a directory of files where there is none, or for one file"
            ));
        }
    }
    for (name, storage) in &spec.storage {
        match targets.iter().find(|(given, _)| given == name) {
            None => sentences.push(format!("storage `{name}` has no target")),
            Some((_, target)) if target.data_bytes < storage.size.0 => sentences.push(format!(
                "storage `{name}`: the target's payload has {} bytes, the spec uses {}",
                target.data_bytes, storage.size
            )),
            Some(_) => {}
        }
    }
    sentences.extend(donors(spec, targets));
    for phase in &spec.phases {
        objections_to_phase(spec, phase, targets, &mut sentences);
    }
    if sentences.is_empty() { Ok(()) } else { Err(BlockError::Refused(sentences)) }
}

/// Refuse donors that are not another file, at least as long and with the same offset as the
/// stream's own.
fn donors(spec: &RunSpec, targets: &[(String, Target)]) -> Vec<String> {
    let of = |storage: &str| targets.iter().find(|(name, _)| name == storage).map(|(_, target)| target);
    let fits = |stream: &PhaseStream, storage: &str| {
        let both = of(&stream.storage).zip(of(storage));
        let same = both.is_some_and(|(own, donor)| {
            own.data_offset == donor.data_offset && own.data_bytes <= donor.data_bytes && !donor.is_block_device()
        });
        same && stream.storage != storage
    };
    let streams = spec.phases.iter().flat_map(|phase| &phase.streams);
    let wrong = streams.filter_map(|stream| {
        let donor = &stream.stream.donor.as_ref()?.storage;
        let sentence = format!(
            "stream `{}`: `donor` names storage `{donor}`, which is no other file of the run that is at least as long",
            stream.name
        );
        (!fits(stream, donor)).then_some(sentence)
    });
    wrong.collect()
}

fn objections_to_phase(spec: &RunSpec, phase: &PhaseSpec, targets: &[(String, Target)], sentences: &mut Vec<String>) {
    let busy = !phase.streams.is_empty();
    let ends = phase.until.time_at_most(phase.ramp).is_some() || (phase.until.amount.is_some() && busy);
    if !ends {
        sentences.push(format!("phase `{}` has no end: no `until.time`, `until.amount` or `until.steady`", phase.name));
    }
    if phase.until.steady.is_some() && !busy {
        sentences.push(format!("phase `{}` does nothing that could become steady", phase.name));
    }
    for stream in &phase.streams {
        let mut object = |why: String| {
            sentences.push(format!("phase `{}`, stream `{}`: {why}", phase.name, stream.name));
        };
        let Some(storage) = spec.storage.get(&stream.storage) else {
            object(format!("there is no storage `{}`", stream.storage));
            continue;
        };
        let target = targets.iter().find(|(name, _)| *name == stream.storage).map(|(_, target)| target);
        let past = |target: &Target| target.direct && target.buffered.is_none();
        if stream.stream.access == Access::Buffered && target.is_some_and(past) {
            object(format!("`access` is `buffered`, but `{}` was opened past the page cache", stream.storage));
        }
        let buffered = stream.stream.access == Access::Buffered;
        let alignment = target.filter(|_| !buffered).map_or(1, Target::alignment);
        objections_to_stream(stream, storage.size.0, alignment, &mut object);
    }
}

fn objections_to_stream(stream: &PhaseStream, storage_bytes: u64, alignment: u64, object: &mut impl FnMut(String)) {
    let stream = &stream.stream;
    if stream.jobs == 0 || stream.queue_depth == 0 {
        object("`jobs` and `queue_depth` must be at least 1".into());
    }
    if stream.most_outstanding() > MOST_DEPTH {
        object(format!("{} requests of a job, at most {MOST_DEPTH} can be outstanding", stream.most_outstanding()));
    }
    let key = if stream.is_mixed() { "block_size_mix" } else { "block_size" };
    let lengths: Vec<Size> = stream.lengths().iter().map(|length| length.size).collect();
    if let Some(block) = lengths.iter().find(|block| block.0 == 0 || block.0 > MOST_BLOCK) {
        object(format!("`{key}` is {block}, it must lie between 1 B and {}", Size(MOST_BLOCK)));
        return;
    }
    let lengths = lengths.into_iter().map(|block| (key, block));
    for (key, value) in lengths.chain([("offset", stream.offset)]) {
        if !value.0.is_multiple_of(alignment) {
            object(format!("`{key}` is {value}, no multiple of the target's block of {}", Size(alignment)));
        }
    }
    let rest = storage_bytes.saturating_sub(stream.offset.0);
    let span_bytes = stream.span.map_or(rest, |span| span.0.min(rest));
    if span_bytes < stream.least_span().0 {
        object("no whole block lies between `offset` and the end of the stream's part of the storage".into());
    }
    for objection in stream.error().into_iter().chain(stream.span_error(span_bytes)) {
        object(format!("`{}`: {}", objection.key, objection.message));
    }
}
