//! Values of a profile that no device can have, each with the reason.
//!
//! The limits are wide, but those of each time, rate and power are less than a factor of a thousand apart: what is in the wrong unit
//! lies outside.

use super::cache_limits::{cache_conflict, cache_limits, idle_conflict, idle_limits};
use super::geometry_limits::{disk_conflict, flash_geometry_conflict, xpoint_conflict};
use super::limit::{
    COUNT, Impossible, Limit, MB_PER_S, MS, RATE, SIZE, Spell, TIME, US, bad, capacity, conflict, or_none, outside,
};
use super::power_limits::{drawn, draws_more_idle, power_conflict, power_limits};
use super::{CleaningPolicy, Device, FlashProfile, HddProfile, HostLink, Pcie, XPointProfile};
use tameshi_base::InputErrorKind;
use tameshi_base::units::Size;

/// Of a drive's link: the first generation of SATA carries 150 MB/s, 16 lanes of PCI Express 5.0 carry 63 GB/s.
const SLOWEST_LINK: u64 = 100 * MB_PER_S;
const FASTEST_LINK: u64 = 80_000 * MB_PER_S;
/// Commands per second that electronics start, in thousandths.
const SLOWEST_ELECTRONICS: u64 = 20_000_000;
const FASTEST_ELECTRONICS: u64 = 15_000_000_000;

/// Commands outstanding: Serial ATA holds 32, SAS some hundreds; NVMe as many as a queue of its largest has.
const DEEPEST_OF_DISKS: u64 = 4_096;
const DEEPEST: u64 = 65_536;
/// Blocks that are drawn to reclaim the best of them: of a thousand it lies within the best thousandth of all.
const MOST_DRAWN: u32 = 1_000;
/// Functions (SR-IOV), virtual ones included: drives have dozens to hundreds of them.
const MOST_FUNCTIONS: u64 = 1_024;
/// Bytes of a drive of 3D XPoint: a single die has 16 GB, and no drive has had more than some TB.
const XPOINT: (u64, u64) = (16_000_000_000, 15_000_000_000_000);

/// The first thing in a profile that can't be.
pub(crate) fn impossible(device: &Device) -> Option<Impossible<'static>> {
    match device {
        Device::Null(null) => outside("device", vec![capacity(null.capacity.value, "null", 1)]),
        Device::Hdd(hdd) => hard_disk(hdd),
        Device::Flash(flash) => flash_drive(flash),
        Device::XPoint(xpoint) => xpoint_drive(xpoint),
        Device::Volume(volume) => super::volume_limits::volume(volume),
    }
}

fn hard_disk(hdd: &HddProfile) -> Option<Impossible<'static>> {
    let at = |key| vec!["hdd", key];
    let limits = vec![
        Limit(hdd.revolution.value.0, at("revolution"), TIME, MS, 100 * MS),
        or_none(Limit(hdd.seek_min.value.0, at("seek_min"), TIME, 50 * US, 20 * MS)),
        or_none(Limit(hdd.seek_average.value.0, at("seek_average"), TIME, 200 * US, 100 * MS)),
        or_none(Limit(hdd.command_overhead.value.0, at("command_overhead"), TIME, 10 * US, 5 * MS)),
        capacity(hdd.capacity.value, "hdd", 1_000_000),
        Limit(u64::from(hdd.cylinders.value), at("cylinders"), COUNT, 1, 10_000_000),
        Limit(u64::from(hdd.queue_depth.value), at("queue_depth"), COUNT, 1, DEEPEST_OF_DISKS),
        Limit(hdd.media_rate.value.0, at("media_rate"), RATE, 2 * MB_PER_S, 1_000 * MB_PER_S),
    ];
    let cache = hdd.write_cache.iter().map(|size| Limit(size.value.0, at("write_cache"), SIZE, 1 << 16, 1 << 32));
    let ahead = hdd.read_ahead.iter().map(|size| Limit(size.value.0, at("read_ahead"), SIZE, 4 << 10, 64 << 20));
    let age = hdd.age_limit.iter().map(|time| Limit(time.value.0, at("age_limit"), TIME, 20 * MS, 10_000 * MS));
    let zones = hdd.zones.iter().flat_map(|zones| {
        let at = |key| vec!["hdd", "zones", key];
        let rates = [("outer_rate", &zones.outer_rate), ("inner_rate", &zones.inner_rate)];
        let rates = rates.map(|(key, rate)| Limit(rate.value.0, at(key), RATE, 2 * MB_PER_S, 1_000 * MB_PER_S));
        let most = u64::from(hdd.cylinders.value);
        rates.into_iter().chain([Limit(u64::from(zones.count.value), at("count"), COUNT, 1, most)])
    });
    let drawn = hdd.power.iter().flat_map(|power| drawn("hdd", power));
    let limits = limits.into_iter().chain(cache).chain(ahead).chain(age).chain(zones).chain(drawn).collect();
    outside("hard disk", limits).or_else(|| {
        if hdd.seek_average.value < hdd.seek_min.value {
            return conflict(
                &["hdd", "seek_average"],
                "the mean seek is shorter than the shortest",
                "seek_min or more",
            );
        }
        draws_more_idle("hdd", hdd.power.as_ref()).or_else(|| zones_conflict(hdd)).or_else(|| disk_conflict(hdd))
    })
}

