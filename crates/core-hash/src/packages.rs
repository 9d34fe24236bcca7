//! Locked packages that decide a simulated result.

use crate::CORE;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Lock {
    /// Return the packages that a dependency entry names: `name` or `name version`.
    fn found(&self, entry: &str) -> Result<Vec<&Package>, String> {
        let mut words = entry.split(' ');
        let (name, version) = (words.next(), words.next());
        let is_meant = |package: &&Package| {
            Some(&*package.name) == name && version.is_none_or(|version| package.version == version)
        };
        let packages = Vec::from_iter(self.package.iter().filter(is_meant));
        if packages.is_empty() {
            return Err(format!(
                "Cargo.lock: no package `{entry}`, which a core crate depends on: let cargo check lock it"
            ));
        }
        Ok(packages)
    }
}

/// List the features that each core crate requests of its dependencies, and the locked packages
/// that the core crates depend on, directly or not.
///
/// Development dependencies do not count. The lock lists them with the others, so the manifests
/// of the core crates tell them apart.
pub(crate) fn packages_of(
    manifests: &BTreeMap<&str, String>,
    workspace: &str,
    lock: &str,
) -> Result<Vec<String>, String> {
    let table = |text: &str, file: &str| text.parse::<Table>().map_err(|error| format!("{file}: {error}"));
    let workspace = table(workspace, "Cargo.toml")?;
    let shared = workspace.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let lock: Lock = toml::from_str(lock).map_err(|error| format!("Cargo.lock: {error}"))?;

    let mut lines = BTreeSet::new();
    let mut open = Vec::new();
    for (name, manifest) in manifests {
        let features = features(&table(manifest, &format!("crates/{name}/Cargo.toml"))?, shared);
        for package in lock.found(&format!("tameshi-{name}"))? {
            let entries = package.dependencies.iter();
            open.extend(
                entries.filter(|entry| entry.split(' ').next().is_some_and(|name| features.contains_key(name))),
            );
        }
        lines.extend(features.iter().map(|(package, features)| format!("{name}: {package} {features:?}")));
    }
    while let Some(entry) = open.pop() {
        for package in lock.found(entry)? {
            let Package { name, version, source, checksum, dependencies } = package;
            // A core crate's sources are hashed, and its dependencies are open from the start.
            if name.strip_prefix("tameshi-").is_some_and(|name| CORE.contains(&name)) {
                continue;
            }
            // A package from git has no checksum, but its source names the commit.
            let Some(content) = checksum.as_ref().or(source.as_ref()) else {
                return Err(format!(
                    "Cargo.lock: a core crate depends on `{name}`, expected a published package or one of {CORE:?}: \
                     add it to CORE in crates/core-hash"
                ));
            };
            if lines.insert(format!("{name} {version} {content}")) {
                open.extend(dependencies);
            }
        }
    }
    Ok(lines.into_iter().collect())
}

