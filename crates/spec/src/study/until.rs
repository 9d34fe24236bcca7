//! When a phase ends, as it is written.

use crate::run::SteadyRule;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use tameshi_base::units::{Size, Time};

/// When a phase ends: at whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// After so long, ramp included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// After this many bytes moved, split evenly over the jobs of the phase: a size, or per cent of
    /// the storages used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// At steady state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
}

/// Bytes to move: a size, or a share of the storages that the phase works on (`200 %` is twice
/// their size).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A size.
    Bytes(Size),
    /// Millionths of the size of the storages.
    OfStorage(u64),
}

impl Amount {
    /// Bytes, where the storages of the phase hold `storage_bytes` together.
    pub fn bytes(self, storage_bytes: u64) -> Size {
        match self {
            Self::Bytes(size) => size,
            Self::OfStorage(ppm) => {
                let bytes = u128::from(storage_bytes) * u128::from(ppm) / 1_000_000;
                Size(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let Some(per_cent) = text.trim().strip_suffix('%') else { return Size::parse(text).map(Self::Bytes) };
        let (whole, fraction) = per_cent.trim().split_once('.').unwrap_or((per_cent.trim(), ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let number = format!("{whole}{fraction:0<4}");
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 4 || number.len() > 12 {
            return Err(format!("`{}` is no number of per cent", per_cent.trim()));
        }
        number.parse().map(Self::OfStorage).map_err(|_| format!("`{text}` is too large"))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(size) => write!(f, "{size}"),
            Self::OfStorage(ppm) if ppm.is_multiple_of(10_000) => write!(f, "{} %", ppm / 10_000),
            Self::OfStorage(ppm) => write!(f, "{}.{:04} %", ppm / 10_000, ppm % 10_000),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        const EXPECTED: &str = "a size such as \"4 GiB\", or per cent of the storage such as \"200 %\"";
        impl serde::de::Visitor<'_> for Text {
            type Value = Amount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Amount, E> {
                Amount::parse(text).map_err(|why| E::custom(format_args!("{why}, expected {EXPECTED}")))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "a size such as \"4 GiB\", or per cent of the storage such as \"200 %\"",
            "pattern": r"^[0-9._]+ ?(%|[KMGT]iB|[KkMGT]?B)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_bytes_or_a_part_of_the_storage_and_reads_back() {
        for (text, of_a_thousand) in [("4 KiB", 4096), ("200 %", 2000), ("12.5 %", 125), ("0.01 %", 0)] {
            let amount = Amount::parse(text).expect(text);
            assert_eq!(amount.bytes(1000).0, of_a_thousand, "{text}");
            assert_eq!(Amount::parse(&amount.to_string()), Ok(amount));
        }
        for wrong in ["%", "2 x", "1.2.3 %", "1.23456 %", "-5 %", "12345678901 %"] {
            assert!(Amount::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Amount::OfStorage(u64::MAX).bytes(u64::MAX).0, u64::MAX);
    }
}
