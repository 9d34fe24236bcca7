//! Unit types, and their notation in a user's file: `"5 s"`, `"4 KiB"`, `"500 /s"`, `"70 %"`.
//!
//! Each type parses exactly what it prints, so that the same types serve the study as written and
//! the resolved spec.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Instant in nanoseconds since a run's start, or a duration; the unit of hot loops.
pub type Nanos = u64;

/// Duration as a user writes it, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// Number of bytes as a user writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// Rate in thousandths of a unit per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// Temperature in thousandths of a degree Celsius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Temperature(pub u32);

/// Share of a whole in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(pub u32);

impl Rate {
    /// Rate per second.
    pub fn per_second(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Temperature {
    /// Degrees Celsius.
    pub fn degrees(self) -> f64 {
        f64::from(self.0) / 1e3
    }
}

impl Share {
    /// The whole.
    pub const WHOLE: Self = Self(1_000_000);
}

/// Spelling of a unit, and its size in base units.
type Spelling = (&'static str, u64);

const TIME: &[Spelling] = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];
const SIZE: &[Spelling] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("kB", 1_000),
    ("B", 1),
];
const RATE: &[Spelling] = &[("/s", 1_000)];
const SHARE: &[Spelling] = &[("%", 10_000)];
const TEMPERATURE: &[Spelling] = &[("degC", 1_000), ("°C", 1_000)];

/// Parse `number unit` exactly: `1.5 ms` is 1 500 000 ns. A value that is no integer number of base
/// units is refused.
fn parse(text: &str, kind: &str, spellings: &[Spelling]) -> Result<u64, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!("`{text}` is below zero"));
    }
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let &(_, scale) = spellings.iter().find(|(name, _)| *name == unit).ok_or_else(|| no_unit(unit, kind, spellings))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || fraction.contains('.') || digits.len() > 24 {
        return Err(format!("`{number}` is no number"));
    }
    let value = digits.parse::<u128>().map_err(|_| format!("`{number}` is no number"))?;
    let divisor = 10u128.pow(fraction.len() as u32);
    let scaled = value * u128::from(scale);
    if scaled % divisor != 0 {
        return Err(format!("`{text}` is finer than the smallest unit"));
    }
    u64::try_from(scaled / divisor).map_err(|_| format!("`{text}` is too large"))
}

/// Message about an unknown unit.
fn no_unit(unit: &str, kind: &str, spellings: &[Spelling]) -> String {
    let near = spellings.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    match near {
        _ if unit.is_empty() => "the unit is missing".into(),
        _ if kind == "a rate" && unit.ends_with("B/s") => {
            format!("`{unit}` is no unit of a rate, which is a plain number per second")
        }
        Some((name, _)) => format!("`{unit}` is no unit of {kind}, `{name}` is"),
        None => format!("`{unit}` is no unit of {kind}"),
    }
}

/// Accepted notation, with all units if there are several.
fn accepted(example: &str, spellings: &[Spelling]) -> String {
    if let [_] = spellings {
        return example.into();
    }
    let units: Vec<&str> = spellings.iter().map(|(name, _)| *name).collect();
    format!("{example}; in {}", units.join(", "))
}

/// Print the value in the largest unit that holds it without a fraction.
fn spell(value: u64, spellings: &[Spelling]) -> String {
    let (name, scale) = spellings
        .iter()
        .filter(|(_, scale)| value.is_multiple_of(*scale) && (value > 0 || *scale == 1))
        .max_by_key(|(_, scale)| *scale)
        .or(spellings.last())
        .expect("every unit has a spelling");
    format!("{} {name}", value / scale)
}

macro_rules! unit {
    ($type:ident, $name:literal, $kind:literal, $spellings:ident, $narrow:ty, $limit:expr, $expecting:literal, $pattern:literal) => {
        impl $type {
            /// Parse the notation of study files and profiles.
            ///
            /// # Errors
            /// A sentence that describes the mistake.
            pub fn parse(text: &str) -> Result<Self, String> {
                let value = parse(text, $kind, $spellings)?;
                if value > $limit {
                    return Err(format!("`{text}` is too large"));
                }
                Ok(Self(value as $narrow))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.to_string())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(&accepted($expecting, $spellings))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        $type::parse(text).map_err(|why| {
                            E::custom(format_args!("{why}, expected {}", accepted($expecting, $spellings)))
                        })
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $expecting })
            }
        }
    };
}