fn zones_conflict(hdd: &HddProfile) -> Option<Impossible<'static>> {
    let zones = hdd.zones.as_ref()?;
    if zones.outer_rate.value < zones.inner_rate.value {
        let message = "the innermost zone is faster than the outermost";
        return conflict(&["hdd", "zones", "inner_rate"], message, "outer_rate or less");
    }
    let within = zones.inner_rate.value <= hdd.media_rate.value && hdd.media_rate.value <= zones.outer_rate.value;
    let message = "the mean rate is not between those of the zones";
    if within { None } else { conflict(&["hdd", "media_rate"], message, "inner_rate to outer_rate") }
}

/// The most commands behind a link: one that carries data one way at a time is a disk's.
fn deepest(link: &HostLink) -> u64 {
    if link.half_duplex.value { DEEPEST_OF_DISKS } else { DEEPEST }
}

fn link_limits(model: &'static str, link: &HostLink) -> [Limit<'static>; 2] {
    [("read_rate", &link.read_rate), ("write_rate", &link.write_rate)]
        .map(|(key, rate)| Limit(rate.value.0, vec![model, "link", key], RATE, SLOWEST_LINK, FASTEST_LINK))
}

/// Lanes or a generation that PCI Express does not have: which key, why, and what it has.
pub(crate) fn impossible_pcie(pcie: Pcie) -> Option<(&'static str, &'static str, &'static str)> {
    if !pcie.has_generation() {
        return Some(("generation", "there is no such generation of PCI Express, or none that is modelled", "1 to 5"));
    }
    (!pcie.has_lanes()).then_some(("lanes", "PCI Express has no link of so many lanes", "1, 2, 4, 8 or 16"))
}

