//! Values of a flash drive's profile that no drive has.

use super::geometry::flash_geometry_conflict;
use super::slc_cache::{cache_conflict, cache_limits, idle_conflict, idle_limits};
use super::{CleaningPolicy, FlashProfile, Jitter};
use crate::profile::distribution::{LatencyPoint, no_distribution};
use crate::profile::drive_link::{
    FASTEST_ELECTRONICS, FASTEST_LINK, MOST_FUNCTIONS, SLOWEST_ELECTRONICS, SLOWEST_LINK, deepest, link_conflict,
    link_limits,
};
use crate::profile::power::{power_conflict, power_limits};
use crate::profile::range::{
    COUNT, Limit, MB_PER_S, MS, ProfileError, RATE, SHARE, SIZE, TIME, US, bad_value, capacity, conflict, or_none,
    outside,
};
use tameshi_base::InputErrorKind;
use tameshi_base::units::Size;

/// Blocks that are drawn to reclaim the best of them: of a thousand it lies within the best
/// thousandth of all.
const MOST_DRAWN: u32 = 1_000;

/// Longest jitter of half of all commands, and of any.
const TYPICAL_JITTER: u64 = 200 * US;
const LONGEST_JITTER: u64 = 200 * MS;
/// Least jitter of the slowest command.
const LEAST_JITTER: u64 = 5 * US;

pub(in crate::profile) fn flash_drive(flash: &FlashProfile) -> Option<ProfileError<'static>> {
    let mut limits = nand_limits(flash);
    limits.extend(controller_limits(flash));
    limits.extend(link_limits("flash", &flash.link));
    limits.extend(flash.power.iter().flat_map(power_limits));
    limits.extend(flash.slc_cache.iter().flat_map(cache_limits));
    limits.extend(flash.idle.iter().flat_map(idle_limits));
    outside("flash drive", limits).or_else(|| flash_conflict(flash))
}

fn nand_limits(flash: &FlashProfile) -> Vec<Limit<'static>> {
    let (nand, retry) = (&flash.nand, flash.read_retry.iter());
    let at = |key| vec!["flash", "nand", key];
    let reads = nand.read_time.value.iter().map(|time| Limit(time.0, at("read_time"), TIME, 2 * US, MS));
    let programs = nand.program_time.value.iter().map(|time| Limit(time.0, at("program_time"), TIME, 40 * US, 20 * MS));
    let retries =
        retry.map(|retry| Limit(retry.retry_time.value.0, vec!["flash", "read_retry", "retry_time"], TIME, 2 * US, MS));
    let suspend =
        nand.suspend_time.iter().map(|time| or_none(Limit(time.value.0, at("suspend_time"), TIME, 500, 400 * US)));
    let (least_cycles, most_cycles) = cycles(nand.cell.value.bits());
    let mut limits = vec![
        capacity(flash.capacity.value, "flash", 1 << 20),
        Limit(u64::from(flash.over_provisioning.value.0), vec!["flash", "over_provisioning"], SHARE, 5_000, 1_000_000),
        Limit(flash.mapping_unit.value.0, vec!["flash", "mapping_unit"], SIZE, 512, 64 << 10),
        Limit(nand.page.value.0, at("page"), SIZE, 2 << 10, 64 << 10),
        Limit(u64::from(nand.pages_per_block.value), at("pages_per_block"), COUNT, 16, 8192),
        Limit(u64::from(nand.planes.value), at("planes"), COUNT, 1, 8),
        Limit(nand.erase_time.value.0, at("erase_time"), TIME, 200 * US, 100 * MS),
        Limit(u64::from(nand.endurance_cycles.value), at("endurance_cycles"), COUNT, least_cycles, most_cycles),
    ];
    let hot = flash.cleaning.separate_hot.iter();
    let hot =
        hot.map(|of| Limit(u64::from(of.value.0), vec!["flash", "cleaning", "separate_hot"], SHARE, 10_000, 1_000_000));
    limits.extend(reads.chain(programs).chain(retries).chain(suspend).chain(hot));
    limits
}

/// Range of program and erase cycles of flash by bits in a cell, generously.
fn cycles(bits: usize) -> (u64, u64) {
    match bits {
        1 => (5_000, 1_000_000),
        2 => (500, 200_000),
        3 => (100, 100_000),
        _ => (50, 30_000),
    }
}

