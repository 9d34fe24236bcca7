//! Ranges of the values of a profile, and the errors of values outside.

use tameshi_base::InputErrorKind;
use tameshi_base::units::{Rate, Share, Size, Time};

/// Error in a profile, with its path below `device`.
pub(crate) struct ProfileError<'a> {
    pub(crate) path: Vec<&'a str>,
    pub(crate) kind: InputErrorKind,
    pub(crate) message: String,
    pub(crate) accepted: String,
}

/// A value, its place, and its least and greatest, spelled as a user would.
pub(super) struct Limit<'a>(pub(super) u64, pub(super) Vec<&'a str>, pub(super) Spell, pub(super) u64, pub(super) u64);
pub(super) type Spell = fn(u64) -> String;

pub(super) const TIME: Spell = |nanos| Time(nanos).to_string();
pub(super) const SIZE: Spell = |bytes| Size(bytes).to_string();
pub(super) const SHARE: Spell = |millionths| Share(millionths as u32).to_string();
pub(super) const RATE: Spell = |rate| Rate(rate).to_string();
pub(super) const COUNT: Spell = |count| count.to_string();
pub(super) const US: u64 = 1_000;
pub(super) const MS: u64 = 1_000_000;
pub(super) const MB_PER_S: u64 = 1_000_000_000;

pub(super) fn capacity(value: Size, model: &'static str, least: u64) -> Limit<'static> {
    Limit(value.0, vec![model, "capacity"], SIZE, least, 1 << 50)
}

/// The limit with zero accepted too.
pub(super) fn or_none(limit: Limit<'_>) -> Limit<'_> {
    let Limit(value, path, spell, least, most) = limit;
    Limit(value, path, spell, if value == 0 { 0 } else { least }, most)
}

pub(super) fn outside<'a>(what: &str, limits: Vec<Limit<'a>>) -> Option<ProfileError<'a>> {
    let Limit(_, mut path, spell, least, most) =
        limits.into_iter().find(|Limit(value, _, _, least, most)| !(least..=most).contains(&value))?;
    let key = path.last().copied().unwrap_or_default().replace('_', " ");
    path.push("value");
    let accepted = format!("{} to {}", spell(least), spell(most));
    Some(ProfileError {
        path,
        kind: InputErrorKind::BadValue,
        message: format!("{key}: outside the range of any {what}"),
        accepted,
    })
}

pub(super) fn conflict(path: &[&'static str], message: &str, accepted: &str) -> Option<ProfileError<'static>> {
    let path = path.iter().copied().chain(["value"]).collect();
    Some(ProfileError { path, kind: InputErrorKind::Conflict, message: message.into(), accepted: accepted.into() })
}

/// Error of a value that is wrong by itself: it shows the value found.
pub(super) fn bad_value(path: &[&'static str], message: &str, accepted: &str) -> Option<ProfileError<'static>> {
    conflict(path, message, accepted).map(|found| ProfileError { kind: InputErrorKind::BadValue, ..found })
}

/// Sizes that follow from other values, in one unit and rounded inwards to three digits or more.
pub(super) fn sizes(least: u128, most: u128) -> String {
    let (unit, name) = readable(least);
    format!("{} {name} to {} {name}", least.div_ceil(unit), most / unit)
}

pub(super) fn size_up_to(most: u128) -> String {
    let (unit, name) = readable(most);
    format!("up to {} {name}", most / unit)
}

fn readable(bytes: u128) -> (u128, &'static str) {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let fits = |unit: u128| bytes >= 100 * unit || (bytes > 0 && bytes.is_multiple_of(unit));
    units.into_iter().find(|&(unit, _)| fits(unit)).unwrap_or((1, "B"))
}
