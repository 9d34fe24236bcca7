//! Database driver for Python: JSON in, JSON out, no logic.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::json;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tameshi_oltp::{OltpSpec, Plan, Power, Session, Target};
use tameshi_record::{Control, Writer};

create_exception!(_tameshi, OltpError, PyException, "A load, run or check that failed: a sentence.");

fn failed(error: impl Display) -> PyErr {
    OltpError::new_err(error.to_string())
}

/// Program on a database.
#[pyclass(frozen)]
pub struct Oltp {
    spec: OltpSpec,
    control: Arc<Control>,
    power: Power,
    rows: AtomicU64,
}

#[pymethods]
impl Oltp {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        let spec = serde_json::from_str(spec).map_err(failed)?;
        Ok(Self { spec, control: Arc::default(), power: Power::default(), rows: AtomicU64::new(0) })
    }

    /// Create the tables and load the data set; return the number of rows.
    fn load(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| tameshi_oltp::load(&self.spec, &self.rows)).map_err(failed)
    }

    /// Names of the tables that `load` creates.
    fn tables(&self) -> Vec<String> {
        tameshi_oltp::tables(&self.spec)
    }

    /// Number of rows loaded so far.
    fn loaded(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Run all phases from `t0_ns` of own time on the monotonic clock, and record them in the
    /// folder.
    fn execute(&self, py: Python<'_>, folder: PathBuf, t0_ns: u64) -> PyResult<String> {
        py.detach(|| {
            let mut writer = Writer::open(&folder, Arc::clone(&self.control)).map_err(failed)?;
            let done = tameshi_oltp::execute(&self.spec, t0_ns, &mut writer, &self.power).map_err(failed)?;
            let status = done.status.word();
            Ok(json!({ "status": status, "completed": done.completed, "errors": done.errors }).to_string())
        })
    }

    /// Check the consistency conditions and the ledger; `fresh`: nothing ran since loading.
    fn check(&self, py: Python<'_>, fresh: bool) -> PyResult<String> {
        let checked = py.detach(|| tameshi_oltp::check(&self.spec, fresh)).map_err(failed)?;
        serde_json::to_string(&checked).map_err(failed)
    }

    /// Cut the database's power: later answers do not count, and no client connects.
    fn fail_power(&self) {
        self.power.fail();
    }

    /// Restore the power, with the database running again.
    fn restore_power(&self) {
        self.power.restore();
    }

    /// Ask the run to stop soon and leave a usable partial result.
    fn stop(&self) {
        self.control.stop();
    }

    /// Progress of the run, as JSON.
    fn progress(&self) -> String {
        let progress = self.control.progress();
        json!({
            "elapsed_ns": progress.elapsed_ns, "phase": progress.phase,
            "operations_per_second": progress.operations_per_second, "latency_ns_mean": progress.latency_ns_mean,
            "bytes_written": progress.bytes_written,
        })
        .to_string()
    }
}

/// Pages, those that do not fit their checksum, and ranges left out.
type CheckedPages = (u64, u64, Vec<(u64, u64)>);

/// Check the pages of an InnoDB file.
#[pyfunction]
pub fn check_pages(py: Python<'_>, path: PathBuf) -> PyResult<CheckedPages> {
    let checked = py.detach(|| tameshi_oltp::check_pages(&path));
    let checked = checked.map_err(|error| failed(format!("{}: {error}", path.display())))?;
    let left_out = checked.left_out.iter().map(|pages| (pages.start, pages.end)).collect();
    Ok((checked.pages, checked.broken, left_out))
}

/// Rows of a query as JSON, each value as text or null.
#[pyfunction]
pub fn query(py: Python<'_>, target: &str, sql: &str) -> PyResult<String> {
    let target: Target = serde_json::from_str(target).map_err(failed)?;
    let rows = py.detach(|| Session::open(&target, &Plan::none())?.query(sql));
    let rows =
        rows.map_err(|failure: tameshi_oltp::Failure| failed(format!("{}: {}", failure.code, failure.message)))?;
    serde_json::to_string(&rows).map_err(failed)
}