/// Return the features that a manifest requests, by package. Development dependencies are left out.
fn features(manifest: &Table, shared: Option<&Value>) -> BTreeMap<String, BTreeSet<String>> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let of_targets = targets.filter_map(|target| target.get("dependencies"));
    let tables = manifest.get("dependencies").into_iter().chain(of_targets).filter_map(Value::as_table);
    let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (key, own) in tables.flatten() {
        let inherits = own.get("workspace").is_some();
        let places = [Some(own), shared.filter(|_| inherits).and_then(|shared| shared.get(key))];
        let places = Vec::from_iter(places.into_iter().flatten());
        let package = places.iter().find_map(|place| place.get("package")?.as_str()).unwrap_or(key);
        let requested = features.entry(package.into()).or_default();
        if places.iter().all(|place| place.get("default-features").and_then(Value::as_bool) != Some(false)) {
            requested.insert("default".into());
        }
        let lists = places.iter().filter_map(|place| place.get("features")?.as_array());
        requested.extend(lists.flatten().filter_map(|feature| Some(feature.as_str()?.into())));
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = r#"
        [workspace.dependencies]
        tameshi-base = { path = "crates/base" }
        json = { package = "serde_json", version = "1.0", features = ["preserve_order"] }
        proptest = "1"
    "#;
    const BASE: &str = r#"
        [dependencies]
        json.workspace = true
        [target.'cfg(unix)'.dependencies]
        libc = { version = "0.2", default-features = false }
        [dev-dependencies]
        proptest.workspace = true
    "#;
    const SIM: &str = "[dependencies]\ntameshi-base.workspace = true\n";
    const LOCK: &str = r#"
        [[package]]
        name = "tameshi-base"
        version = "0.1.0"
        dependencies = ["serde_json", "libc 0.2.1", "proptest"]
        [[package]]
        name = "tameshi-sim"
        version = "0.1.0"
        dependencies = ["tameshi-base"]
        [[package]]
        name = "serde_json"
        version = "1.0.1"
        source = "registry"
        checksum = "aa"
        dependencies = ["itoa"]
        [[package]]
        name = "itoa"
        version = "1.0.2"
        source = "git+https://example.org/itoa#77"
        [[package]]
        name = "libc"
        version = "0.2.1"
        source = "registry"
        checksum = "bb"
        [[package]]
        name = "libc"
        version = "0.1.0"
        source = "registry"
        checksum = "cc"
        [[package]]
        name = "proptest"
        version = "1.0.0"
        source = "registry"
        checksum = "dd"
        dependencies = ["libc 0.1.0"]
    "#;

    fn packages(base: &str, workspace: &str, lock: &str) -> Result<Vec<String>, String> {
        packages_of(&BTreeMap::from([("base", base.into()), ("sim", SIM.into())]), workspace, lock)
    }

    #[test]
    fn packages_are_those_that_core_code_depends_on() {
        let expected = [
            r#"base: libc {}"#,
            r#"base: serde_json {"default", "preserve_order"}"#,
            "itoa 1.0.2 git+https://example.org/itoa#77",
            "libc 0.2.1 bb",
            "serde_json 1.0.1 aa",
            r#"sim: tameshi-base {"default"}"#,
        ];
        assert_eq!(packages(BASE, WORKSPACE, LOCK).expect("packages"), expected);
    }

    #[test]
    fn bumped_development_dependency_keeps_the_packages() {
        let bumped = LOCK.replace("\"dd\"", "\"ee\"").replace("\"cc\"", "\"ff\"");
        assert_eq!(packages(BASE, WORKSPACE, &bumped), packages(BASE, WORKSPACE, LOCK));
    }

    #[test]
    fn bumped_version_of_the_workspace_keeps_the_packages() {
        let bumped = LOCK.replace("0.1.0\"\n        dependencies", "0.2.0\"\n        dependencies");
        assert_ne!(bumped, LOCK);
        assert_eq!(packages(BASE, WORKSPACE, &bumped), packages(BASE, WORKSPACE, LOCK));
    }

    #[test]
    fn bumped_indirect_dependency_changes_the_packages() {
        assert_ne!(packages(BASE, WORKSPACE, &LOCK.replace("#77", "#78")), packages(BASE, WORKSPACE, LOCK));
    }

    #[test]
    fn other_feature_changes_the_packages() {
        let other = WORKSPACE.replace("preserve_order", "float_roundtrip");
        assert_ne!(packages(BASE, &other, LOCK), packages(BASE, WORKSPACE, LOCK));
    }

    #[test]
    fn crate_outside_the_core_is_refused() {
        let lock = LOCK.replace("        source = \"git+https://example.org/itoa#77\"\n", "");
        let refused = packages(BASE, WORKSPACE, &lock).expect_err("a package of the workspace");
        assert!(refused.starts_with("Cargo.lock: a core crate depends on `itoa`, expected"), "{refused}");
    }

    #[test]
    fn package_missing_from_the_lock_is_refused() {
        let refused = packages(BASE, WORKSPACE, &LOCK.replace("name = \"itoa\"", "name = \"ryu\""));
        assert!(refused.is_err_and(|why| why.starts_with("Cargo.lock: no package `itoa`")));
    }
}
