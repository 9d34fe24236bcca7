//! Ambient of a drive: temperature and slot.

use crate::errors::bad_value;
use crate::profile::{FlashProfile, Pcie, pcie_error};
use crate::run::node::Node;
use crate::toml::document::{Source, Table};
use tameshi_base::units::Temperature;
use tameshi_base::{InputError, InputErrorKind};

/// Puts a flash drive where it is so warm.
pub(crate) fn ambient(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    flash: &mut FlashProfile,
    ambient: Temperature,
) -> Result<(), InputError> {
    let error = |kind, message: &str| source.error_at(table, &["storage", name, "ambient"], kind, message);
    let Some((idle_mw, thermal)) =
        flash.power.as_mut().and_then(|power| Some((power.idle_mw.value, power.thermal.as_mut()?)))
    else {
        let message = "the drive's profile has no `power.thermal`: ambient has no effect";
        return Err(error(InputErrorKind::Conflict, message));
    };
    thermal.ambient.value = ambient;
    if thermal.never_released(idle_mw).is_some() {
        let message = "at this ambient an idle drive stays above the release of its throttle";
        let warmer = thermal.at_rest(idle_mw) - u64::from(ambient.0);
        let below = u64::from(thermal.release.value.0).saturating_sub(warmer);
        let mut error = error(InputErrorKind::BadValue, message);
        error.accepted = vec![format!("less than \"{}\"", Temperature(below as u32))];
        return Err(error);
    }
    Ok(())
}

/// Put the drives of a storage into slots, whose rate bounds both directions.
pub(crate) fn slot(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    model: &mut Node,
    slot: Pcie,
) -> Result<(), InputError> {
    if let Some((key, message, accepted)) = pcie_error(slot) {
        return Err(bad_value(source, table, &["storage", name, "slot", key], message, accepted));
    }
    let (drive, _) = model.drive();
    let message = format!("drive `{drive}` is not a PCI Express drive, by its profile");
    let link = model.drive_mut().link_mut();
    let Some((link, own)) = link.and_then(|link| link.pcie.as_ref().map(|pcie| pcie.value).map(|own| (link, own)))
    else {
        return Err(source.error_at(table, &["storage", name, "slot"], InputErrorKind::Conflict, message));
    };
    let trained = own.trained_with(slot);
    if trained.carries() < own.carries() {
        for rate in [&mut link.read_rate.value, &mut link.write_rate.value] {
            *rate = (*rate).min(trained.carries());
        }
    }
    if let Some(pcie) = &mut link.pcie {
        pcie.value = trained;
    }
    Ok(())
}
