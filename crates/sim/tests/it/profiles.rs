//! Every device profile of the repository describes a device that can be simulated.

use std::path::Path;
use tameshi_sim::Device;
use tameshi_spec::profile::DeviceProfile;
use tameshi_spec::resolve::Profiles;

fn texts(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles").join(kind);
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
    assert!(texts.len() >= 3, "{texts:?}");
    for (path, text) in texts {
        let profile: DeviceProfile = toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        Device::new(&profile.device).unwrap_or_else(|error| panic!("{path}: {error}"));
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
