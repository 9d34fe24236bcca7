//! Bytes, holes, memory and the limit of a store.

use proptest::prelude::*;
use std::path::Path;
use tameshi_emulate::{PAGE, Store};

const PAGES: u64 = 200;

fn in_memory(capacity_bytes: u64, limit_bytes: u64) -> Store {
    Store::new(capacity_bytes, limit_bytes).expect("memory")
}

fn on_disk(capacity_bytes: u64, limit_bytes: u64) -> Store {
    Store::in_directory(Path::new(env!("CARGO_TARGET_TMPDIR")), capacity_bytes, limit_bytes)
        .expect("a disk's file system")
}

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Clear(u64, u64),
}

fn change() -> impl Strategy<Value = Change> {
    let sectors = PAGES * PAGE / 512;
    let write = (0..sectors - 40, 1..40u64, 0..3u8)
        .prop_map(|(at, count, byte)| Change::Write(at * 512, vec![byte; (count * 512) as usize]));
    let clear = (0..sectors, 0..sectors).prop_map(|(at, count)| Change::Clear(at * 512, count * 512));
    prop_oneof![4 => write, 1 => clear]
}

proptest! {
    #[test]
    fn store_equals_plain_memory(
        changes in proptest::collection::vec(change(), 1..60),
        is_on_disk in any::<bool>(),
    ) {
        let mut store = if is_on_disk { on_disk(PAGES * PAGE, PAGES * PAGE) } else { in_memory(PAGES * PAGE, PAGES * PAGE) };
        let mut plain = vec![0_u8; (PAGES * PAGE) as usize];
        for change in changes {
            match change {
                Change::Write(at, data) => {
                    store.write(at, &data).expect("room");
                    plain[at as usize..at as usize + data.len()].copy_from_slice(&data);
                }
                Change::Clear(at, length) => {
                    store.clear(at, length).expect("a hole");
                    let end = ((at + length) as usize).min(plain.len());
                    plain[at as usize..end].fill(0);
                }
            }
            let mut read = vec![1; plain.len()];
            store.read(0, &mut read);
            prop_assert!(read == plain);
            let filled = plain.chunks(PAGE as usize).filter(|page| page.iter().any(|&byte| byte != 0)).count() as u64;
            prop_assert!(store.used_bytes() >= filled * PAGE);
        }
    }
}

#[test]
fn zeros_on_a_hole_take_no_room() {
    for mut store in [in_memory(1 << 40, 1 << 20), on_disk(1 << 40, 1 << 20)] {
        for at in 0..1000 {
            store.write(at << 28, &[0; 1 << 16]).expect("no room needed");
        }
        assert_eq!(store.used_bytes(), 0);
    }
}

#[test]
fn full_store_refuses_new_pages_only() {
    for mut store in [in_memory(1 << 40, 4 * PAGE), on_disk(1 << 40, 4 * PAGE)] {
        store.write(0, &[1; 4 * PAGE as usize]).expect("room for four pages");
        assert!(store.write(1 << 30, &[1; 512]).is_err());
        store.write(PAGE, &[2; PAGE as usize]).expect("a page that it has");
        store.clear(0, PAGE).expect("a hole");
        store.write(1 << 30, &[1; 512]).expect("room again");
        assert_eq!(store.used_bytes(), 4 * PAGE);
    }
}

#[test]
fn store_in_a_directory_has_no_name_there() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut store = Store::in_directory(directory.path(), 1 << 40, 1 << 20).expect("a file");
    store.write(0, &[1; 1 << 16]).expect("room");
    assert_eq!(directory.path().read_dir().expect("a directory").count(), 0);
}

#[test]
fn unfit_directory_is_refused_with_the_reason() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    let cases = [
        (Path::new("/nowhere/at/all"), 1 << 30, "there is no such directory"),
        (file.path(), 1 << 30, "this is no directory"),
        (Path::new("/proc"), 1 << 30, "no unnamed files (O_TMPFILE)"),
        (Path::new(env!("CARGO_TARGET_TMPDIR")), u64::MAX / 2, "holds no file of"),
    ];
    // SAFETY: a call without arguments, which cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    for (directory, bytes, reason) in cases {
        if directory == Path::new("/proc") && !is_root {
            continue; // Others may not even try.
        }
        let error = Store::in_directory(directory, bytes, 1 << 20).expect_err(reason);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn trim_gives_memory_back_to_the_machine() {
    let pages = 2000;
    let mut store = Store::new(1 << 40, 1 << 30).expect("memory");
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
        text.split(' ').nth(2).and_then(|shared| shared.parse::<u64>().ok()).expect("shared pages")
    };
    store.write(0, &vec![1; (pages * PAGE) as usize]).expect("room");
    let full = resident();
    store.clear(0, 1 << 40).expect("a hole");
    assert_eq!(store.used_bytes(), 0);
    assert!(full - resident() > pages * 9 / 10, "{full} pages, then {}", resident());
}
