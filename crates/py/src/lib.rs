//! Python interface of the core: text in, JSON out, no logic.

mod database;
mod execution;
mod links;
mod served;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tameshi_base::InputError;
use tameshi_record::histograms::{Windows, summarise};
use tameshi_record::journal::Journal;
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Plan, RepeatedRun, Request};
use tameshi_spec::profile::{ArrayProfile, DeviceProfile, EngineProfile, HostProfile};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{RunSpec, World};
use tameshi_spec::study::Study;

create_exception!(
    _tameshi,
    StudyError,
    PyException,
    "A study or profile that can't be: (text for the user, JSON for programs)."
);
create_exception!(_tameshi, CoreError, PyException, "A run that failed: a sentence.");

fn json<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| CoreError::new_err(error.to_string()))
}

fn from_json<'t, T: serde::Deserialize<'t>>(text: &'t str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| CoreError::new_err(format!("not what the core understands: {error}")))
}

fn study_error(error: &InputError) -> PyErr {
    let fields = serde_json::json!({
        "kind": error.kind.word(), "file": error.file, "line": error.line, "column": error.column, "key": error.key,
        "found": error.found, "accepted": error.accepted, "did_you_mean": error.did_you_mean, "message": error.message,
    });
    StudyError::new_err((error.to_string().trim_end().to_string(), fields.to_string()))
}

/// Profiles by kind, each as `(name, file, text)`.
type Texts = BTreeMap<String, Vec<(String, String, String)>>;

fn profiles_of(mut texts: Texts) -> Profiles {
    let mut of = |kind: &str| texts.remove(kind).unwrap_or_default();
    Profiles {
        devices: of("devices"),
        arrays: of("arrays"),
        hosts: of("hosts"),
        links: of("links"),
        engines: of("engines"),
    }
}

/// Refusals of a run by the world that would execute it.
fn refusals(spec: &RunSpec) -> Vec<Refusal> {
    match spec.world {
        World::Simulated => tameshi_sim::refusals(spec),
        World::Measured => tameshi_blockio::refusals(spec),
        World::Emulated => [tameshi_blockio::refusals(spec), tameshi_emulate::refusals(spec)].concat(),
    }
}

/// Plan a study from its text, the request and the profiles `(name, file, text)` by kind.
#[pyfunction]
fn plan(name: &str, file: &str, text: &str, request: &str, profiles: Texts) -> PyResult<String> {
    let request: Request = from_json(request)?;
    let profiles = profiles_of(profiles);
    let planned = tameshi_spec::plan::plan(name, Source { file, text }, &request, &profiles, &refusals);
    json(&planned.map_err(|error| study_error(&error))?)
}

/// Plan a study as `plan` does, in constant memory: `take` is called with the number and JSON of
/// each repetition of a run, cell by cell. Returns the plan without its runs.
#[pyfunction]
fn plan_each(
    name: &str,
    file: &str,
    text: &str,
    request: &str,
    profiles: Texts,
    take: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let request: Request = from_json(request)?;
    let profiles = profiles_of(profiles);
    let mut failed = None;
    let mut give = |run: RepeatedRun| {
        for repetition in 0..run.repetitions {
            if failed.is_none() {
                let text = json(&run.repetition(repetition));
                failed = text.and_then(|text| take.call1((repetition, text))).err();
            }
        }
    };
    let source = Source { file, text };
    let planned = tameshi_spec::plan::plan_each(name, source, &request, &profiles, &refusals, &mut give);
    let planned = planned.map_err(|error| study_error(&error))?;
    failed.map_or_else(|| json(&planned), Err)
}

/// Check a device profile and return it.
#[pyfunction]
fn device_profile(name: &str, file: &str, text: &str) -> PyResult<String> {
    let devices = vec![(name.to_string(), file.to_string(), text.to_string())];
    let profiles = Profiles { devices, ..Profiles::default() };
    let profile = profiles.device(name).expect("the profile is in the list");
    json(&profile.map_err(|error| study_error(&error))?)
}

/// Check an array profile and return it: its values with their sources, and its members.
#[pyfunction]
fn array_profile(name: &str, profiles: Texts) -> PyResult<String> {
    let profiles = profiles_of(profiles);
    let read = profiles.array(name).expect("the profile is in the list");
    let (profile, node) = read.map_err(|error| study_error(&error))?;
    let (capacity, (drive, device), drives) = (node.capacity(), node.drive(), node.drives());
    json(&serde_json::json!({
        "profile": profile, "capacity_bytes": capacity.0, "drives": drives, "drive": drive, "device": device,
    }))
}

