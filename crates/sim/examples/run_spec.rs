//! Simulation of runs from their `spec.json`, as in a worker: digest, status and seconds of each.
//!
//! For profilers, which need one process without Python:
//! `cargo run --release -p tameshi-sim --example run_spec -- FILE …`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use std::sync::Arc;
use std::time::Instant;
use tameshi_record::{Control, Writer};
use tameshi_spec::run::RunSpec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let spec: RunSpec = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        let folder = tempfile::tempdir()?;
        for name in ["series", "histograms"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        let mut writer = Writer::open(folder.path(), Arc::new(Control::default()))?;
        let begin = Instant::now();
        let (status, digest) = tameshi_sim::execute(&spec, &mut writer)?;
        println!("{digest} {} {:.2} s {file}", status.word(), begin.elapsed().as_secs_f64());
    }
    Ok(())
}
