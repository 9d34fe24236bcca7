//! Every device profile of the repository describes a device that can be simulated.

use crate::support::*;
use std::path::Path;
use tameshi_base::units::Time;
use tameshi_sim::Device;
use tameshi_spec::profile::{self, DeviceProfile, HostProfile};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::{HostSpec, Node};
use tameshi_workload::StreamSpec;

pub fn texts(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tameshi/data/profiles").join(kind);
    let mut texts: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of profiles")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a profile")))
        .collect();
    texts.sort();
    texts
}

#[test]
fn every_device_profile_makes_a_device() {
    let texts = texts("devices");
    assert!(texts.len() >= 22, "{texts:?}");
    for (path, text) in texts {
        let profile: DeviceProfile = toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut device = profile.device;
        if let profile::Device::Flash(flash) = &mut device {
            flash.simulated.scale = 64;
        }
        Device::new(&device).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(!profile.description.is_empty(), "{path}");
    }
}

#[test]
fn every_link_profile_resolves() {
    let links: Vec<(String, String, String)> = texts("links")
        .into_iter()
        .map(|(path, text)| (Path::new(&path).file_stem().expect("a name").display().to_string(), path, text))
        .collect();
    assert!(links.len() >= 5, "{links:?}");
    let profiles = Profiles { links, ..Profiles::default() };
    for name in profiles.link_names() {
        profiles.link(&name).expect("it is there").unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Reads of 4 KiB per second that a host's profile lets through to devices without costs.
fn host_limit(name: &str, drive: &str, jobs: u32, queue_depth: u32) -> f64 {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../python/tameshi/data/profiles/hosts/{name}.toml"));
    let text = std::fs::read_to_string(path).expect("a host profile");
    let profile: HostProfile = toml::from_str(&text).expect("a host profile");
    let stream = StreamSpec { jobs, queue_depth, ..StreamSpec::default() };
    let mut spec = spec(null(), stream, for_time(SECOND / 5));
    spec.interval = Time(SECOND / 5);
    spec.host =
        Some(HostSpec { profile: name.into(), model: profile.host, cores: None, memory: None, submission: None });
    spec.storage[0].model = Some(Node::Device { profile: drive.into(), device: null() });
    run(&spec).sum("read.count") as f64 * 5.0
}

#[test]
fn fitted_hosts_do_what_they_were_fitted_on() {
    let found = host_limit("r630-2x-e5-2695v3-centos66", "xs1715", 256, 1);
    assert_close(found, 1_200_000.0, 0.02, "S4-0023: two drives, 256 threads");
    let found = host_limit("rd630-2x-e5-2620-windows", "es3000-1.2t", 16, 16);
    assert_close(found, 580_000.0, 0.02, "S1-0236: Windows, 16 threads of 16");
    let found = host_limit("guest-paravirtual", "es3600v3", 8, 32);
    assert_close(found, 128_712.0, 0.01, "S0-0637: a guest without SR-IOV");
}

#[test]
fn linux_on_the_same_machine_leaves_the_drive_the_limit() {
    let found = host_limit("rd630-2x-e5-2620-linux", "es3000-1.2t", 16, 16);
    assert!(found > 770_000.0 * 1.05, "{found}: S1-0041's 770 000 are the drive's own limit");
}
