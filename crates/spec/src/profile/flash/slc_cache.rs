//! Figures of an SLC cache and of idling that a flash drive can't have, each with the reason.

use super::{FlashProfile, Idle, SlcCache};
use crate::profile::range::{Limit, MS, ProfileError, TIME, US, bad_value, conflict, sizes};
use tameshi_base::units::{Size, Time};

const PPM: u128 = 1_000_000;
/// Least part of the maximum; a smaller size is in the wrong unit.
const LEAST_SHARE: u64 = 900;

fn parts(flash: &FlashProfile, millionths: u128) -> u64 {
    (u128::from(flash.capacity.value.0) * millionths / PPM) as u64
}

/// Bytes that all flash holds with one bit in a cell.
fn with_one_bit(flash: &FlashProfile) -> u64 {
    parts(flash, PPM + u128::from(flash.over_provisioning.value.0)) / flash.nand.cell.value.bits() as u64
}

fn spare(flash: &FlashProfile) -> u64 {
    parts(flash, u128::from(flash.over_provisioning.value.0))
}

pub(super) fn cache_limits(cache: &SlcCache) -> [Limit<'static>; 2] {
    let at = |key| vec!["flash", "slc_cache", key];
    [
        Limit(cache.read_time.value.0, at("read_time"), TIME, 2 * US, MS),
        Limit(cache.program_time.value.0, at("program_time"), TIME, 20 * US, 10 * MS),
    ]
}

pub(super) fn idle_limits(idle: &Idle) -> [Limit<'static>; 1] {
    [Limit(idle.after.value.0, vec!["flash", "idle", "after"], TIME, 50 * MS, 45_000 * MS)]
}

pub(super) fn idle_conflict(flash: &FlashProfile, idle: &Idle) -> Option<ProfileError<'static>> {
    let erased = idle.erased.as_ref()?.value;
    let message = "an idle drive can't erase more than its spare, and what is far less is as good as none";
    out_of(&["flash", "idle", "erased"], erased, spare(flash), message)
}

/// Error of a value above its maximum, or too small a part of it.
fn out_of(path: &[&'static str], value: Size, most: u64, message: &str) -> Option<ProfileError<'static>> {
    let (least, most) = (whole(most / LEAST_SHARE), whole(most));
    if (least..=most).contains(&value) {
        return None;
    }
    bad_value(path, message, &sizes(least.0.into(), most.0.into()))
}

/// Rounded down to megabytes.
fn whole(bytes: u64) -> Size {
    Size(bytes / 1_000_000 * 1_000_000)
}

pub(super) fn cache_conflict(flash: &FlashProfile, cache: &SlcCache) -> Option<ProfileError<'static>> {
    let at = |key| ["flash", "slc_cache", key];
    if flash.nand.cell.value.bits() == 1 {
        return conflict(&at("size"), "the drive's cells hold one bit anyway", "no slc_cache");
    }
    if !flash.cleaning.separate_relocated.value {
        let message = "what leaves the cache needs blocks of its own";
        return conflict(&["flash", "cleaning", "separate_relocated"], message, "true beside an slc_cache");
    }
    let message =
        "all its flash does not hold more with one bit in a cell, and what is far less is as good as no cache";
    if let Some(found) = out_of(&at("size"), cache.size.value, with_one_bit(flash), message) {
        return Some(found);
    }
    let slowest = |times: &[Time]| times.iter().copied().max().unwrap_or_default();
    for (key, time, other, others) in [
        ("read_time", &cache.read_time, "read_time", &flash.nand.read_time.value),
        ("program_time", &cache.program_time, "program_time", &flash.nand.program_time.value),
    ] {
        let most = slowest(others);
        if time.value > most {
            let message = "a page with one bit in a cell takes no longer than others";
            return conflict(&at(key), message, &format!("up to the longest nand.{other}, {most}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::device_error;
    use crate::profile::{Device, DeviceProfile};

    type Change = fn(&mut FlashProfile);

    fn judged(change: impl Fn(&mut FlashProfile)) -> Option<(String, String)> {
        let text = include_str!("../../../../../python/tameshi/data/profiles/devices/nvme-tlc-1tb-consumer.toml");
        let mut device = toml::from_str::<DeviceProfile>(text).expect("a profile").device;
        let Device::Flash(flash) = &mut device else { panic!("a flash drive") };
        change(flash);
        device_error(&device).map(|found| (found.path[1..].join("."), found.message))
    }

    fn cache(flash: &mut FlashProfile) -> &mut SlcCache {
        flash.slc_cache.as_mut().expect("a cache")
    }

    fn idle(flash: &mut FlashProfile) -> &mut Idle {
        flash.idle.as_mut().expect("it does something")
    }

    #[test]
    fn a_cache_that_the_flash_can_not_have_is_refused_at_its_key() {
        assert_eq!(judged(|_| ()), None);
        let refused: [(&str, Change); 8] = [
            ("slc_cache.size.value", |flash| cache(flash).size.value = Size(400_000_000_000)),
            ("slc_cache.size.value", |flash| cache(flash).size.value.0 /= 1000),
            ("idle.erased.value", |flash| idle(flash).erased.as_mut().expect("some").value = Size(91_000_000_000)),
            ("idle.erased.value", |flash| idle(flash).erased.as_mut().expect("some").value = Size(18_000_000)),
            ("slc_cache.read_time.value", |flash| cache(flash).read_time.value = Time(66_000)),
            ("slc_cache.program_time.value", |flash| cache(flash).program_time.value = Time(1_200_000)),
            ("idle.after.value", |flash| idle(flash).after.value = Time(500_000)),
            ("cleaning.separate_relocated.value", |flash| flash.cleaning.separate_relocated.value = false),
        ];
        for (place, change) in refused {
            assert_eq!(judged(change).map(|(found, _)| found).as_deref(), Some(place));
        }
    }
}
