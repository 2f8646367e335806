//! Instants and durations.
//!
//! Nothing here reads a clock: `now` is always an argument, or comes from a [`Clock`] that the
//! caller brought.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json;

pub mod relative;

pub use relative::Relative;

/// An instant, in whole microseconds since 1970-01-01T00:00:00Z.
///
/// Read from RFC 3339 text with a zone, of the years 0001 to 9999 and at most six fractional
/// digits. Shown in UTC with as many fractional digits as it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(i64);

/// Why a text is no [`Stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StampError {
    /// There is a date and a time but no zone.
    #[error("it has no zone: end it with `Z` or an offset such as `+02:00`")]
    Naive,
    /// The text does not have the shape of RFC 3339.
    #[error("it is not of the form 2026-10-01T00:00:00Z")]
    Shape,
    /// The shape is right, but there is no such instant.
    #[error("there is no such time")]
    NoSuchTime,
}

impl Stamp {
    /// The instant that many microseconds after 1970-01-01T00:00:00Z, held within the years that
    /// can be written.
    pub fn from_micros(micros: i64) -> Stamp {
        Stamp(micros.clamp(MIN_MICROS, MAX_MICROS))
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339 text with a zone.
    ///
    /// The shape is checked before the text is parsed, since the parser behind this is lenient
    /// (it takes a space for `T`, an hour alone, a leap second).
    pub fn parse(text: &str) -> Result<Stamp, StampError> {
        check_shape(text.as_bytes())?;
        let parsed: jiff::Timestamp = text.parse().map_err(|_| StampError::NoSuchTime)?;
        let micros = parsed.as_microsecond();
        if (MIN_MICROS..=MAX_MICROS).contains(&micros) {
            Ok(Stamp(micros))
        } else {
            Err(StampError::NoSuchTime)
        }
    }

    /// This instant moved later, or the last one that can be written.
    pub fn plus(self, span: Duration) -> Stamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Stamp::from_micros(self.0.saturating_add(micros))
    }

    /// This instant moved earlier, or the first one that can be written.
    pub fn minus(self, span: Duration) -> Stamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Stamp::from_micros(self.0.saturating_sub(micros))
    }

    /// How long `self` is after `earlier`; zero if it is not.
    pub fn since(self, earlier: Stamp) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    fn timestamp(self) -> jiff::Timestamp {
        // Every constructor holds the value within jiff's range; the fallback is never taken.
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

/// 0001-01-01T00:00:00Z.
const MIN_MICROS: i64 = -62_135_596_800_000_000;
/// 9999-12-30T00:00:00Z, a day before the end so that no zone leads beyond year 9999.
const MAX_MICROS: i64 = 253_402_128_000_000_000;

impl fmt::Display for Stamp {
    /// RFC 3339 in UTC; with a precision, as in `{:.0}`, that many fractional digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().fmt(f)
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stamp, D::Error> {
        json::text(deserializer, Stamp::parse)
    }
}

/// The form of a row's `at`: always six fractional digits and `Z`.
pub mod six_digits {
    use super::{Deserialize, Deserializer, Serializer, Stamp};

    /// Writes the instant with six fractional digits.
    pub fn serialize<S: Serializer>(stamp: &Stamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.6}", stamp.timestamp()))
    }

    /// Reads the instant; that it had six digits shows when the row is written again.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Stamp, D::Error> {
        Stamp::deserialize(deserializer)
    }
}

