//! Conversion of decimals and dates between text and the integers that programs use.

use tameshi_workload::program::{Kind, Value, Values};

/// Append a decimal: `-1050` at scale 2 is `-10.50`.
pub(super) fn decimal(value: i64, scale: u8, text: &mut String) {
    let divisor = 10u64.pow(u32::from(scale));
    if value < 0 {
        text.push('-');
    }
    digits(value.unsigned_abs() / divisor, 1, text);
    text.push('.');
    digits(value.unsigned_abs() % divisor, scale.into(), text);
}

/// Append a number with at least `least` digits; `format!` takes several times as long.
fn digits(mut number: u64, least: usize, text: &mut String) {
    let mut places = [b'0'; 20];
    let mut at = places.len();
    while number > 0 {
        at -= 1;
        places[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    let used = &places[at.min(places.len() - least)..];
    text.push_str(std::str::from_utf8(used).unwrap_or_default());
}

/// Parse a decimal; `None` if it is not one of that scale.
pub(super) fn read_decimal(text: &str, scale: u8) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    if rest.len() > usize::from(scale) {
        return None;
    }
    let mut value = whole.parse::<i64>().ok()?;
    for place in 0..usize::from(scale) {
        let digit = rest.as_bytes().get(place).map_or(0, |digit| i64::from(digit.wrapping_sub(b'0')));
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(sign * value)
}

/// Year, month, day, hour, minute and second of `seconds` since 1970.
pub(super) fn civil(seconds: i64) -> (i64, u8, u8, u8, u8, u8) {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The proleptic Gregorian calendar, counted in eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u8, day as u8, (rest / 3600) as u8, (rest / 60 % 60) as u8, (rest % 60) as u8)
}

/// Seconds since 1970 of a date and time.
pub(super) fn seconds(year: i64, month: i64, day: i64, of_day: i64) -> i64 {
    let shifted_year = year - i64::from(month <= 2);
    let (era, year_of_era) = (shifted_year.div_euclid(400), shifted_year.rem_euclid(400));
    let march_month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * march_month + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    (era * 146_097 + of_era - 719_468) * 86_400 + of_day
}

/// Append `YYYY-MM-DD hh:mm:ss`.
pub(super) fn date(value: i64, text: &mut String) {
    let (year, month, day, hour, minute, second) = civil(value);
    digits(year.unsigned_abs(), 4, text);
    for (sign, number) in [('-', month), ('-', day), (' ', hour), (':', minute), (':', second)] {
        text.push(sign);
        digits(number.into(), 2, text);
    }
}

/// Parse `YYYY-MM-DD hh:mm:ss`.
pub(super) fn read_date(text: &str) -> Option<i64> {
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let of_day = part(11..13)? * 3600 + part(14..16)? * 60 + part(17..19)?;
    Some(seconds(part(0..4)?, part(5..7)?, part(8..10)?, of_day))
}

/// Append a value as text for a column of its kind.
pub(super) fn write_value(value: Value<'_>, kind: Kind, text: &mut String) {
    match (value, kind) {
        (Value::Null, _) => {}
        (Value::Int(value), Kind::Decimal { scale, .. }) => decimal(value, scale, text),
        (Value::Int(value), Kind::Time) => date(value, text),
        (Value::Int(value), _) => {
            if value < 0 {
                text.push('-');
            }
            digits(value.unsigned_abs(), 1, text);
        }
        (Value::Text(value), _) => text.push_str(value),
    }
}

/// Append a value as an SQL literal. `escapes`: backslashes in text are special (MariaDB, MySQL).
pub(super) fn literal(value: Value<'_>, kind: Kind, escapes: bool, sql: &mut String) {
    match (value, kind) {
        (Value::Null, _) => sql.push_str("NULL"),
        (Value::Text(text), _) => {
            sql.push('\'');
            if text.contains(['\'', '\\']) {
                for letter in text.chars() {
                    match letter {
                        '\'' => sql.push_str("''"),
                        '\\' if escapes => sql.push_str("\\\\"),
                        other => sql.push(other),
                    }
                }
            } else {
                sql.push_str(text);
            }
            sql.push('\'');
        }
        (Value::Int(_), Kind::Time) => {
            sql.push('\'');
            write_value(value, kind, sql);
            sql.push('\'');
        }
        (Value::Int(_), _) => write_value(value, kind, sql),
    }
}

/// Append a statement with its parameters in place of `?` or `$1` and up, in their order. No
/// statement text has such a sign elsewhere.
pub(super) fn with_values(text: &str, values: &Values, kinds: &[Kind], escapes: bool, sql: &mut String) {
    let mut rest = text;
    for (value, kind) in values.iter().zip(kinds) {
        let Some(at) = rest.find(['?', '$']) else { break };
        sql.push_str(&rest[..at]);
        literal(value, *kind, escapes, sql);
        rest = rest[at + 1..].trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    sql.push_str(rest);
}

/// Parse a value of its kind from a server's text; an unparsable one becomes text, for the program
/// to detect.
pub(super) fn read_value(text: &str, kind: Kind) -> Value<'_> {
    let number = match kind {
        Kind::Int | Kind::BigInt | Kind::JsonInt { .. } => text.parse().ok(),
        Kind::Decimal { scale, .. } => read_decimal(text, scale),
        Kind::Time => read_date(text),
        Kind::Char(_) => return Value::Text(text.trim_end_matches(' ')),
        Kind::Text(_) | Kind::Json => return Value::Text(text),
    };
    number.map_or(Value::Text(text), Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_read_back_what_they_write() {
        for (value, scale, text) in [
            (0, 2, "0.00"),
            (-1000, 2, "-10.00"),
            (7, 4, "0.0007"),
            (-5, 2, "-0.05"),
            (123_456, 2, "1234.56"),
            (i64::MAX, 4, "922337203685477.5807"),
        ] {
            let mut written = String::new();
            decimal(value, scale, &mut written);
            assert_eq!((written.as_str(), read_decimal(text, scale)), (text, Some(value)));
        }
        assert_eq!(read_decimal("12", 2), Some(1200));
        assert_eq!(read_decimal("1.234", 2), None);
        assert_eq!(read_decimal("x", 2), None);
    }

    #[test]
    fn whole_numbers_are_written_to_the_last_digit() {
        for value in [0, 7, -7, 10, 1_000_000, i64::MAX, i64::MIN] {
            let mut written = String::new();
            write_value(Value::Int(value), Kind::BigInt, &mut written);
            assert_eq!(written, value.to_string());
        }
    }

    #[test]
    fn values_are_inserted_as_literals() {
        let kinds = [Kind::Int, Kind::Char(9), Kind::Decimal { digits: 5, scale: 2 }, Kind::Time, Kind::Int];
        let mut values = Values::default();
        values.int(-7).text("it's \\ one").int(1050).int(0).null();
        let all = |text: &str, escapes| {
            let mut sql = String::new();
            with_values(text, &values, &kinds, escapes, &mut sql);
            sql
        };
        assert_eq!(
            all("UPDATE t SET a = ?, b = ? WHERE c = ? AND d < ? OR e = ?", true),
            "UPDATE t SET a = -7, b = 'it''s \\\\ one' WHERE c = 10.50 AND d < '1970-01-01 00:00:00' OR e = NULL"
        );
        assert_eq!(
            all("INSERT INTO t VALUES ($1, $2, $3, $4, $5)", false),
            "INSERT INTO t VALUES (-7, 'it''s \\ one', 10.50, '1970-01-01 00:00:00', NULL)"
        );
    }

    #[test]
    fn dates_read_back_what_they_write() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_000_000_000, "2001-09-09 01:46:40"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            let mut written = String::new();
            date(seconds, &mut written);
            assert_eq!((written.as_str(), read_date(text)), (text, Some(seconds)));
        }
    }
}
