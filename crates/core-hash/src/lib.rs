//! Hash of the code that decides a simulated result.
//!
//! A simulated run's identity contains this hash. The hash covers the tokens of the core crates
//! without comments and test code, and the locked packages that these crates depend on.

mod code;
mod packages;

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose code decides a simulated result.
const CORE: [&str; 5] = ["base", "record", "sim", "spec", "workload"];

/// Texts by path, relative to the repository.
type Files = BTreeMap<PathBuf, String>;

/// List the files and folders that the hash is computed from.
pub fn inputs(root: &Path) -> Vec<PathBuf> {
    let crates = CORE.iter().flat_map(|name| [source_folder(name), manifest_path(name)]);
    crates.chain(["Cargo.toml".into(), "Cargo.lock".into()]).map(|path| root.join(path)).collect()
}

/// Return the hash of the core crates in the repository at `root`, in hexadecimal.
///
/// # Errors
/// A sentence that names the file that is unreadable, or that the hash cannot cover.
pub fn core_hash(root: &Path) -> Result<String, String> {
    let mut sources = Files::new();
    let mut manifests = BTreeMap::new();
    for name in CORE {
        read_sources(root, &source_folder(name), &mut sources)?;
        manifests.insert(name, read(root, &manifest_path(name))?);
    }
    let workspace = read(root, Path::new("Cargo.toml"))?;
    let lock = read(root, Path::new("Cargo.lock"))?;
    Ok(hash(&code::code_of(&sources)?, &packages::packages_of(&manifests, &workspace, &lock)?))
}

fn source_folder(name: &str) -> PathBuf {
    Path::new("crates").join(name).join("src")
}

fn manifest_path(name: &str) -> PathBuf {
    Path::new("crates").join(name).join("Cargo.toml")
}

fn read(root: &Path, path: &Path) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_sources(root: &Path, folder: &Path, sources: &mut Files) -> Result<(), String> {
    let unreadable = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(root.join(folder)).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            read_sources(root, &path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(path.clone(), read(root, &path)?);
        }
    }
    Ok(())
}

fn hash(code: &Files, packages: &[String]) -> String {
    let mut hash = Sha256::new();
    // The length keeps texts apart that read the same when joined.
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for (path, tokens) in code {
        add(&path.to_string_lossy());
        add(tokens);
    }
    packages.iter().for_each(|package| add(package));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn hash_of_sources<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let sources = sources.into_iter().map(|(path, text)| (path.into(), text.into())).collect();
        hash(&code::code_of(&sources).expect("Rust"), &[])
    }

    #[test]
    fn core_crates_of_this_repository_have_a_hash() {
        let hash = core_hash(&root()).expect("every core file parses");
        assert_eq!(hash.len(), 64);
    }

    #[test]
    fn core_sources_with_added_comments_keep_their_code() {
        let mut sources = Files::new();
        for name in CORE {
            read_sources(&root(), &source_folder(name), &mut sources).expect("readable sources");
        }
        let code = code::code_of(&sources).expect("every core file parses");
        assert!(code.len() > 100 && code.len() < sources.len(), "{} of {}", code.len(), sources.len());
        for text in sources.values_mut() {
            *text = format!("//! Another first line.\n{text}\n/* A last comment. */\n");
        }
        assert_eq!(code::code_of(&sources).expect("every core file parses"), code);
    }

    #[test]
    fn inputs_of_this_repository_exist() {
        for path in inputs(&root()) {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn same_items_in_other_files_change_the_hash() {
        let items = ["fn a() { 1 }", "const B: u8 = 2;", "fn a() { 1 }", "struct C;"];
        let mut seen = BTreeMap::new();
        for split in 0..=items.len() {
            let (one, two) = items.split_at(split);
            let hash = hash_of_sources([("a.rs", one.join("\n").as_str()), ("b.rs", two.join("\n").as_str())]);
            assert_eq!(seen.insert(hash, split), None);
        }
    }

    #[test]
    fn renamed_source_changes_the_hash() {
        assert_ne!(hash_of_sources([("a.rs", "struct A;")]), hash_of_sources([("b.rs", "struct A;")]));
    }

    #[test]
    fn other_package_changes_the_hash() {
        assert_ne!(hash(&Files::new(), &["serde 1.0.0".into()]), hash(&Files::new(), &["serde 1.0.1".into()]));
    }
}
