//! Served drives for Python.

use crate::{CoreError, from_json};
use pyo3::prelude::*;
use std::os::fd::RawFd;
use tameshi_emulate::ServeSpec;
use tameshi_spec::run::Node;

/// Serve a drive until its mount or its owner is gone; `control` is a socket of packets.
#[pyfunction]
pub(crate) fn serve_drive(py: Python<'_>, spec: &str, control: RawFd) -> PyResult<()> {
    let spec: ServeSpec = from_json(spec)?;
    py.detach(|| tameshi_emulate::serve(&spec, control)).map_err(CoreError::new_err)
}

/// Latencies of one read, one write and one flush of an idle drive, in nanoseconds.
#[pyfunction]
pub(crate) fn idle_latencies(py: Python<'_>, node: &str) -> PyResult<[u64; 3]> {
    let node: Node = from_json(node)?;
    py.detach(|| tameshi_emulate::idle_latencies(&node)).map_err(CoreError::new_err)
}

/// Median time of a read of 4 KiB in nanoseconds.
#[pyfunction]
pub(crate) fn path_latency(py: Python<'_>, fd: RawFd, reads: u32) -> PyResult<u64> {
    let measured = py.detach(|| tameshi_emulate::path_latency(fd, reads));
    measured.map_err(|error| CoreError::new_err(error.to_string()))
}
