//! What a study says of a drive's surroundings: how warm it is there.

use crate::document::{Source, Table};
use crate::profile::FlashProfile;
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
        let message = "the drive's profile has no `power.thermal`: what is around it would change nothing";
        return Err(error(InputErrorKind::Conflict, message));
    };
    thermal.ambient.value = ambient;
    if thermal.never_released(idle_mw).is_some() {
        let message = "in this, idling alone would keep the drive above the release of its throttle";
        let warmer = thermal.at_rest(idle_mw) - u64::from(ambient.0);
        let below = u64::from(thermal.release.value.0).saturating_sub(warmer);
        let mut error = error(InputErrorKind::BadValue, message);
        error.accepted = vec![format!("less than \"{}\"", Temperature(below as u32))];
        return Err(error);
    }
    Ok(())
}
