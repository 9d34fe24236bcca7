//! Execution of one run without the interpreter's lock, while another thread watches or stops it.

use crate::{CoreError, from_json, json};
use pyo3::prelude::*;
use serde_json::json;
use std::fmt::Display;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;
use tameshi_base::Slow;
use tameshi_blockio::{Backend, Target};
use tameshi_record::{Control, RunStatus, Writer};
use tameshi_spec::run::{RunSpec, World};

/// Name, descriptor, offset and length of the payload in bytes, whether it is open for direct I/O,
/// and the descriptor of the same target through the page cache, if any.
pub(crate) type TargetTuple = (String, RawFd, u64, u64, bool, Option<RawFd>);

fn failed(error: impl Display) -> PyErr {
    CoreError::new_err(error.to_string())
}

/// Run in the core.
#[pyclass(frozen)]
pub(crate) struct Execution {
    spec: RunSpec,
    folder: PathBuf,
    control: Arc<Control>,
}

/// Duplicate the descriptors, so that Python's may be closed at any time.
pub(crate) fn target((name, fd, data_offset, data_bytes, direct, buffered): TargetTuple) -> PyResult<(String, Target)> {
    // SAFETY: Python keeps the descriptors open during this call.
    let own = |fd| unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().map_err(failed);
    let (fd, buffered) = (own(fd)?, buffered.map(own).transpose()?);
    Ok((name, Target { fd, data_offset, data_bytes, direct, buffered }))
}

#[pymethods]
impl Execution {
    #[new]
    fn new(spec: &str, folder: PathBuf) -> PyResult<Self> {
        Ok(Self { spec: from_json(spec)?, folder, control: Arc::default() })
    }

    /// Write a target's payload once, or the initial files of a directory; return whether it was
    /// written completely.
    fn lay_out(&self, py: Python<'_>, target: TargetTuple, seed: u64) -> PyResult<bool> {
        let (name, target) = self::target(target)?;
        let laid_out = py.detach(|| match tameshi_blockio::holds_files(&self.spec, &name) {
            true => tameshi_blockio::lay_out_files(&self.spec, &name, &target, &self.control),
            false => tameshi_blockio::lay_out(&target, seed, Backend::Auto, &self.control),
        });
        Ok(laid_out.map_err(failed)? == RunStatus::Complete)
    }

    /// Run all phases; `t0_ns` of own time on the monotonic clock, slow motion, and a backend by
    /// name if the world has one.
    fn run(&self, py: Python<'_>, targets: Vec<TargetTuple>, t0_ns: u64, slow: f64, backend: &str) -> PyResult<String> {
        let slow = Slow::new(slow).map_err(failed)?;
        let backend = Backend::of_word(backend).ok_or_else(|| failed(format!("no backend is called `{backend}`")))?;
        let targets = targets.into_iter().map(target).collect::<PyResult<Vec<_>>>()?;
        py.detach(|| {
            let mut writer = Writer::open(&self.folder, self.control.clone()).map_err(failed)?;
            match self.spec.world {
                World::Simulated => {
                    let (status, digest) = tameshi_sim::execute(&self.spec, &mut writer).map_err(failed)?;
                    json(&json!({ "status": status.word(), "digest": digest }))
                }
                World::Measured | World::Emulated => {
                    let done = tameshi_blockio::execute(&self.spec, targets, (t0_ns, slow), backend, &mut writer)
                        .map_err(failed)?;
                    json(&json!({ "status": done.status.word(), "backend": done.backend, "features": done.features }))
                }
            }
        })
    }

    /// Ask the run to stop soon and leave a usable partial result.
    fn stop(&self) {
        self.control.stop();
    }

    /// Progress of the run, as JSON.
    fn progress(&self) -> PyResult<String> {
        let (progress, phase) = (self.control.progress(), self.control.phase_progress());
        let streams = self.control.stream_progress().into_iter().map(|stream| {
            json!({
                "name": stream.name, "operations_per_second": stream.operations_per_second,
                "bytes_per_second": stream.bytes_per_second, "p50_ns": stream.p50_ns, "p99_ns": stream.p99_ns,
                "p999_ns": stream.p999_ns, "slowest": stream.slowest.map(|slow| slow.as_json()),
            })
        });
        let streams: Vec<serde_json::Value> = streams.collect();
        json(&json!({
            "elapsed_ns": progress.elapsed_ns, "phase": progress.phase,
            "operations_per_second": progress.operations_per_second, "latency_ns_mean": progress.latency_ns_mean,
            "bytes_written": progress.bytes_written, "phase_begin_ns": phase.begin_ns, "phase_bytes": phase.bytes,
            "streams": streams, "slowest": self.control.slowest().map(|(stream, slow)| {
                let mut entry = slow.as_json();
                entry["stream"] = stream.into();
                entry
            }),
        }))
    }
}
