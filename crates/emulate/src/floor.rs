//! Latencies of an idle drive, to compare with the time that the path takes.

use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_sim::stack;
use tameshi_spec::profile::Device;
use tameshi_spec::run::Node;

const BLOCK: u32 = 4096;
/// Capacity from which a flash drive is scaled down: its size does not change these latencies.
const ENOUGH_BYTES: u64 = 4 << 30;

/// Return the latencies of one read, one write and one flush of an idle drive, 4 KiB each.
///
/// # Errors
/// A sentence that names the value no such drive can have.
pub fn idle_latencies(node: &Node) -> Result<[Nanos; 3], String> {
    let mut node = node.clone();
    let scale = node.capacity().0 / ENOUGH_BYTES;
    if let Device::Flash(flash) = node.drive_mut() {
        let most = flash.nand.pages_per_block.value;
        flash.simulated.scale = u32::try_from(scale).unwrap_or(most).clamp(flash.simulated.scale, most);
    }
    let mut device = stack::node(&node)?;
    let mut now = 1_000_000_000;
    let mut completions = Vec::new();
    let mut latency = |(id, kind): (u64, CommandKind)| {
        while let Some(at) = device.next_wake().filter(|&at| at < now) {
            device.advance(at, &mut completions);
        }
        let length_bytes = if kind == CommandKind::Flush { 0 } else { BLOCK };
        device.submit(now, &Command { id, kind, offset_bytes: 0, length_bytes, fua: false, stream: 0 });
        completions.clear();
        let begin = now;
        while completions.is_empty() {
            now = device.next_wake().expect("a command is under way");
            device.advance(now, &mut completions);
        }
        let took = now - begin;
        now += 1_000_000_000;
        took
    };
    Ok([(0, CommandKind::Read), (1, CommandKind::Write), (2, CommandKind::Flush)].map(&mut latency))
}
