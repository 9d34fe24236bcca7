//! Hashes the sources that decide a simulated result, so that a run's identity changes when a model does.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs};

const CORE: [&str; 5] = ["base", "record", "sim", "spec", "workload"];

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the crate has sources") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn main() {
    let crates = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in CORE {
        let folder = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        rust_files(&folder, &mut files);
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(&crates).expect("all lie below");
        hash.update(name.to_string_lossy().as_bytes());
        hash.update(fs::read(file).expect("a readable source"));
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=TAMESHI_CORE_HASH={hex}");
}
