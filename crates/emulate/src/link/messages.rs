//! Control messages to the links: one line of words each.

use tameshi_base::{Nanos, Slow};

/// Directions of a link: from its first host to its second, the other one, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    There,
    Back,
    Both,
}

impl Ways {
    /// Return whether the direction of this index is one of them.
    pub(super) fn holds(self, index: usize) -> bool {
        match self {
            Self::There => index == 0,
            Self::Back => index == 1,
            Self::Both => true,
        }
    }
}

/// Change of a link or of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// Start the delays, rates and losses; the path adds this many ns of wall time to a round trip.
    On(Nanos),
    /// Round trip of an empty message in ns.
    RoundTrip(Nanos),
    /// Bytes of data per second.
    Rate(u64),
    /// Share of lost packets.
    Loss(f64),
    /// Carry that many times as slowly.
    Slow(Slow),
    /// Carry nothing, and lose what is on its way.
    Cut,
    /// Carry again.
    Heal,
}

/// Message of the owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message {
    /// Report figures and state of all links.
    Status,
    /// Forget all figures so far.
    Reset,
    /// Change the link of a number.
    Change(usize, Ways, Change),
    /// The owner is gone.
    Gone,
}

/// Parse a message.
///
/// # Errors
/// A sentence that quotes a message which is none.
pub(super) fn parse(text: &str) -> Result<Message, String> {
    let words: Vec<&str> = text.split(' ').collect();
    let unknown = || format!("unknown message to the links: {text}");
    let (link, ways, change) = match words.as_slice() {
        [""] => return Ok(Message::Gone),
        ["status"] => return Ok(Message::Status),
        ["reset"] => return Ok(Message::Reset),
        [link, ways, change @ ..] => (link, ways, change),
        _ => return Err(unknown()),
    };
    let link = link.parse().map_err(|_| unknown())?;
    let ways = match *ways {
        "there" => Ways::There,
        "back" => Ways::Back,
        "both" => Ways::Both,
        _ => return Err(unknown()),
    };
    changed(change).map(|change| Message::Change(link, ways, change)).ok_or_else(unknown)
}

fn changed(words: &[&str]) -> Option<Change> {
    Some(match words {
        ["on", offset] => Change::On(offset.parse().ok()?),
        ["round_trip", time] => Change::RoundTrip(time.parse().ok()?),
        ["rate", bytes] => Change::Rate(bytes.parse().ok().filter(|&bytes| bytes > 0)?),
        ["loss", share] => Change::Loss(share.parse().ok().filter(|share| (0.0..=1.0).contains(share))?),
        ["slow", factor] => Change::Slow(Slow::new(factor.parse().ok()?).ok()?),
        ["cut"] => Change::Cut,
        ["heal"] => Change::Heal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_links_are_read_with_their_arguments() {
        let of = |ways, change| Message::Change(2, ways, change);
        let slow = Slow::new(2.5).expect("a factor in range");
        let cases = [
            ("status", Message::Status),
            ("reset", Message::Reset),
            ("", Message::Gone),
            ("2 both on 12500", of(Ways::Both, Change::On(12_500))),
            ("2 both round_trip 100000", of(Ways::Both, Change::RoundTrip(100_000))),
            ("2 there rate 1170000000", of(Ways::There, Change::Rate(1_170_000_000))),
            ("2 back loss 0.01", of(Ways::Back, Change::Loss(0.01))),
            ("2 both slow 2.5", of(Ways::Both, Change::Slow(slow))),
            ("2 there cut", of(Ways::There, Change::Cut)),
            ("2 both heal", of(Ways::Both, Change::Heal)),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text), Ok(message), "{text}");
        }
    }

    #[test]
    fn unknown_messages_to_links_are_quoted() {
        let texts = [
            "melt",
            "0 cut",
            "x both cut",
            "0 up cut",
            "0 both",
            "0 both rate 0",
            "0 both loss 1.5",
            "0 both loss NaN",
            "0 both slow 0.5",
            "0 both on -1",
            "0 both cut now",
        ];
        for text in texts {
            let error = parse(text).expect_err(text);
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn one_way_is_not_the_other() {
        let held = |ways: Ways| [0, 1].map(|way| ways.holds(way));
        assert_eq!([Ways::There, Ways::Back, Ways::Both].map(held), [[true, false], [false, true], [true, true]]);
    }
}
