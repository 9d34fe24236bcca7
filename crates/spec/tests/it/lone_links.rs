//! Links that are resolved without the rest of their study.

use crate::support::{SMALL, profiles};
use tameshi_base::InputError;
use tameshi_spec::document::Source;
use tameshi_spec::lone_link;
use tameshi_spec::run::Link;

fn resolved(text: &str, name: &str) -> Result<Link, InputError> {
    lone_link(Source { file: "t.toml", text }, name, &profiles())
}

#[test]
fn link_of_a_study_needs_no_replica() {
    let text = format!("{SMALL}\n[link.mine]\nround_trip = \"2 ms\"\nrate = \"100 MB\"\n");
    let link = resolved(&text, "mine").expect("a link");
    assert_eq!((link.round_trip.0, link.rate.0), (2_000_000, 100_000_000));
}

#[test]
fn link_without_figures_is_refused_at_its_place() {
    let error = resolved("[link.mine]\nrate = \"100 MB\"\n", "mine").expect_err("no round trip");
    assert_eq!((error.line, error.key.as_str()), (1, "link.mine"));
    assert_eq!(error.accepted, ["profile", "round_trip", "rate"]);
}

#[test]
fn unknown_link_is_refused_with_the_known_ones() {
    let error = resolved("[link.mine]\nrate = \"100 MB\"\n", "yours").expect_err("no such link");
    assert_eq!(error.found, "yours");
    assert!(error.accepted.contains(&"mine".to_string()), "{error}");
}