/// A link that its lanes don't carry.
fn link_conflict(model: &'static str, link: &HostLink) -> Option<Impossible<'static>> {
    let pcie = link.pcie.as_ref()?.value;
    if let Some((key, message, accepted)) = impossible_pcie(pcie) {
        let path = vec![model, "link", "pcie", "value", key];
        let (message, accepted) = (message.into(), accepted.into());
        return Some(Impossible { path, kind: InputErrorKind::BadValue, message, accepted });
    }
    if link.half_duplex.value {
        let message = "PCI Express carries data both ways at once";
        return conflict(&[model, "link", "half_duplex"], message, "false");
    }
    let most = pcie.carries_at_most();
    let rates = [("read_rate", &link.read_rate), ("write_rate", &link.write_rate)];
    let (key, _) = rates.into_iter().find(|(_, rate)| rate.value > most)?;
    bad(&[model, "link", key], &format!("{pcie} does not carry so much"), &format!("up to {most}"))
}

fn flash_drive(flash: &FlashProfile) -> Option<Impossible<'static>> {
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

/// Program and erase cycles that flash with so many bits in a cell may last, generously.
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

const SHARE: Spell = |share| tameshi_base::Share(share as u32).to_string();

fn flash_conflict(flash: &FlashProfile) -> Option<Impossible<'static>> {
    let (nand, bits) = (&flash.nand, flash.nand.cell.value.bits());
    for (key, times) in [("read_time", &nand.read_time.value), ("program_time", &nand.program_time.value)] {
        if times.len() != bits {
            let accepted = format!("a list of {bits}, one for each bit of a cell");
            return conflict(&["flash", "nand", key], "there must be as many times as a cell has bits", &accepted);
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
    // Each controller fills a program unit of its own before it goes to its die, and one of cold data where these lie apart.
    let filling = u64::from(flash.controller.count.value) * if flash.cleaning.separate_hot.is_some() { 2 } else { 1 };
    let least = filling * u64::from(nand.planes.value) * nand.page.value.0;
    if flash.buffer.size.value.0 < least {
        let message = "the buffer does not hold a page of each plane for each controller: it would never be emptied";
        return conflict(&["flash", "buffer", "size"], message, &format!("at least {}", Size(least)));
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
        .or_else(|| link_conflict("flash", &flash.link))
        .or_else(|| flash.power.as_ref().and_then(power_conflict))
        .or_else(|| flash.slc_cache.as_ref().and_then(|cache| cache_conflict(flash, cache)))
        .or_else(|| flash.idle.as_ref().and_then(|idle| idle_conflict(flash, idle)))
}

/// Blocks drawn of which none is the best, or so many that the best of them is as good as the best of all.
fn drawn_conflict(policy: CleaningPolicy) -> Option<Impossible<'static>> {
    let CleaningPolicy::Choices { drawn } = policy else { return None };
    let message = match drawn {
        0 => "a choice among no blocks is none",
        _ if drawn > MOST_DRAWN => {
            "the best of so many blocks is as good as the best of all, which `greedy` finds at once"
        }
        _ => return None,
    };
    let path = vec!["flash", "cleaning", "policy", "value", "choices", "drawn"];
    let (kind, accepted) = (InputErrorKind::BadValue, format!("1 to {MOST_DRAWN}"));
    Some(Impossible { path, kind, message: message.into(), accepted })
}

fn xpoint_drive(xpoint: &XPointProfile) -> Option<Impossible<'static>> {
    let at = |key| vec!["xpoint", key];
    let mut limits = vec![
        Limit(xpoint.capacity.value.0, at("capacity"), SIZE, XPOINT.0, XPOINT.1),
        Limit(xpoint.access_unit.value.0, at("access_unit"), SIZE, 64, 64 << 10),
        Limit(u64::from(xpoint.channels.value), at("channels"), COUNT, 1, 256),
        Limit(xpoint.read_time.value.0, at("read_time"), TIME, 100, 50 * US),
        Limit(xpoint.write_time.value.0, at("write_time"), TIME, 200, 100 * US),
        or_none(Limit(xpoint.read_overhead.value.0, at("read_overhead"), TIME, 500, 400 * US)),
        or_none(Limit(xpoint.write_overhead.value.0, at("write_overhead"), TIME, 500, 400 * US)),
        Limit(xpoint.command_rate.value.0, at("command_rate"), RATE, SLOWEST_ELECTRONICS, FASTEST_ELECTRONICS),
        Limit(u64::from(xpoint.queue_depth.value), at("queue_depth"), COUNT, 1, deepest(&xpoint.link)),
    ];
    limits.extend(link_limits("xpoint", &xpoint.link));
    limits
        .extend(xpoint.functions.iter().map(|f| Limit(u64::from(f.value), at("functions"), COUNT, 1, MOST_FUNCTIONS)));
    limits.extend(xpoint.power.iter().flat_map(|power| drawn("xpoint", power)));
    let drawn = || draws_more_idle("xpoint", xpoint.power.as_ref());
    let geometry = || xpoint_conflict(xpoint);
    outside("3D XPoint drive", limits)
        .or_else(geometry)
        .or_else(drawn)
        .or_else(|| link_conflict("xpoint", &xpoint.link))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DeviceProfile, HostProfile, impossible_host};
    use std::path::Path;
    use tameshi_base::units::{Rate, Temperature, Time};

    /// The value of a line as it would be in the wrong unit, in place of itself; `None` where it has none, or nothing is left of it.
    fn in_the_wrong_unit(line: &str, too_large: bool) -> Option<String> {
        let (key, rest) = line.split_once("{ value = ")?;
        let (value, source) = rest.split_once(", source")?;
        let scaled = |number: u64| if too_large { number * 1000 } else { number / 1000 };
        let powers = {
            let name = key.split_whitespace().next()?;
            ["_mw", "_nj", "_per_w", "_per_k"].iter().any(|end| name.ends_with(end))
        };
        let written = if powers {
            scaled(value.parse().ok()?).to_string()
        } else {
            let parts: Vec<String> = value.split('"').map(|part| wrong_text(part, scaled)).collect::<Option<_>>()?;
            let wrong = parts.join("\"");
            if wrong == value {
                return None;
            }
            wrong
        };
        Some(format!("{key}{{ value = {written}, source{source}"))
    }

    /// A time, a rate or a temperature scaled, anything else as it is; `None` where nothing is left.
    fn wrong_text(part: &str, scaled: impl Fn(u64) -> u64) -> Option<String> {
        let (found, wrong) = match (Time::parse(part), Rate::parse(part), Temperature::parse(part)) {
            (Ok(Time(time)), ..) => (time, Time(scaled(time)).to_string()),
            (_, Ok(Rate(rate)), _) => (rate, Rate(scaled(rate)).to_string()),
            (.., Ok(Temperature(of))) => (of.into(), Temperature(scaled(of.into()) as u32).to_string()),
            _ => return Some(part.to_string()),
        };
        (found == 0 || scaled(found) > 0).then_some(wrong)
    }

    #[test]
    fn each_time_rate_and_power_of_each_profile_is_refused_when_it_is_off_by_a_factor_of_a_thousand() {
        let refused =
            refused_in("devices", |text| Ok(impossible(&toml::from_str::<DeviceProfile>(text)?.device).is_some()));
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn each_time_and_rate_of_each_host_is_refused_when_it_is_off_by_a_factor_of_a_thousand() {
        let refused =
            refused_in("hosts", |text| Ok(impossible_host(&toml::from_str::<HostProfile>(text)?.host).is_some()));
        assert!(refused > 150, "{refused}");
    }

    fn profile(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../python/tameshi/data/profiles/devices/{name}.toml"));
        std::fs::read_to_string(path).expect("a profile")
    }

    fn judged(text: &str) -> Option<Impossible<'static>> {
        impossible(&toml::from_str::<DeviceProfile>(text).expect("a profile").device)
    }

    /// The profile with another value for the first line of a key.
    fn with(name: &str, key: &str, value: &str) -> String {
        let text = profile(name);
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key)).expect(key);
        text.replacen(line, &format!("{key} = {{ value = {value}, source = \"a test\" }}"), 1)
    }

    #[test]
    fn a_size_or_a_count_off_by_a_factor_of_a_thousand_is_refused_at_its_key() {
        for (name, key, value, place) in [
            ("es3000-1.2t", "size", "\"16 GiB\"", "buffer.size"),
            ("nvme-tlc-1tb-consumer", "size", "\"8 GiB\"", "buffer.size"),
            ("es3000-1.2t", "interleave", "\"4 MiB\"", "controller.interleave"),
            ("flashmax2-2.2t", "interleave", "\"64 MiB\"", "controller.interleave"),
            ("nvme-qlc-15.36tb", "atomic_write", "\"16 MiB\"", "atomic_write"),
            ("es3000-1.2t", "queue_depth", "512_000", "controller.queue_depth"),
            ("sata-ssd-480gb", "queue_depth", "32_000", "controller.queue_depth"),
            ("sas-15k-146gb", "queue_depth", "32_000", "queue_depth"),
            ("optane-p4800x-375g", "queue_depth", "512_000", "queue_depth"),
            ("sas-15k-146gb", "cylinders", "1", "capacity"),
            ("sas-15k-146gb", "read_ahead", "\"512 B\"", "read_ahead"),
            ("sas-15k-146gb", "read_ahead", "\"512 MiB\"", "read_ahead"),
            ("optane-p4800x-375g", "capacity", "\"1500 MB\"", "capacity"),
            ("optane-p4800x-375g", "capacity", "\"20 GB\"", "capacity"),
            ("es3000-1.2t", "reserve_blocks", "8000", "cleaning.reserve_blocks"),
            ("nvme-tlc-1tb-consumer", "map_write_time", "\"900 ms\"", "buffer.map_write_time"),
        ] {
            let found = judged(&with(name, key, value)).unwrap_or_else(|| panic!("{name}: {key} = {value} is taken"));
            assert_eq!(found.path[1..].join("."), format!("{place}.value"), "{name}");
            assert!(!found.accepted.is_empty());
        }
    }

    #[test]
    fn a_protected_drive_writes_no_map_for_a_flush() {
        let key = "map_write_time = { value = \"900 us\", source = \"a test\" }";
        let text =
            profile("es3000-1.2t").replacen("[device.flash.buffer]", &format!("[device.flash.buffer]\n{key}"), 1);
        assert_eq!(judged(&text).expect("a conflict").path[1..].join("."), "buffer.map_write_time.value");
    }

    #[test]
    fn a_capacity_off_by_a_factor_of_a_thousand_is_refused_of_every_drive_with_a_geometry() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tameshi/data/profiles/devices");
        let mut refused = 0;
        for entry in std::fs::read_dir(directory).expect("the profiles") {
            let path = entry.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let device = toml::from_str::<DeviceProfile>(&profile(&name)).expect("a profile").device;
            let capacity = match &device {
                Device::Hdd(hdd) => hdd.capacity.value.0,
                Device::Flash(flash) => flash.capacity.value.0,
                Device::XPoint(xpoint) => xpoint.capacity.value.0,
                Device::Null(_) | Device::Volume(_) => continue,
            };
            for wrong in [capacity * 1000, capacity / 1000] {
                let found = judged(&with(&name, "capacity", &format!("\"{wrong} B\"")));
                assert!(found.is_some(), "{name}: {wrong} bytes are taken");
                refused += 1;
            }
        }
        assert!(refused >= 40, "{refused}");
    }

    #[test]
    fn as_many_blocks_in_reserve_as_the_spare_has_are_taken_and_one_more_is_not() {
        let refused = judged(&with("nvme-tlc-3.84tb", "reserve_blocks", "60_000")).expect("too many");
        let most: u32 = refused.accepted.trim_start_matches("2 to ").parse().expect("a range");
        assert!(judged(&with("nvme-tlc-3.84tb", "reserve_blocks", &most.to_string())).is_none());
        assert!(judged(&with("nvme-tlc-3.84tb", "reserve_blocks", &(most + 1).to_string())).is_some());
    }

    /// Tries every value of the profiles in a folder in the wrong unit; how many were refused, which is all of them.
    fn refused_in(folder: &str, of: impl Fn(&str) -> Result<bool, toml::de::Error>) -> u32 {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tameshi/data/profiles").join(folder);
        let mut refused = 0;
        for entry in std::fs::read_dir(directory).expect("the profiles") {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a profile");
            assert!(of(&text).is_ok_and(|refused| !refused), "{}", path.display());
            for (line, too_large) in text.lines().flat_map(|line| [(line, false), (line, true)]) {
                let Some(wrong) = in_the_wrong_unit(line, too_large) else { continue };
                let found = of(&text.replacen(line, &wrong, 1));
                assert!(found.unwrap_or(true), "{}: {wrong}", path.display());
                refused += 1;
            }
        }
        refused
    }
}
