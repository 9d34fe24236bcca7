//! Limits of the link between a drive and its host, and of the drive's electronics.

use super::HostLink;
use super::pcie::pcie_error;
use super::range::{Limit, MB_PER_S, ProfileError, RATE, bad_value, conflict};
use tameshi_base::InputErrorKind;

/// Of a drive's link: the first generation of SATA carries 150 MB/s, 16 lanes of PCI Express 5.0
/// carry 63 GB/s.
pub(super) const SLOWEST_LINK: u64 = 100 * MB_PER_S;
pub(super) const FASTEST_LINK: u64 = 80_000 * MB_PER_S;
/// Commands per second that electronics start, in thousandths.
pub(super) const SLOWEST_ELECTRONICS: u64 = 20_000_000;
pub(super) const FASTEST_ELECTRONICS: u64 = 15_000_000_000;
/// Commands outstanding: Serial ATA holds 32, SAS some hundreds; NVMe as many as a queue of its
/// largest has.
pub(super) const DEEPEST_OF_DISKS: u64 = 4_096;
pub(super) const DEEPEST: u64 = 65_536;
/// Functions (SR-IOV), virtual ones included: drives have dozens to hundreds of them.
pub(super) const MOST_FUNCTIONS: u64 = 1_024;

/// Return the largest queue of a link: a half-duplex link is a disk's.
pub(super) fn deepest(link: &HostLink) -> u64 {
    if link.half_duplex.value { DEEPEST_OF_DISKS } else { DEEPEST }
}

pub(super) fn link_limits(model: &'static str, link: &HostLink) -> [Limit<'static>; 2] {
    [("read_rate", &link.read_rate), ("write_rate", &link.write_rate)]
        .map(|(key, rate)| Limit(rate.value.0, vec![model, "link", key], RATE, SLOWEST_LINK, FASTEST_LINK))
}

/// A link that its lanes don't carry.
pub(super) fn link_conflict(model: &'static str, link: &HostLink) -> Option<ProfileError<'static>> {
    let pcie = link.pcie.as_ref()?.value;
    if let Some((key, message, accepted)) = pcie_error(pcie) {
        let path = vec![model, "link", "pcie", "value", key];
        let (message, accepted) = (message.into(), accepted.into());
        return Some(ProfileError { path, kind: InputErrorKind::BadValue, message, accepted });
    }
    if link.half_duplex.value {
        let message = "PCI Express carries data both ways at once";
        return conflict(&[model, "link", "half_duplex"], message, "false");
    }
    let most = pcie.carries_at_most();
    let rates = [("read_rate", &link.read_rate), ("write_rate", &link.write_rate)];
    let (key, _) = rates.into_iter().find(|(_, rate)| rate.value > most)?;
    bad_value(&[model, "link", key], &format!("{pcie} does not carry this rate"), &format!("up to {most}"))
}
