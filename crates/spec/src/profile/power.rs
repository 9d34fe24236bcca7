//! Figures of power and heat that no drive can have, each with the reason.

use super::range::{COUNT, Limit, ProfileError, Spell, conflict};
use super::{Drawn, Power, Thermal};
use tameshi_base::units::Temperature;

const TEMPERATURE: Spell = |millidegrees| Temperature(millidegrees as u32).to_string();
const DEGREE: u64 = 1_000;

/// A drive that would draw less while it works.
pub(super) fn draws_more_idle(model: &'static str, power: Option<&Drawn>) -> Option<ProfileError<'static>> {
    let power = power.filter(|power| power.active_mw.value < power.idle_mw.value)?;
    let accepted = format!("at least idle_mw, {}", power.idle_mw.value);
    conflict(&[model, "power", "active_mw"], "the drive would draw less at work than idling", &accepted)
}

pub(super) fn drawn(model: &'static str, power: &Drawn) -> [Limit<'static>; 2] {
    [("idle_mw", &power.idle_mw), ("active_mw", &power.active_mw)]
        .map(|(key, of)| Limit(u64::from(of.value), vec![model, "power", key], COUNT, 100, 90_000))
}

pub(super) fn power_limits(power: &Power) -> impl Iterator<Item = Limit<'static>> {
    let limit = power.limit_mw.iter().map(|of| ("limit_mw", of, 500, 400_000));
    let figures = [
        ("idle_mw", &power.idle_mw, 100, 90_000),
        ("read_nj", &power.read_nj, 100, 90_000),
        ("program_nj", &power.program_nj, 2_000, 1_800_000),
        ("erase_nj", &power.erase_nj, 10_000, 9_000_000),
    ];
    let all = figures.into_iter().chain(limit);
    let all =
        all.map(|(key, of, least, most)| Limit(u64::from(of.value), vec!["flash", "power", key], COUNT, least, most));
    all.chain(power.thermal.iter().flat_map(thermal_limits))
}

fn thermal_limits(thermal: &Thermal) -> impl Iterator<Item = Limit<'static>> {
    let at = |key| vec!["flash", "power", "thermal", key];
    let degrees = [
        ("ambient", thermal.ambient.value, 1, 80),
        ("throttle", thermal.throttle.value, 40, 120),
        ("release", thermal.release.value, 30, 119),
    ];
    let figures = [
        ("resistance_mk_per_w", &thermal.resistance_mk_per_w, 200, 100_000),
        ("capacity_mj_per_k", &thermal.capacity_mj_per_k, 1_000, 900_000),
        ("limit_mw", &thermal.limit_mw, 200, 100_000),
    ];
    let degrees = degrees
        .map(|(key, of, least, most)| Limit(u64::from(of.0), at(key), TEMPERATURE, least * DEGREE, most * DEGREE));
    let figures = figures.map(|(key, of, least, most)| Limit(u64::from(of.value), at(key), COUNT, least, most));
    degrees.into_iter().chain(figures)
}

pub(super) fn power_conflict(power: &Power) -> Option<ProfileError<'static>> {
    let idle_mw = power.idle_mw.value;
    let (drawn, accepted) = ("the idle drive draws that much or more", format!("more than idle_mw, {idle_mw}"));
    if power.limit_mw.as_ref().is_some_and(|limit| limit.value <= idle_mw) {
        return conflict(&["flash", "power", "limit_mw"], drawn, &accepted);
    }
    let thermal = power.thermal.as_ref()?;
    let at = |key| ["flash", "power", "thermal", key];
    if thermal.limit_mw.value <= idle_mw {
        return conflict(&at("limit_mw"), drawn, &accepted);
    }
    if power.limit_mw.as_ref().is_some_and(|limit| limit.value <= thermal.limit_mw.value) {
        return conflict(
            &at("limit_mw"),
            "the throttled limit is not below the normal limit",
            "less than power.limit_mw",
        );
    }
    if thermal.release.value >= thermal.throttle.value {
        return conflict(&at("release"), "the drive would be throttled and not at once", "less than throttle");
    }
    thermal.never_released(idle_mw).and_then(|accepted| {
        let message = "an idle drive stays above its release: once throttled, it stays throttled";
        conflict(&at("release"), message, &accepted)
    })
}

impl Thermal {
    /// Temperature of the drive that has idled for long, in thousandths of a degree.
    pub(crate) fn at_rest(&self, idle_mw: u32) -> u64 {
        let warmer = u64::from(idle_mw) * u64::from(self.resistance_mk_per_w.value) / 1000;
        u64::from(self.ambient.value.0) + warmer
    }

    /// Return the lowest release temperature if an idle drive never cools to the one given.
    pub(crate) fn never_released(&self, idle_mw: u32) -> Option<String> {
        let at_rest = self.at_rest(idle_mw);
        let above = Temperature(at_rest.min(u64::from(u32::MAX)) as u32);
        (u64::from(self.release.value.0) <= at_rest).then(|| format!("more than {above}"))
    }
}
