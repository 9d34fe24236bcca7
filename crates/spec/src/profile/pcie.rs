//! PCI Express: rate by lanes and generation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use tameshi_base::units::Rate;

/// Lanes of PCI Express of one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pcie {
    /// Generation, 1 to 5.
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8 or 16.
    pub lanes: u32,
}

/// Widths that links train to.
pub(crate) const LANES: [u32; 5] = [1, 2, 4, 8, 16];
/// Millions of transfers per second on a lane, a bit each, by generation; and bits of data in so
/// many that cross (PCI Express Base Specification 5.0, sections 4.2.1 and 4.2.2).
const GENERATIONS: [(u64, u64, u64); 5] =
    [(2_500, 8, 10), (5_000, 8, 10), (8_000, 128, 130), (16_000, 128, 130), (32_000, 128, 130)];
/// Bytes of a packet besides its data: header of four words, sequence number and framing, check
/// (the same, sections 2.2 and 3.6).
const BESIDE: u64 = 24;
/// Bytes of data in a packet: the common setting of hosts, and the largest.
const USUAL: u64 = 256;
const LARGEST: u64 = 512;

impl Pcie {
    pub(crate) fn has_generation(self) -> bool {
        (1..=GENERATIONS.len() as u32).contains(&self.generation)
    }

    pub(crate) fn has_lanes(self) -> bool {
        LANES.contains(&self.lanes)
    }

    /// Bytes of data per second each way, in packets of the usual size. What acknowledgements and
    /// credits take is left out.
    pub fn carries(self) -> Rate {
        self.in_packets_of(USUAL)
    }

    /// The same in the largest packets that a host is set to: no drive moves more.
    pub fn carries_at_most(self) -> Rate {
        self.in_packets_of(LARGEST)
    }

    /// The link that a drive and a slot agree on.
    #[must_use]
    pub fn trained_with(self, slot: Self) -> Self {
        Self { generation: self.generation.min(slot.generation), lanes: self.lanes.min(slot.lanes) }
    }

    fn in_packets_of(self, bytes: u64) -> Rate {
        let (millions, of, coded) = GENERATIONS[(self.generation.max(1) as usize - 1).min(GENERATIONS.len() - 1)];
        let bits = u128::from(millions * u64::from(self.lanes)) * 1_000_000;
        let whole = bits * u128::from(of * bytes) / u128::from(8 * coded * (bytes + BESIDE));
        Rate(whole as u64 * 1000)
    }
}

impl fmt::Display for Pcie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PCI Express {}.0 x{}", self.generation, self.lanes)
    }
}

/// Return the error of lanes or a generation that PCI Express does not have: key, message, accepted
/// values.
pub(crate) fn pcie_error(pcie: Pcie) -> Option<(&'static str, &'static str, &'static str)> {
    if !pcie.has_generation() {
        return Some(("generation", "there is no such generation of PCI Express, or none that is modelled", "1 to 5"));
    }
    (!pcie.has_lanes()).then_some(("lanes", "PCI Express has no link of this width", "1, 2, 4, 8 or 16"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carries(generation: u32, lanes: u32) -> f64 {
        Pcie { generation, lanes }.carries().per_second() / 1e9
    }

    #[test]
    fn pcie_rate_excludes_coding_and_packet_headers() {
        // 5 Gbit/s, 8 of 10 bits, 256 of 280 bytes, 8 lanes; and 16 Gbit/s, 128 of 130 bits, 4
        // lanes.
        assert!((carries(2, 8) - 4.0 * 256.0 / 280.0).abs() < 1e-6);
        assert!((carries(4, 4) - 8.0 * 128.0 / 130.0 * 256.0 / 280.0).abs() < 1e-6);
        let largest = Pcie { generation: 3, lanes: 4 }.carries_at_most().per_second() / 1e9;
        assert!((largest - 4.0 * 128.0 / 130.0 * 512.0 / 536.0).abs() < 1e-6);
    }

    #[test]
    fn pcie_rate_halves_with_lanes_and_with_the_generation_before() {
        for generation in 1..=5 {
            assert!((carries(generation, 8) - 2.0 * carries(generation, 4)).abs() < 1e-6);
        }
        assert!((carries(2, 4) - carries(1, 8)).abs() < 1e-6);
        assert!((carries(4, 2) - carries(3, 4)).abs() < 1e-6);
    }

    #[test]
    fn drive_and_slot_train_to_the_common_link() {
        let (drive, slot) = (Pcie { generation: 4, lanes: 4 }, Pcie { generation: 3, lanes: 16 });
        assert_eq!(drive.trained_with(slot), Pcie { generation: 3, lanes: 4 });
        assert_eq!(drive.to_string(), "PCI Express 4.0 x4");
    }
}