/// Checks for `YYYY-MM-DDTHH:MM:SS[.1-6 digits](Z|±HH:MM)`, seconds below 60, no `-00:00`, no zone
/// of a day or more.
fn check_shape(text: &[u8]) -> Result<(), StampError> {
    const DATE_TIME: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |pattern: &[u8], bytes: &[u8]| {
        pattern.len() == bytes.len()
            && pattern.iter().zip(bytes).all(|(p, b)| match p {
                b'd' => b.is_ascii_digit(),
                _ => p == b,
            })
    };
    let (date_time, rest) = text.split_at_checked(DATE_TIME.len()).ok_or(StampError::Shape)?;
    if !fits(DATE_TIME, date_time) {
        return Err(StampError::Shape);
    }
    if date_time.ends_with(b":60") {
        return Err(StampError::NoSuchTime);
    }
    let zone = match rest.strip_prefix(b".") {
        None => rest,
        Some(fraction) => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if !(1..=6).contains(&digits) {
                return Err(StampError::Shape);
            }
            fraction.get(digits..).unwrap_or_default()
        }
    };
    match zone {
        b"" => Err(StampError::Naive),
        b"Z" => Ok(()),
        b"-00:00" => Err(StampError::Shape),
        _ if fits(b"+dd:dd", zone) || fits(b"-dd:dd", zone) => {
            let exists = zone.get(1..3).is_some_and(|hour| hour < &b"24"[..]);
            if exists { Ok(()) } else { Err(StampError::NoSuchTime) }
        }
        _ => Err(StampError::Shape),
    }
}

/// Reads a duration: an integer and one of `s`, `m`, `h`, `d`, such as `90s` or `24h`.
///
/// At least one second and at most 36,500 days.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let number = text.strip_suffix(unit)?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let total = number.parse::<u64>().ok()?.checked_mul(seconds)?;
    (1..=36_500 * 86_400).contains(&total).then(|| Duration::from_secs(total))
}

/// Where `now` comes from. The store reads it under its lock, so that a row's `at` is the time at
/// which it was written.
pub trait Clock: Send + Sync {
    /// The present instant by the wall clock.
    fn now(&self) -> Stamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows_in_utc() {
        for (text, shown) in [
            ("2026-10-01T00:00:00Z", "2026-10-01T00:00:00Z"),
            ("2026-10-01T02:00:00+02:00", "2026-10-01T00:00:00Z"),
            ("2026-10-01T00:00:00.120Z", "2026-10-01T00:00:00.12Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(Stamp::parse(text).unwrap().to_string(), shown);
        }
        // For people, rounded down: a deadline is never shown later than it is.
        let stamp = Stamp::parse("2026-10-01T00:00:00.999999Z").unwrap();
        assert_eq!(format!("{stamp:.0}"), "2026-10-01T00:00:00Z");
    }

    #[test]
    fn refuses_what_is_not_exact() {
        for (text, why) in [
            ("2026-10-01T00:00:00", StampError::Naive),
            ("2026-10-01T00:00:00.5", StampError::Naive),
            ("2026-10-01 00:00:00Z", StampError::Shape),
            ("2026-10-01t00:00:00z", StampError::Shape),
            ("20261001T000000Z", StampError::Shape),
            ("2026-10-01T08Z", StampError::Shape),
            ("2026-10-01", StampError::Shape),
            ("2026-10-01T00:00:00-00:00", StampError::Shape),
            ("2026-10-01T00:00:00.1234567Z", StampError::Shape),
            ("2026-10-01T00:00:00.Z", StampError::Shape),
            ("2026-10-01T23:59:60Z", StampError::NoSuchTime),
            ("2026-02-30T00:00:00Z", StampError::NoSuchTime),
            ("2026-10-01T24:00:00Z", StampError::NoSuchTime),
            ("2026-10-01T00:00:00+24:00", StampError::NoSuchTime),
            ("2026-10-01T00:00:00-25:59", StampError::NoSuchTime),
            ("2026-10-01T00:00:00+10:60", StampError::NoSuchTime),
            ("0000-12-31T00:00:00Z", StampError::NoSuchTime),
            ("9999-12-31T23:59:59Z", StampError::NoSuchTime),
            ("", StampError::Shape),
            ("né 2026-10-01T00:00:00Z", StampError::Shape),
        ] {
            assert_eq!(Stamp::parse(text), Err(why), "{text}");
        }
    }

    #[test]
    fn durations_are_an_integer_and_a_unit() {
        assert_eq!(parse_duration("90s"), Some(Duration::from_secs(90)));
        assert_eq!(parse_duration("24h"), Some(Duration::from_secs(86_400)));
        for bad in
            ["", "h", "1", "1.5h", "-1h", "+1h", "0s", "1w", "1 h", "99999999999999999999s", "1é"]
        {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
