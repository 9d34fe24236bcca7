//! Bans on the sources: this crate opens, creates and removes nothing; only the guard does.

use std::path::{Path, PathBuf};

/// Paths of all sources.
fn sources() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("a source").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

#[test]
fn sources_open_and_remove_nothing_by_path() {
    let banned = [
        "File::open",
        "File::create",
        "OpenOptions",
        "std::fs",
        "fs::",
        "libc::open",
        "openat",
        "creat(",
        "unlink",
        "truncate",
        "libc::FALLOC_FL_COLLAPSE",
        "libc::FALLOC_FL_ZERO",
        "remove_",
        "rename",
        "mkdir",
        "Path",
    ];
    let mut files = 0;
    for path in sources() {
        let text = std::fs::read_to_string(&path).expect("a source");
        // Allowed: files of an open directory by their numbers, and the length of a file.
        let by_number = path.ends_with("files.rs");
        let known = ["libc::open", "openat", "unlink", "truncate"];
        let allowed = |word: &&&str| by_number && known.contains(*word);
        let found: Vec<&&str> =
            banned.iter().filter(|word| text.contains(**word)).filter(|word| !allowed(word)).collect();
        for call in ["libc::openat(", "libc::unlinkat("].into_iter().filter(|_| by_number) {
            let numbered = text.matches(&format!("{call}directory, name, ")).count();
            assert_eq!(text.matches(call).count(), numbered, "{call}");
            assert!(numbered > 0 && text.matches("let name = name_of(number, &mut buffer)").count() == 2);
        }
        assert!(found.is_empty(), "{} holds {found:?}", path.display());
        files += 1;
    }
    assert!(files > 20);
}

#[test]
fn punching_a_hole_keeps_the_file_length() {
    let text: String = sources().iter().map(|path| std::fs::read_to_string(path).expect("a source")).collect();
    let mode = "libc::c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;";
    assert_eq!((text.matches(mode).count(), text.matches("PUNCH_HOLE").count()), (1, 1), "in any of them");
}
