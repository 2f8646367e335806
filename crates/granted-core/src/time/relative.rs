//! Instants as people say them: how far from now.

use std::fmt;

use super::Stamp;

/// Shows an instant as its distance from another: `in 9 h`, `3 d ago`, `now`.
///
/// The unit is the largest of `d`, `h`, `min` and `s` that fits at least once. The number is whole
/// and rounded down, so that what is left is never shown longer than it is. Below a second either
/// way it is `now`.
///
/// ```
/// use granted_core::time::{Relative, Stamp};
///
/// let now = Stamp::parse("2026-09-30T15:00:00Z").unwrap();
/// let deadline = Stamp::parse("2026-10-01T00:30:00Z").unwrap();
/// assert_eq!(Relative { stamp: deadline, now }.to_string(), "in 9 h");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// The instant to show.
    pub stamp: Stamp,
    /// The present.
    pub now: Stamp,
}

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ahead = self.stamp > self.now;
        let distance = if ahead { self.stamp.since(self.now) } else { self.now.since(self.stamp) };
        let seconds = distance.as_secs();
        let (count, unit) = match seconds {
            0 => return f.write_str("now"),
            1..60 => (seconds, "s"),
            60..3_600 => (seconds / 60, "min"),
            3_600..86_400 => (seconds / 3_600, "h"),
            86_400.. => (seconds / 86_400, "d"),
        };
        match ahead {
            true => write!(f, "in {count} {unit}"),
            false => write!(f, "{count} {unit} ago"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_largest_unit_that_fits() {
        let now = Stamp::parse("2026-09-30T15:00:00Z").unwrap();
        for (seconds, text) in [
            (1, "1 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3_599, "59 min"),
            (3_600, "1 h"),
            (9 * 3_600 + 1_800, "9 h"),
            (86_399, "23 h"),
            (86_400, "1 d"),
            (36_500 * 86_400, "36500 d"),
        ] {
            let span = Duration::from_secs(seconds);
            let ahead = Relative { stamp: now.plus(span), now };
            let behind = Relative { stamp: now.minus(span), now };
            assert_eq!(ahead.to_string(), format!("in {text}"));
            assert_eq!(behind.to_string(), format!("{text} ago"));
        }
    }

    #[test]
    fn less_than_a_second_is_now() {
        let now = Stamp::parse("2026-09-30T15:00:00Z").unwrap();
        let near = Duration::from_micros(999_999);
        for stamp in [now, now.plus(near), now.minus(near)] {
            assert_eq!(Relative { stamp, now }.to_string(), "now");
        }
    }

    #[test]
    fn the_ends_of_time_are_far() {
        let (first, last) = (Stamp::from_micros(i64::MIN), Stamp::from_micros(i64::MAX));
        assert_eq!(Relative { stamp: last, now: first }.to_string(), "in 3652057 d");
        assert_eq!(Relative { stamp: first, now: last }.to_string(), "3652057 d ago");
    }
}
