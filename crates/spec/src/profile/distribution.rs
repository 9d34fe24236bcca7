//! Distribution of times, by points of its cumulative function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Share, Time};

/// A point of a distribution: that share of all draws takes at most this time. Between points it is
/// linear; the first point is at 0 %, the last at 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyPoint {
    /// Share of all draws.
    pub share: Share,
    /// The time that these take at most.
    pub time: Time,
}

/// Return why points are no distribution of times; `None` if they are one.
pub(super) fn no_distribution(points: &[LatencyPoint]) -> Option<&'static str> {
    let ends = [points.first(), points.last()].map(|point| point.map(|point| point.share));
    if ends != [Some(Share(0)), Some(Share::WHOLE)] {
        return Some("a distribution begins at 0 % and ends at 100 %");
    }
    let rises = points.is_sorted_by(|one, next| one.share < next.share && one.time <= next.time);
    (!rises).then_some("shares of a distribution rise from point to point, and times never fall")
}
