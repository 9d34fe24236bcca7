//! Profiles that a study can name.

use crate::document::Source;
use crate::profile::{DeviceProfile, EngineProfile, HostProfile, LinkProfile};
use tameshi_base::{InputError, InputErrorKind};

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
        let mut names: Vec<String> = self.devices.iter().map(|(name, ..)| name.clone()).collect();
        names.sort();
        names
    }

    /// Reads a host profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn host(&self, name: &str) -> Option<Result<HostProfile, InputError>> {
        let (_, file, text) = self.hosts.iter().find(|(other, ..)| other == name)?;
        let source = Source { file, text };
        Some(source.parse().and_then(|table| {
            let profile: HostProfile = source.typed(&table)?;
            crate::check::host_profile(source, &table, &profile)?;
            Ok(profile)
        }))
    }

    /// The name of the profile of a product in this version: the one whose version is the longest beginning of it; without a
    /// version the newest.
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

    /// Reads an engine profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn engine(&self, name: &str) -> Option<Result<EngineProfile, InputError>> {
        let (_, file, text) = self.engines.iter().find(|(other, ..)| other == name)?;
        let source = Source { file, text };
        Some(source.parse().and_then(|table| {
            let profile: EngineProfile = source.typed(&table)?;
            crate::check::engine_profile(source, &table, &profile)?;
            Ok(profile)
        }))
    }

    /// The names of all link profiles, sorted.
    pub fn link_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.links.iter().map(|(name, ..)| name.clone()).collect();
        names.sort();
        names
    }

    /// Reads a link profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn link(&self, name: &str) -> Option<Result<LinkProfile, InputError>> {
        let (_, file, text) = self.links.iter().find(|(other, ..)| other == name)?;
        let source = Source { file, text };
        Some(source.parse().and_then(|table| {
            let profile: LinkProfile = source.typed(&table)?;
            crate::check::link(source, &table, &profile)?;
            Ok(profile)
        }))
    }

    /// Reads a device profile.
    ///
    /// # Errors
    /// In the profile's own file, at the first thing that can't be.
    pub fn device(&self, name: &str) -> Option<Result<DeviceProfile, InputError>> {
        let (_, file, text) = self.devices.iter().find(|(other, ..)| other == name)?;
        let source = Source { file, text };
        Some(source.parse().and_then(|table| {
            crate::check::whole_drive(source, &table)?;
            let profile: DeviceProfile = source.typed(&table).map_err(without_simulated)?;
            crate::check::profile(source, &table, &profile)?;
            Ok(profile)
        }))
    }
}

/// What a run adds to a drive is no key of a profile.
fn without_simulated(mut error: InputError) -> InputError {
    if error.kind == InputErrorKind::UnknownKey {
        error.accepted.retain(|key| key != crate::check::SIMULATED);
        error.did_you_mean = error.did_you_mean.filter(|key| key != crate::check::SIMULATED);
    }
    error
}
