//! Test bench: a target with guarded bytes around its payload, a run folder, and access to its
//! record.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tameshi_base::{Size, Slow, Time};
use tameshi_blockio::{Backend, BlockError, RunOutcome, Target, execute};
use tameshi_record::{Control, Writer};
use tameshi_spec::run::{PhaseSpec, PhaseStream, RUN_SPEC_VERSION, RunSpec, Start, StorageSpec, Until, World};
use tameshi_workload::StreamSpec;
use tempfile::TempDir;

pub const BLOCK: u64 = 4096;
pub const HEADER: u64 = 2 * BLOCK;
const GUARD: u8 = 0xA5;

/// Folders for targets: an ordinary file system, and one in memory.
pub fn places() -> Vec<PathBuf> {
    let memory = PathBuf::from("/dev/shm");
    let mut places = vec![std::env::temp_dir()];
    places.extend(memory.is_dir().then_some(memory));
    places
}

/// Backends that work here.
pub fn backends() -> Vec<Backend> {
    let bench = Bench::new(&std::env::temp_dir(), BLOCK);
    let works = |&backend: &Backend| !matches!(bench.lay_out(backend), Err(BlockError::System { .. }));
    [Backend::Portable, Backend::Uring].into_iter().filter(works).collect()
}

/// Target file and run folder.
pub struct Bench {
    folder: TempDir,
    pub payload_bytes: u64,
    pub control: Arc<Control>,
}

impl Bench {
    /// Create a payload of zeros in `place`, with guarded bytes before and after it.
    pub fn new(place: &Path, payload_bytes: u64) -> Self {
        let folder = tempfile::tempdir_in(place).expect("a folder");
        for sub in ["series", "histograms"] {
            std::fs::create_dir(folder.path().join(sub)).expect("a folder");
        }
        let file = File::create(folder.path().join("target")).expect("a target");
        let guard = [GUARD; HEADER as usize];
        file.write_all_at(&guard, 0).expect("a header");
        file.write_all_at(&guard, HEADER + payload_bytes).expect("a tail");
        Self { folder, payload_bytes, control: Arc::default() }
    }

    /// Path of a file in the run folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Overwrite bytes of the payload from outside the run.
    pub fn damage(&self, offset: u64, bytes: &[u8]) {
        let file = File::from(self.file(true, false));
        file.write_all_at(bytes, HEADER + offset).expect("a target");
        file.sync_all().expect("a target");
    }

