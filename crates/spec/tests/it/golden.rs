//! Snapshots of error texts: a file per test module, a section `== name` per case.

use std::collections::BTreeMap;
use std::panic::Location;
use std::path::Path;
use std::sync::Mutex;

/// Guards the snapshot files, because tests of one module run at the same time.
static FILES: Mutex<()> = Mutex::new(());

/// Compare `text` with the section `name` of the caller's snapshot file. `TAMESHI_GOLDEN=write`
/// writes the section instead; review it before committing.
#[track_caller]
pub fn check_golden(name: &str, text: &str) {
    let topic = Path::new(Location::caller().file()).file_stem().expect("a source file").to_string_lossy();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/golden/{topic}.txt"));
    let _guard = FILES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut sections = sections(&std::fs::read_to_string(&path).unwrap_or_default());
    if std::env::var("TAMESHI_GOLDEN").is_ok_and(|value| value == "write") {
        sections.insert(name.into(), text.trim_end().into());
        let all: Vec<String> = sections.iter().map(|(name, text)| format!("== {name}\n{text}\n")).collect();
        std::fs::write(&path, all.join("\n")).expect("the golden folder can be written");
    }
    let golden = sections.get(name).unwrap_or_else(|| panic!("{topic}.txt has no section `{name}`"));
    assert_eq!(text.trim_end(), golden, "section `{name}` of {topic}.txt");
}

/// Sections of a snapshot file by name.
fn sections(file: &str) -> BTreeMap<String, String> {
    let parts = file.strip_prefix("== ").unwrap_or_default().split("\n== ");
    let named = parts.filter_map(|part| part.split_once('\n'));
    named.map(|(name, text)| (name.to_string(), text.trim_end().to_string())).collect()
}