fn controller_limits(flash: &FlashProfile) -> Vec<Limit<'static>> {
    let (controller, buffer) = (&flash.controller, &flash.buffer);
    let at = |key| vec!["flash", "controller", key];
    let count = |key, value: u32, least, most| Limit(u64::from(value), at(key), COUNT, least, most);
    let protection = buffer.power_loss_protection.iter();
    let mut limits = vec![
        count("count", controller.count.value, 1, 64),
        count("data_channels", controller.data_channels.value, 1, 256),
        count("parity_channels", controller.parity_channels.value, 0, 1),
        count("dies_per_channel", controller.dies_per_channel.value, 1, 64),
        count("queue_depth", controller.queue_depth.value, 1, deepest(&flash.link)),
        Limit(controller.interleave.value.0, at("interleave"), SIZE, 512, 1 << 20),
        Limit(controller.channel_rate.value.0, at("channel_rate"), RATE, 20 * MB_PER_S, 10_000 * MB_PER_S),
        Limit(controller.read_rate.value.0, at("read_rate"), RATE, SLOWEST_ELECTRONICS, FASTEST_ELECTRONICS),
        Limit(controller.write_rate.value.0, at("write_rate"), RATE, SLOWEST_ELECTRONICS, FASTEST_ELECTRONICS),
        or_none(Limit(controller.read_overhead.value.0, at("read_overhead"), TIME, 500, 400 * US)),
        or_none(Limit(controller.write_overhead.value.0, at("write_overhead"), TIME, 500, 400 * US)),
        Limit(buffer.size.value.0, vec!["flash", "buffer", "size"], SIZE, 64 << 10, 64 << 30),
        Limit(
            u64::from(flash.cleaning.reserve_blocks.value),
            vec!["flash", "cleaning", "reserve_blocks"],
            COUNT,
            2,
            1 << 16,
        ),
    ];
    let map = buffer.map_write_time.iter();
    limits
        .extend(map.map(|time| Limit(time.value.0, vec!["flash", "buffer", "map_write_time"], TIME, 40 * US, 30 * MS)));
    let atomic = flash.atomic_write.iter();
    limits.extend(atomic.map(|size| Limit(size.value.0, vec!["flash", "atomic_write"], SIZE, 0, 1 << 20)));
    let transfers = controller.transfer_rate.iter();
    limits.extend(transfers.map(|rate| Limit(rate.value.0, at("transfer_rate"), RATE, SLOWEST_LINK, FASTEST_LINK)));
    for path in controller.shared_path.iter() {
        for (rate, key) in [(&path.read_rate, "read_rate"), (&path.write_rate, "write_rate")] {
            let place = [at("shared_path"), vec![key]].concat();
            limits.push(Limit(rate.value.0, place, RATE, SLOWEST_LINK, FASTEST_LINK));
        }
    }
    limits.extend(controller.functions.iter().map(|functions| count("functions", functions.value, 1, MOST_FUNCTIONS)));
    limits.extend(protection.flat_map(|protection| {
        let times = [("flush_time", &protection.flush_time, 1), ("hold_up", &protection.hold_up, 10)];
        times.map(|(key, time, least)| {
            let at = vec!["flash", "buffer", "power_loss_protection", key];
            Limit(time.value.0, at, TIME, least * MS, least * 900 * MS)
        })
    }));
    limits
}