unit!(
    Time,
    "Time",
    "a time",
    TIME,
    u64,
    u64::MAX,
    "a time such as \"250 ms\", \"5 s\", \"90 min\"",
    r"^[0-9._]+ ?(h|min|s|ms|us|µs|ns)$"
);
unit!(
    Size,
    "Size",
    "a size",
    SIZE,
    u64,
    u64::MAX,
    "a size such as \"4 KiB\", \"256 MiB\", \"800 GB\"",
    r"^[0-9._]+ ?(TiB|GiB|MiB|KiB|TB|GB|MB|KB|kB|B)$"
);
unit!(Rate, "Rate", "a rate", RATE, u64, u64::MAX, "a rate such as \"500 /s\"", r"^[0-9._]+ ?/s$");
unit!(
    Temperature,
    "Temperature",
    "a temperature",
    TEMPERATURE,
    u32,
    u64::from(u32::MAX),
    "a temperature such as \"35 degC\", not below zero",
    r"^[0-9._]+ ?(degC|°C)$"
);
unit!(Share, "Share", "a share", SHARE, u32, 1_000_000, "a share from \"0 %\" to \"100 %\"", r"^[0-9._]+ ?%$");

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spell(self.0, TIME))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spell(self.0, SIZE))
    }
}

/// Format a fixed-point number without trailing zeros.
fn fixed(value: u64, scale: u64) -> String {
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = scale.ilog10() as usize;
    format!("{whole}.{rest:0digits$}").trim_end_matches('0').to_string()
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /s", fixed(self.0, 1_000))
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} degC", fixed(u64::from(self.0), 1_000))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", fixed(u64::from(self.0), 10_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn documented_notation_is_parsed() {
        assert_eq!(Time::parse("1.5 ms"), Ok(Time(1_500_000)));
        assert_eq!(Time::parse("90min"), Ok(Time(5_400_000_000_000)));
        assert_eq!(Size::parse("4 KiB"), Ok(Size(4096)));
        assert_eq!(Size::parse("146 GB"), Ok(Size(146_000_000_000)));
        assert_eq!(Rate::parse("0.5 /s"), Ok(Rate(500)));
        assert_eq!(Share::parse("70 %"), Ok(Share(700_000)));
        assert_eq!(Temperature::parse("35 degC"), Ok(Temperature(35_000)));
        assert_eq!(Temperature::parse("82.5°C"), Ok(Temperature(82_500)));
    }

    #[test]
    fn malformed_quantity_is_refused() {
        for bad in ["", "5", "s", "5 parsecs", "1..5 s", "-1 s", "1e3 s", "0.1 ns", "99999999999999999999 s", "9e9 h"] {
            assert!(Time::parse(bad).is_err(), "{bad}");
        }
        assert!(Share::parse("100.1 %").is_err());
        assert!(Size::parse("4 kib").is_err());
        assert!(Temperature::parse("308 K").is_err());
        assert!(Temperature::parse("-5 degC").is_err());
    }

    #[test]
    fn unknown_unit_error_lists_accepted_units() {
        assert_eq!(
            Rate::parse("400 MB/s"),
            Err("`MB/s` is no unit of a rate, which is a plain number per second".into())
        );
        assert_eq!(Size::parse("4 kib"), Err("`kib` is no unit of a size, `KiB` is".into()));
        assert_eq!(accepted("a rate such as \"500 /s\"", RATE), "a rate such as \"500 /s\"");
        assert!(accepted("a time", TIME).ends_with("in h, min, s, ms, us, µs, ns"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in any::<u64>(), share in 0u32..=1_000_000) {
            prop_assert_eq!(Time::parse(&Time(value).to_string()), Ok(Time(value)));
            prop_assert_eq!(Size::parse(&Size(value).to_string()), Ok(Size(value)));
            prop_assert_eq!(Rate::parse(&Rate(value).to_string()), Ok(Rate(value)));
            prop_assert_eq!(Temperature::parse(&Temperature(value as u32).to_string()), Ok(Temperature(value as u32)));
            prop_assert_eq!(Share::parse(&Share(share).to_string()), Ok(Share(share)));
        }
    }
}
