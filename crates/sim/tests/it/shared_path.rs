//! One path through a flash drive's controllers for the host's data and for what cleaning moves.

use crate::support::{SECOND, assert_close, flash, flash_drive, for_time, run, sourced, spec};
use tameshi_base::Share;
use tameshi_base::units::{Rate, Size};
use tameshi_spec::profile::{FlashProfile, SharedPath, Simulated, Written};
use tameshi_workload::StreamSpec;

const READS: u64 = 400_000_000;
const WRITES: u64 = 100_000_000;

/// Drive whose path is its only limit: many fast dies.
fn drive(written: Written) -> FlashProfile {
    let mut drive = flash_drive(1 << 30);
    drive.nand.read_time.value.fill(tameshi_base::units::Time(5_000));
    drive.nand.program_time.value.fill(tameshi_base::units::Time(20_000));
    drive.controller.channel_rate = sourced(Rate(3_200 * SECOND));
    let (read_rate, write_rate) = (sourced(Rate(READS * 1000)), sourced(Rate(WRITES * 1000)));
    drive.controller.shared_path = Some(SharedPath { read_rate, write_rate });
    drive.simulated = Simulated { written, ..Simulated::default() };
    drive
}

/// Bytes a second of a mix of 4 KiB at depth 64, and its write amplification.
fn rate(written: Written, read: u32) -> (f64, f64) {
    let stream = StreamSpec { read: Share(read), queue_depth: 64, block_size: Size(4096), ..StreamSpec::default() };
    let mut of = spec(flash(drive(written)), stream, for_time(SECOND));
    of.storage[0].size = Size(1 << 30);
    let left = run(&of);
    let bytes = (left.sum("read.bytes") + left.sum("write.bytes")) as f64;
    let [host, moved] = ["host", "moved"].map(|of| left.sum(&format!("flash.{of}_bytes")) as f64);
    (bytes, (host + moved) / host.max(1.0))
}

#[test]
fn mix_is_the_harmonic_mean_of_reads_and_writes() {
    for share in [1_000_000, 700_000, 500_000] {
        let (found, _) = rate(Written::Once, share);
        let read = f64::from(share) / 1e6;
        let expected = 1.0 / (read / READS as f64 + (1.0 - read) / WRITES as f64);
        if share == 1_000_000 {
            assert_close(found, expected, 0.01, "reads");
        } else {
            assert!(found < 1.01 * expected, "{share}: {found} beyond {expected}");
        }
    }
}

#[test]
fn steady_writes_are_the_path_over_write_amplification() {
    let (found, amplification) = rate(Written::Steady, 0);
    assert!(amplification > 1.5, "it cleans: {amplification} at {found}");
    assert_close(found, WRITES as f64 / amplification, 0.03, "writes");
}
