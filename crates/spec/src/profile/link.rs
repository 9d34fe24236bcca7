//! Links between hosts, which a replica's writes cross.

use super::Sourced;
use super::range::{Limit, MS, ProfileError, SIZE, TIME, bad_value, or_none, outside};
use crate::run::node::Link;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Size, Time};

/// A link profile file: description and figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkProfile {
    /// The link in one sentence.
    pub description: String,
    /// Its figures.
    pub link: LinkFigures,
}

/// Figures of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFigures {
    /// Time that a command across it takes beyond the same command without it, both ends' work
    /// included.
    pub round_trip: Sourced<Time>,
    /// Bytes per second each way.
    pub rate: Sourced<Size>,
}

impl LinkFigures {
    /// The figures without their sources.
    pub fn figures(&self) -> Link {
        Link { round_trip: self.round_trip.value, rate: self.rate.value }
    }
}

/// The first figure that no link can have. A round trip a thousand times that of the next rack is
/// that of another continent: over a slow link.
pub(crate) fn link_error(link: &Link) -> Option<ProfileError<'static>> {
    let limits = vec![
        or_none(Limit(link.round_trip.0, vec!["round_trip"], TIME, 500, 1_000 * MS)),
        Limit(link.rate.0, vec!["rate"], SIZE, 1_000_000, 90_000_000_000),
    ];
    outside("link", limits).or_else(|| too_far(link)).or_else(|| too_near(link))
}

/// A network this fast joins the machines of one site, whose round trips take microseconds; bytes
/// per second.
const FAST: u64 = 1_000_000_000;
const SITE: Time = Time(MS);
/// One this slow is Fast Ethernet or leaves the building.
const SLOW: u64 = 100_000_000;
const OUT_OF_THE_HOUSE: Time = Time(200_000);

/// A link as fast as those of one site and as slow as one between cities.
fn too_far(link: &Link) -> Option<ProfileError<'static>> {
    let message = "no link of this rate has such a round trip: microseconds as milliseconds?";
    let refused = link.rate.0 >= FAST && link.round_trip > SITE;
    let accepted = format!("at most {SITE}, or a rate below {}", Size(FAST));
    refused.then(|| bad_value(&["round_trip"], message, &accepted)).flatten()
}

/// A link with the rate of one between cities and a round trip within a rack.
fn too_near(link: &Link) -> Option<ProfileError<'static>> {
    let message = "no link of such a round trip has this rate: gigabytes as megabytes?";
    let refused = link.rate.0 < SLOW && (1..OUT_OF_THE_HOUSE.0).contains(&link.round_trip.0);
    let accepted = format!("at least {}, or a round trip of at least {OUT_OF_THE_HOUSE}", Size(SLOW));
    refused.then(|| bad_value(&["rate"], message, &accepted)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn link_figures_in_the_wrong_unit_are_refused() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tameshi/data/profiles/links");
        for entry in std::fs::read_dir(directory).expect("the profiles") {
            let text = std::fs::read_to_string(entry.expect("a file").path()).expect("a profile");
            let good = toml::from_str::<LinkProfile>(&text).expect("a profile").link.figures();
            assert!(link_error(&good).is_none(), "{text}");
            let of = |rate: u64, round_trip: u64| {
                let wrong = Link { rate: Size(rate), round_trip: Time(round_trip) };
                link_error(&wrong).map(|found| found.path[0])
            };
            let (rate, round_trip) = (good.rate.0, good.round_trip.0);
            assert_eq!(of(rate / 1000, round_trip), Some("rate"));
            // A thousand times the rate of a slow link between sites is one within a site.
            assert!(matches!(of(rate * 1000, round_trip), Some("rate" | "round_trip")));
            // Slow links span continents.
            let is_local = rate >= FAST || round_trip * 1000 > 1_000 * MS;
            assert_eq!(of(rate, round_trip * 1000), is_local.then_some("round_trip"));
            // A thousandth of a round trip between sites is one within a site.
            if good.round_trip <= SITE {
                assert_eq!(of(rate, round_trip / 1000), Some("round_trip"));
            }
        }
    }
}
