//! Served drives for Python.

use crate::{CoreError, Texts, from_json, json, profiles_of, study_error};
use pyo3::prelude::*;
use std::os::fd::RawFd;
use std::path::PathBuf;
use tameshi_emulate::{Durability, ServeSpec, Store};
use tameshi_spec::document::Source;
use tameshi_spec::run::Node;
use tameshi_spec::{StorageRequest, lone_storage};

/// Resolve a storage of a file as a drive to serve: its node, its sizes, its number of drives, and
/// whether acknowledged data may be in volatile memory.
#[pyfunction]
pub(crate) fn served_storage(file: &str, text: &str, request: &str, profiles: Texts) -> PyResult<String> {
    let request: StorageRequest = from_json(request)?;
    let profiles = profiles_of(profiles);
    let resolved = lone_storage(Source { file, text }, &request, &profiles, &tameshi_emulate::unserved);
    let storage = resolved.map_err(|error| study_error(&error))?;
    let (drives, is_volatile) = (storage.node.drives(), Durability::of(&storage.node).volatile);
    json(&serde_json::json!({ "storage": storage, "drives": drives, "is_volatile": is_volatile }))
}

/// Serve a drive until its mount or its owner is gone; `control` is a socket of packets.
#[pyfunction]
pub(crate) fn serve_drive(py: Python<'_>, spec: &str, control: RawFd) -> PyResult<()> {
    let spec: ServeSpec = from_json(spec)?;
    py.detach(|| tameshi_emulate::serve(&spec, control)).map_err(CoreError::new_err)
}

/// Check that a directory can hold the data of a drive of some bytes.
#[pyfunction]
pub(crate) fn check_store(directory: PathBuf, bytes: u64) -> PyResult<()> {
    Store::in_directory(&directory, bytes, 0).map(drop).map_err(CoreError::new_err)
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

/// Median time of a read of 4 KiB by NBD in nanoseconds.
#[pyfunction]
pub(crate) fn nbd_latency(py: Python<'_>, address: &str, reads: u32) -> PyResult<u64> {
    let measured = py.detach(|| tameshi_emulate::nbd_latency(address, reads));
    measured.map_err(|error| CoreError::new_err(error.to_string()))
}
