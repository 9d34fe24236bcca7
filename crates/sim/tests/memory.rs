//! Memory of a simulated flash drive: a constant, and at most 8 bytes per mapping unit of its
//! flash.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "an allocator that counts is no part of a model"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use tameshi_base::{Command, CommandKind, Random};
use tameshi_sim::Device;
use tameshi_spec::profile::{self, DeviceProfile, Simulated, Written};

struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: as for the trait's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: as for the trait's method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as for the trait's method.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PROFILE: &str = include_str!("../../../python/tameshi/data/profiles/devices/nvme-tlc-3.84tb.toml");

/// Peak memory in bytes of a steady drive at a scale, with 256 commands outstanding, and the number
/// of its mapping units.
fn most_bytes(scale: u32) -> (f64, f64) {
    let profile: DeviceProfile = toml::from_str(PROFILE).expect("a profile");
    let profile::Device::Flash(mut flash) = profile.device else { panic!("a flash drive") };
    flash.simulated = Simulated { scale, written: Written::Steady, ..Simulated::default() };
    let bytes = flash.scaled_capacity().0;
    MOST.store(USED.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = USED.load(Ordering::Relaxed);
    let mut device = Device::new(&profile::Device::Flash(flash)).expect("a drive");
    let (mut done, mut random, mut issued) = (Vec::with_capacity(1024), Random::named(1, "offsets"), 0u64);
    let mut next = move |id| {
        let kind = if random.below(2) == 0 { CommandKind::Read } else { CommandKind::Write };
        let offset_bytes = random.below(bytes / 4096) * 4096;
        Command { id, kind, offset_bytes, length_bytes: 4096, fua: false, stream: 0 }
    };
    (0..256).for_each(|id| device.submit(0, &next(id)));
    while issued < 300_000 {
        let now = device.next_wake().expect("commands are outstanding");
        device.advance(now, &mut done);
        for completion in done.drain(..) {
            device.submit(now, &next(completion.command.id));
            issued += 1;
        }
    }
    let Device::Flash(flash) = &device else { panic!("a flash drive") };
    let units = flash.fills().map(|fill| fill.physical as f64).sum();
    ((MOST.load(Ordering::Relaxed) - before) as f64, units)
}

#[test]
fn flash_mapping_unit_takes_at_most_8_bytes() {
    let ((small, fewer), (large, more)) = (most_bytes(1152), most_bytes(288));
    let each = (large - small) / (more - fewer);
    assert!(each <= 8.0, "{each} bytes for each unit");
    let constant = small - each * fewer;
    assert!(constant < 2e6, "a constant of {constant} bytes");
    #[cfg(target_os = "linux")]
    a_whole_drive_takes_memory_only_where_it_is_written();
}

/// Resident bytes of this process.
#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
    let pages: u64 = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096
}

/// No test of its own: the other test counts every allocation of the process.
#[cfg(target_os = "linux")]
fn a_whole_drive_takes_memory_only_where_it_is_written() {
    let profile: DeviceProfile = toml::from_str(PROFILE).expect("a profile");
    let before = resident_bytes();
    let mut device = Device::new(&profile.device).expect("a drive");
    let mut done = vec![];
    for id in 0..16u64 {
        let (kind, offset_bytes) = (CommandKind::Write, id * 200_000_000_000 / 4096 * 4096);
        device.submit(0, &Command { id, kind, offset_bytes, length_bytes: 4096, fua: false, stream: 0 });
    }
    device.advance(1_000_000_000, &mut done);
    assert_eq!(done.len(), 16);
    let grown = resident_bytes() - before;
    assert!(grown < 200 << 20, "of 7.5 GB of maps {grown} bytes are there");
}
