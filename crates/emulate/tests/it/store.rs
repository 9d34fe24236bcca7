//! Bytes, holes, memory and the limit of a store.

use proptest::prelude::*;
use tameshi_emulate::{PAGE, Store};

const PAGES: u64 = 200;

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
    fn store_equals_plain_memory(changes in proptest::collection::vec(change(), 1..60)) {
        let mut store = Store::new(PAGES * PAGE, PAGES * PAGE).expect("memory");
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
fn zeros_on_a_hole_take_no_memory() {
    let mut store = Store::new(1 << 40, 1 << 20).expect("memory");
    for at in 0..1000 {
        store.write(at << 28, &[0; 1 << 16]).expect("no room needed");
    }
    assert_eq!(store.used_bytes(), 0);
}

#[test]
fn full_store_refuses_new_pages_only() {
    let mut store = Store::new(1 << 40, 4 * PAGE).expect("memory");
    store.write(0, &[1; 4 * PAGE as usize]).expect("room for four pages");
    assert!(store.write(1 << 30, &[1; 512]).is_err());
    store.write(PAGE, &[2; PAGE as usize]).expect("a page that it has");
    store.clear(0, PAGE).expect("a hole");
    store.write(1 << 30, &[1; 512]).expect("room again");
    assert_eq!(store.used_bytes(), 4 * PAGE);
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