fn flash_conflict(flash: &FlashProfile) -> Option<ProfileError<'static>> {
    let (nand, bits) = (&flash.nand, flash.nand.cell.value.bits());
    for (key, times) in [("read_time", &nand.read_time.value), ("program_time", &nand.program_time.value)] {
        if times.len() != bits {
            let accepted = format!("a list of {bits}, one for each bit of a cell");
            return conflict(&["flash", "nand", key], "the number of times must equal the bits of a cell", &accepted);
        }
    }
    let unit = flash.mapping_unit.value.0;
    if !nand.page.value.0.is_multiple_of(unit) {
        let accepted = format!("a divisor of nand.page, {}", nand.page.value);
        return conflict(&["flash", "mapping_unit"], "a page must hold whole mapping units", &accepted);
    }
    let interleave = &flash.controller.interleave.value.0;
    if !interleave.is_multiple_of(unit) {
        let message = "controllers must interleave whole mapping units";
        let accepted = format!("a multiple of mapping_unit, {}", Size(unit));
        return conflict(&["flash", "controller", "interleave"], message, &accepted);
    }
    // Each controller fills a program unit of its own before it goes to its die, and one of cold
    // data where these lie apart.
    let filling = u64::from(flash.controller.count.value) * if flash.cleaning.separate_hot.is_some() { 2 } else { 1 };
    let least = filling * u64::from(nand.planes.value) * nand.page.value.0;
    if flash.buffer.size.value.0 < least {
        let message = "the buffer does not hold a page of each plane for each controller: it would never be emptied";
        return conflict(&["flash", "buffer", "size"], message, &format!("at least {}", Size(least)));
    }
    if flash.controller.shared_path.is_some() && flash.controller.transfer_rate.is_some() {
        let message = "a shared path has its own rates of reads and writes";
        return conflict(&["flash", "controller", "transfer_rate"], message, "one of the two");
    }
    if flash.buffer.map_write_time.is_some() && flash.buffer.power_loss_protection.is_some() {
        let message = "a drive with power_loss_protection writes its map when power fails, not for each flush";
        return conflict(&["flash", "buffer", "map_write_time"], message, "one of the two");
    }
    if flash.atomic_write.as_ref().is_some_and(|size| !size.value.0.is_multiple_of(unit) || size.value.0 == 0) {
        let message = "what is written atomically is a number of mapping units";
        return conflict(&["flash", "atomic_write"], message, "a multiple of mapping_unit");
    }
    if flash.cleaning.separate_hot.is_some() && !flash.cleaning.separate_relocated.value {
        let message = "hot data lie apart only where relocated data have blocks of their own";
        return conflict(&["flash", "cleaning", "separate_hot"], message, "separate_relocated = true beside it");
    }
    drawn_conflict(flash.cleaning.policy.value)
        .or_else(|| flash_geometry_conflict(flash))
        .or_else(|| flash.jitter.as_ref().and_then(jitter_error))
        .or_else(|| link_conflict("flash", &flash.link))
        .or_else(|| flash.power.as_ref().and_then(power_conflict))
        .or_else(|| flash.slc_cache.as_ref().and_then(|cache| cache_conflict(flash, cache)))
        .or_else(|| flash.idle.as_ref().and_then(|idle| idle_conflict(flash, idle)))
}

/// Error of a spread that no drive has.
fn jitter_error(jitter: &Jitter) -> Option<ProfileError<'static>> {
    let accepted = "points such as { share = \"0 %\", time = \"0 us\" }, … { share = \"100 %\", time = \"500 us\" }";
    [("read", &jitter.read.value), ("write", &jitter.write.value)].into_iter().find_map(|(key, points)| {
        let is_slow = |point: &LatencyPoint| {
            point.time.0 > if point.share.0 <= 500_000 { TYPICAL_JITTER } else { LONGEST_JITTER }
        };
        let slow = "no drive takes so much longer: more than 200 us for half of all commands, or 200 ms for any";
        let is_none = points.last().is_some_and(|point| point.time.0 < LEAST_JITTER);
        let none = "no drive's slowest command takes less than 5 us longer: nanoseconds for microseconds?";
        let why = no_distribution(points)
            .or_else(|| points.iter().any(is_slow).then_some(slow))
            .or_else(|| is_none.then_some(none))?;
        bad_value(&["flash", "jitter", key], why, accepted)
    })
}

/// Error of a number of drawn blocks: zero, or so large that the best of them equals the best of
/// all.
fn drawn_conflict(policy: CleaningPolicy) -> Option<ProfileError<'static>> {
    let CleaningPolicy::Choices { drawn } = policy else { return None };
    let message = match drawn {
        0 => "a choice needs at least one block",
        _ if drawn > MOST_DRAWN => "the best of this many blocks equals the best of all; use `greedy`",
        _ => return None,
    };
    let path = vec!["flash", "cleaning", "policy", "value", "choices", "drawn"];
    let (kind, accepted) = (InputErrorKind::BadValue, format!("1 to {MOST_DRAWN}"));
    Some(ProfileError { path, kind, message: message.into(), accepted })
}
