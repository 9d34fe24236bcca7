//! Values of a profile that no device can have, each with the reason.
//!
//! The limits are wide, but those of each time, rate and power are less than a factor of a thousand
//! apart: what is in the wrong unit lies outside.

use super::range::{ProfileError, capacity, outside};
use super::{Device, flash, hdd, volume, xpoint};

/// The first thing in a profile that can't be.
pub(crate) fn device_error(device: &Device) -> Option<ProfileError<'static>> {
    match device {
        Device::Null(null) => outside("device", vec![capacity(null.capacity.value, "null", 1)]),
        Device::Hdd(hdd) => hdd::hard_disk(hdd),
        Device::Flash(flash) => flash::flash_drive(flash),
        Device::XPoint(xpoint) => xpoint::xpoint_drive(xpoint),
        Device::Volume(volume) => volume::volume(volume),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DeviceProfile, HostProfile, host_error};
    use std::path::Path;
    use tameshi_base::units::{Rate, Temperature, Time};

    /// The value of a line as it would be in the wrong unit, in place of itself; `None` where it
    /// has none, or nothing is left of it.
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

    /// A time, a rate or a temperature scaled, anything else as it is; `None` where nothing is
    /// left.
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
    fn device_values_off_by_a_thousand_are_refused() {
        let refused =
            refused_in("devices", |text| Ok(device_error(&toml::from_str::<DeviceProfile>(text)?.device).is_some()));
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn host_values_off_by_a_thousand_are_refused() {
        let refused = refused_in("hosts", |text| Ok(host_error(&toml::from_str::<HostProfile>(text)?.host).is_some()));
        assert!(refused > 150, "{refused}");
    }

    fn profile(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../python/tameshi/data/profiles/devices/{name}.toml"));
        std::fs::read_to_string(path).expect("a profile")
    }

    fn judged(text: &str) -> Option<ProfileError<'static>> {
        device_error(&toml::from_str::<DeviceProfile>(text).expect("a profile").device)
    }

    /// The profile with another value for the first line of a key.
    fn with(name: &str, key: &str, value: &str) -> String {
        let text = profile(name);
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key)).expect(key);
        text.replacen(line, &format!("{key} = {{ value = {value}, source = \"a test\" }}"), 1)
    }

    #[test]
    fn sizes_and_counts_off_by_a_thousand_are_refused_at_their_key() {
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
    fn capacity_off_by_a_thousand_is_refused_with_a_geometry() {
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
    fn reserve_blocks_up_to_the_spare_are_accepted() {
        let refused = judged(&with("nvme-tlc-3.84tb", "reserve_blocks", "60_000")).expect("too many");
        let most: u32 = refused.accepted.trim_start_matches("2 to ").parse().expect("a range");
        assert!(judged(&with("nvme-tlc-3.84tb", "reserve_blocks", &most.to_string())).is_none());
        assert!(judged(&with("nvme-tlc-3.84tb", "reserve_blocks", &(most + 1).to_string())).is_some());
    }

    /// Tries every value of the profiles in a folder in the wrong unit; how many were refused,
    /// which is all of them.
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
