//! Profiles that a study can name: lookup, reading and checks.

use crate::profile::{DeviceProfile, EngineProfile, HostProfile, LinkProfile, ProfileError};
use crate::profile::{device_error, engine_error, host_error, link_error};
use crate::toml::document::{Source, Table, has_key, span_of};
use tameshi_base::{InputError, InputErrorKind};

/// Key of the values that a run adds to a flash drive.
const SIMULATED: &str = "simulated";

/// Profiles that can be named: `(name, file, text)` of each.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// Of devices.
    pub devices: Vec<(String, String, String)>,
    /// Of arrays.
    pub arrays: Vec<(String, String, String)>,
    /// Of links between hosts.
    pub links: Vec<(String, String, String)>,
    /// Of hosts.
    pub hosts: Vec<(String, String, String)>,
    /// Of database engines.
    pub engines: Vec<(String, String, String)>,
}

impl Profiles {
    /// The names of all device profiles, sorted.
    pub fn device_names(&self) -> Vec<String> {
        names(&self.devices)
    }

    /// The names of all link profiles, sorted.
    pub fn link_names(&self) -> Vec<String> {
        names(&self.links)
    }

    /// The name of the profile of a product in this version: the one whose version is the longest
    /// beginning of it; without a version the newest.
    pub fn engine_name(&self, product: &str, version: Option<&str>) -> Option<String> {
        let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
        let versions = self.engines.iter().filter_map(|(name, ..)| name.strip_prefix(product)?.strip_prefix('-'));
        let begins = |whole: &str, begin: &str| {
            whole.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let fits = versions.filter(|known| version.is_none_or(|asked| begins(asked, known)));
        let best = fits.max_by_key(|known| (known.len() * usize::from(version.is_some()), numbers(known)))?;
        Some(format!("{product}-{best}"))
    }

    /// Reads a device profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn device(&self, name: &str) -> Option<Result<DeviceProfile, InputError>> {
        read(&self.devices, name, |source, table| {
            whole_drive(source, table)?;
            let profile: DeviceProfile = source.typed(table).map_err(without_simulated)?;
            check(source, table, "device", device_error(&profile.device))?;
            Ok(profile)
        })
    }

    /// Reads a link profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn link(&self, name: &str) -> Option<Result<LinkProfile, InputError>> {
        read(&self.links, name, |source, table| {
            let profile: LinkProfile = source.typed(table)?;
            check(source, table, "link", link_error(&profile.link.figures()))?;
            Ok(profile)
        })
    }

    /// Reads a host profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn host(&self, name: &str) -> Option<Result<HostProfile, InputError>> {
        read(&self.hosts, name, |source, table| {
            let profile: HostProfile = source.typed(table)?;
            check(source, table, "host", host_error(&profile.host))?;
            Ok(profile)
        })
    }

    /// Reads an engine profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn engine(&self, name: &str) -> Option<Result<EngineProfile, InputError>> {
        read(&self.engines, name, |source, table| {
            let profile: EngineProfile = source.typed(table)?;
            check(source, table, "engine", engine_error(&profile.engine))?;
            Ok(profile)
        })
    }
}

/// The names of some profiles, sorted.
pub(crate) fn names(profiles: &[(String, String, String)]) -> Vec<String> {
    let mut names: Vec<String> = profiles.iter().map(|(name, ..)| name.clone()).collect();
    names.sort();
    names
}

/// Reads the profile of this name as `typed` does, if there is one.
pub(crate) fn read<'p, T>(
    profiles: &'p [(String, String, String)],
    name: &str,
    typed: impl FnOnce(Source<'p>, &Table<'p>) -> Result<T, InputError>,
) -> Option<Result<T, InputError>> {
    let (_, file, text) = profiles.iter().find(|(other, ..)| other == name)?;
    let source = Source { file, text };
    Some(source.parse().and_then(|table| typed(source, &table)))
}

/// Refuse keys of the simulation in a device profile.
fn whole_drive(source: Source<'_>, table: &Table<'_>) -> Result<(), InputError> {
    let path = ["device", "flash", SIMULATED];
    if !has_key(table, &path) {
        return Ok(());
    }
    let message = "a profile describes the whole drive; `storage.NAME` in the study says how it is simulated";
    let mut error = source.error_at(table, &path, InputErrorKind::UnknownKey, message);
    (error.found, error.accepted) = (SIMULATED.into(), vec!["no such key".into()]);
    Err(error)
}

/// Removes the values that a run adds to a drive from the accepted keys, because a profile has
/// none.
fn without_simulated(mut error: InputError) -> InputError {
    if error.kind == InputErrorKind::UnknownKey {
        error.accepted.retain(|key| key != SIMULATED);
        error.did_you_mean = error.did_you_mean.filter(|key| key != SIMULATED);
    }
    error
}

/// Fail with the error of a profile, if there is one.
fn check(source: Source<'_>, table: &Table<'_>, what: &str, wrong: Option<ProfileError<'_>>) -> Result<(), InputError> {
    let Some(wrong) = wrong else { return Ok(()) };
    let path: Vec<&str> = [what].into_iter().chain(wrong.path).collect();
    let mut error = source.error_at(table, &path, wrong.kind, wrong.message);
    let found = source.text_at(span_of(table, &path));
    if has_key(table, &path) && path.last() != Some(&found.as_str()) {
        error.found = found;
    }
    if !wrong.accepted.is_empty() {
        error.accepted = vec![wrong.accepted];
    }
    Err(error)
}
