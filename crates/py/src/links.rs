//! Links between hosts for Python.

use crate::{CoreError, Texts, from_json, profiles_of, study_error};
use pyo3::prelude::*;
use std::net::Ipv4Addr;
use std::os::fd::RawFd;
use std::time::Duration;
use tameshi_emulate::LinksSpec;
use tameshi_spec::document::Source;

/// Resolve a link of a file: its round trip in nanoseconds, and its rate in bytes per second.
#[pyfunction]
pub(crate) fn lone_link(file: &str, text: &str, name: &str, profiles: Texts) -> PyResult<(u64, u64)> {
    let profiles = profiles_of(profiles);
    let link = tameshi_spec::lone_link(Source { file, text }, name, &profiles).map_err(|error| study_error(&error))?;
    Ok((link.round_trip.0, link.rate.0))
}

/// Forward packets between hosts until the owner is gone; `control` is a socket of packets.
#[pyfunction]
pub(crate) fn forward_packets(py: Python<'_>, spec: &str, control: RawFd) -> PyResult<()> {
    let spec: LinksSpec = from_json(spec)?;
    py.detach(|| tameshi_emulate::forward_packets(&spec, control)).map_err(CoreError::new_err)
}

fn parsed(address: &str) -> PyResult<Ipv4Addr> {
    address.parse().map_err(|error| CoreError::new_err(format!("{address}: {error}")))
}

/// Median round trip of a short message between two networks, in nanoseconds of wall time.
#[pyfunction]
pub(crate) fn link_round_trip(
    py: Python<'_>,
    networks: [RawFd; 2],
    address: &str,
    messages: u32,
    patience_ns: u64,
) -> PyResult<u64> {
    let (address, patience) = (parsed(address)?, Duration::from_nanos(patience_ns));
    let measured = py.detach(|| tameshi_emulate::link_round_trip(networks, address, messages, patience));
    measured.map_err(|error| CoreError::new_err(error.to_string()))
}

/// Bytes of data per second of wall time that a link carries under a load above its rate.
#[pyfunction]
pub(crate) fn link_rate(
    py: Python<'_>,
    networks: [RawFd; 2],
    address: &str,
    load: (u64, usize),
    window_ns: u64,
    patience_ns: u64,
) -> PyResult<u64> {
    let (address, patience) = (parsed(address)?, Duration::from_nanos(patience_ns));
    let measured = py.detach(|| tameshi_emulate::link_rate(networks, address, load, window_ns, patience));
    measured.map_err(|error| CoreError::new_err(error.to_string()))
}