/// Names of the backends of measured runs.
#[pyfunction]
fn backends() -> Vec<&'static str> {
    tameshi_blockio::Backend::WORDS.iter().map(|&(word, _)| word).collect()
}

/// The metric registry.
#[pyfunction]
fn metrics() -> PyResult<String> {
    json(&tameshi_base::metrics::METRICS)
}

/// Summarise the latencies per tag of an interval log; `windows` gives the first and last round
/// that count, by phase.
#[pyfunction]
fn latencies(py: Python<'_>, log: &str, windows: Windows) -> PyResult<String> {
    let summary = py.detach(|| summarise(log, &windows));
    json(&summary.map_err(|error| CoreError::new_err(error.to_string()))?)
}

/// Histograms of an interval log, as counts.
#[pyfunction]
fn histogram_intervals(log: &str) -> PyResult<String> {
    json(&tameshi_record::histograms::intervals(log).map_err(|error| CoreError::new_err(error.to_string()))?)
}

/// Compare a storage with the journal of its writes; write nothing.
#[pyfunction]
fn verify(py: Python<'_>, journal: PathBuf, target: execution::TargetTuple) -> PyResult<String> {
    let (_, target) = execution::target(target)?;
    let examined = py.detach(|| {
        let journal = Journal::open(&journal).map_err(|error| format!("{}: {error}", journal.display()))?;
        tameshi_blockio::examine(&journal, &target).map_err(|error| error.to_string())
    });
    json(&examined.map_err(CoreError::new_err)?)
}

/// JSON schema of a form: `study`, `device_profile`, `array_profile`, `host_profile`,
/// `engine_profile`, `run_spec`, `plan`.
#[pyfunction]
fn schema(form: &str) -> PyResult<String> {
    json(&match form {
        "study" => schemars::schema_for!(Study),
        "device_profile" => schemars::schema_for!(DeviceProfile),
        "array_profile" => schemars::schema_for!(ArrayProfile),
        "host_profile" => schemars::schema_for!(HostProfile),
        "engine_profile" => schemars::schema_for!(EngineProfile),
        "run_spec" => schemars::schema_for!(RunSpec),
        "plan" => schemars::schema_for!(Plan),
        other => return Err(CoreError::new_err(format!("there is no schema `{other}`"))),
    })
}

/// Parse a duration such as `250 ms` into nanoseconds.
#[pyfunction]
fn nanoseconds(time: &str) -> PyResult<u64> {
    tameshi_base::Time::parse(time).map(|time| time.0).map_err(CoreError::new_err)
}

/// Parse a size such as `256 MiB` into bytes.
#[pyfunction]
fn size_bytes(size: &str) -> PyResult<u64> {
    tameshi_base::Size::parse(size).map(|size| size.0).map_err(CoreError::new_err)
}

/// Hash of the code that decides a simulated result, without comments and tests.
#[pyfunction]
fn core_hash() -> &'static str {
    env!("TAMESHI_CORE_HASH")
}

/// Compiled core.
#[pymodule]
fn _tameshi(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("StudyError", module.py().get_type::<StudyError>())?;
    module.add("CoreError", module.py().get_type::<CoreError>())?;
    module.add("OltpError", module.py().get_type::<database::OltpError>())?;
    module.add_class::<execution::Execution>()?;
    module.add_class::<database::Oltp>()?;
    module.add_function(wrap_pyfunction!(database::query, module)?)?;
    module.add_function(wrap_pyfunction!(database::check_pages, module)?)?;
    module.add_function(wrap_pyfunction!(links::lone_link, module)?)?;
    module.add_function(wrap_pyfunction!(links::forward_packets, module)?)?;
    module.add_function(wrap_pyfunction!(links::link_round_trip, module)?)?;
    module.add_function(wrap_pyfunction!(links::link_rate, module)?)?;
    module.add_function(wrap_pyfunction!(served::serve_drive, module)?)?;
    module.add_function(wrap_pyfunction!(served::served_storage, module)?)?;
    module.add_function(wrap_pyfunction!(served::check_store, module)?)?;
    module.add_function(wrap_pyfunction!(served::path_latency, module)?)?;
    module.add_function(wrap_pyfunction!(served::nbd_latency, module)?)?;
    module.add_function(wrap_pyfunction!(served::idle_latencies, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan_each, module)?)?;
    module.add_function(wrap_pyfunction!(device_profile, module)?)?;
    module.add_function(wrap_pyfunction!(array_profile, module)?)?;
    module.add_function(wrap_pyfunction!(backends, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    module.add_function(wrap_pyfunction!(latencies, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_intervals, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(nanoseconds, module)?)?;
    module.add_function(wrap_pyfunction!(size_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(core_hash, module)?)?;
    Ok(())
}