    /// Return once `count` phases of the run have ended.
    pub fn await_phases(&self, count: usize) {
        let ended = || {
            let text = std::fs::read_to_string(self.path("events.jsonl")).unwrap_or_default();
            text.matches("\"phase_end\"").count()
        };
        while ended() < count {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    pub fn file(&self, write: bool, direct: bool) -> OwnedFd {
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let file =
            OpenOptions::new().read(true).write(write).custom_flags(flags).open(self.folder.path().join("target"));
        file.expect("a target").into()
    }

    pub fn target(&self) -> Target {
        Target {
            fd: self.file(true, true),
            data_offset: HEADER,
            data_bytes: self.payload_bytes,
            direct: true,
            buffered: None,
        }
    }

    /// The same target, opened through the page cache.
    pub fn buffered(&self) -> Target {
        Target { fd: self.file(true, false), direct: false, ..self.target() }
    }

    pub fn lay_out(&self, backend: Backend) -> Result<tameshi_record::RunStatus, BlockError> {
        tameshi_blockio::lay_out(&self.target(), 5, backend, &self.control)
    }

    /// Run the phases on the target, as storage `disk`.
    pub fn run(&self, phases: Vec<PhaseSpec>, backend: Backend) -> Result<RunOutcome, BlockError> {
        self.run_on(phases, backend, vec![("disk".to_string(), self.target())], now())
    }

    pub fn run_on(
        &self,
        phases: Vec<PhaseSpec>,
        backend: Backend,
        targets: Vec<(String, Target)>,
        t0: u64,
    ) -> Result<RunOutcome, BlockError> {
        let sizes = targets.iter().map(|(name, target)| (name.clone(), target.data_bytes)).collect();
        execute(&spec(phases, sizes), targets, (t0, Slow::NONE), backend, &mut self.writer())
    }

    /// Run a spec whose only storage is the target.
    pub fn run_spec(&self, spec: &RunSpec, backend: Backend) -> Result<RunOutcome, BlockError> {
        execute(spec, vec![("disk".to_string(), self.target())], (now(), Slow::NONE), backend, &mut self.writer())
    }

    pub fn writer(&self) -> Writer {
        Writer::open(self.folder.path(), Arc::clone(&self.control)).expect("a run folder")
    }

    /// Payload, after a check that nothing around it was touched.
    pub fn payload(&self) -> Vec<u8> {
        let bytes = std::fs::read(self.folder.path().join("target")).expect("a target");
        let (header, rest) = bytes.split_at(HEADER as usize);
        let (payload, tail) = rest.split_at(self.payload_bytes as usize);
        assert!(header.iter().chain(tail).all(|&byte| byte == GUARD), "bytes outside the payload were written");
        assert_eq!(tail.len() as u64, HEADER);
        payload.to_vec()
    }

    /// Numbers of the payload's blocks that are not zeros.
    pub fn touched(&self) -> Vec<usize> {
        let payload = self.payload();
        let blocks = payload.chunks(BLOCK as usize).enumerate();
        blocks.filter(|(_, block)| block.iter().any(|&byte| byte != 0)).map(|(number, _)| number).collect()
    }

    pub fn events(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder.path().join("events.jsonl")).expect("events");
        text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
    }

    pub fn kinds(&self) -> Vec<String> {
        self.events().iter().map(|event| event["kind"].as_str().expect("a kind").to_string()).collect()
    }

    /// Rows of the series: end, length, subject, metric, value.
    pub fn rows(&self) -> Vec<(u64, u64, String, String, u64)> {
        let text = std::fs::read_to_string(self.folder.path().join("series/load.csv")).expect("series");
        let number = |text: &str| text.parse().expect("a number");
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (number(cells[0]), number(cells[1]), cells[2].to_string(), cells[3].to_string(), number(cells[4]))
        };
        text.lines().skip(1).map(row).collect()
    }

    /// Sum of each metric over all subjects and intervals.
    pub fn sums(&self) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for (.., metric, value) in self.rows() {
            *sums.entry(metric).or_insert(0) += value;
        }
        sums
    }

    pub fn histograms(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("histograms/load.hlog")).expect("histograms")
    }
}

pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub fn spec(phases: Vec<PhaseSpec>, storages: Vec<(String, u64)>) -> RunSpec {
    let storage = |(name, bytes)| {
        (name, StorageSpec { size: Size(bytes), scale: 1, sparse: false, ignores_flush: false, model: None })
    };
    RunSpec {
        schema_version: RUN_SPEC_VERSION,
        study: "bench".into(),
        world: World::Measured,
        cell: indexmap::IndexMap::new(),
        unknown: indexmap::IndexMap::new(),
        repetition: 0,
        seed: 42,
        start: Start::AsIs,
        interval: Time(50_000_000),
        storage: storages.into_iter().map(storage).collect(),
        host: None,
        phases,
        engines: Default::default(),
        database: None,
        events: Default::default(),
        rounds: vec![],
    }
}

pub fn by_amount(bytes: u64) -> Until {
    Until { amount: Some(Size(bytes)), ..Until::default() }
}

pub fn by_time(milliseconds: u64) -> Until {
    Until { time: Some(Time(milliseconds * 1_000_000)), ..Until::default() }
}

/// Phase whose streams all work on `disk`.
pub fn phase(until: Until, streams: Vec<(&str, StreamSpec)>) -> PhaseSpec {
    let stream = |(name, stream): (&str, StreamSpec)| PhaseStream { name: name.into(), storage: "disk".into(), stream };
    PhaseSpec {
        name: "phase".into(),
        levels: indexmap::IndexMap::new(),
        streams: streams.into_iter().map(stream).collect(),
        programs: vec![],
        ramp: Time(0),
        until,
    }
}

/// Refusals of the measured world, each as `key: message`.
pub fn refused(spec: &RunSpec) -> Vec<String> {
    tameshi_blockio::refusals(spec).iter().map(ToString::to_string).collect()
}
