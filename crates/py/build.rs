//! Compute the core hash, which is part of a simulated run's identity.

use std::env;
use std::path::Path;

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    for path in tameshi_core_hash::inputs(&root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    match tameshi_core_hash::core_hash(&root) {
        Ok(hash) => println!("cargo::rustc-env=TAMESHI_CORE_HASH={hash}"),
        Err(why) => println!("cargo::error={}", why.replace('\n', " ")),
    }
}
