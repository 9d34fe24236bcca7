//! What the sources must not hold: this crate opens, makes and removes nothing; the guard is the only door.

#[test]
fn nothing_is_opened_made_cut_or_removed_by_path() {
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
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("a source").path();
        let text = std::fs::read_to_string(&path).expect("a source");
        // Files of a directory that was handed over, by their numbers and nothing else; and the length of one.
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
    assert!(files > 10);
}

#[test]
fn a_hole_never_changes_a_files_length() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = std::fs::read_dir(folder).expect("the sources");
    let texts = sources.map(|entry| std::fs::read_to_string(entry.expect("a source").path()).expect("a source"));
    let text: String = texts.collect();
    let mode = "libc::c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;";
    assert_eq!((text.matches(mode).count(), text.matches("PUNCH_HOLE").count()), (1, 1), "in any of them");
}
