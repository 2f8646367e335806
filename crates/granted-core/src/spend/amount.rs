//! Amounts: whole satoshis.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::json::{self, MAX_INT};

/// An amount in satoshis: at most 2^53 − 1, which is more than there ever are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Sats(u64);

/// The text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not a number, or not one with a suffix.
    #[error("an amount is a whole number of sat, or a number with `k` or `m`, such as `50k`")]
    Shape,
    /// Less than a satoshi is left over.
    #[error("an amount is a whole number of sat")]
    Fraction,
    /// More than 2^53 − 1.
    #[error("an amount is at most {} sat", Sats::MAX)]
    TooMuch,
}

impl Sats {
    /// None.
    pub const ZERO: Sats = Sats(0);

    /// The most that an amount may be.
    pub const MAX: Sats = Sats(MAX_INT);

    /// The amount of this number; `None` beyond [`Sats::MAX`].
    pub const fn new(sats: u64) -> Option<Sats> {
        if sats <= MAX_INT { Some(Sats(sats)) } else { None }
    }

    /// The number.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Both together, if that is an amount.
    pub fn plus(self, other: Sats) -> Option<Sats> {
        self.0.checked_add(other.0).and_then(Sats::new)
    }

    /// What is left without the other; nothing if that is more.
    pub fn less(self, other: Sats) -> Sats {
        Sats(self.0.saturating_sub(other.0))
    }

    /// The sum; [`Sats::MAX`] if it is more.
    pub fn sum(amounts: impl IntoIterator<Item = Sats>) -> Sats {
        amounts.into_iter().fold(Sats::ZERO, |sum, sats| sum.plus(sats).unwrap_or(Sats::MAX))
    }
}

impl fmt::Display for Sats {
    /// The number with a comma before each three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut shown = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                shown.push(',');
            }
            shown.push(digit);
        }
        f.pad(&shown)
    }
}

impl FromStr for Sats {
    type Err = AmountError;

    /// Reads a whole number, or a number with `k` (thousand) or `m` (million) in either case, which
    /// may have a fraction if whole satoshis come of it.
    fn from_str(text: &str) -> Result<Sats, AmountError> {
        let (number, zeros): (&str, usize) = match text.char_indices().next_back() {
            Some((end, 'k' | 'K')) => (text.get(..end).unwrap_or_default(), 3),
            Some((end, 'm' | 'M')) => (text.get(..end).unwrap_or_default(), 6),
            _ => (text, 0),
        };
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) if zeros > 0 => (whole, fraction),
            Some(_) => return Err(AmountError::Fraction),
            None => (number, ""),
        };
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let has_dot = number.contains('.');
        if !digits(whole) || !digits(fraction) || has_dot == fraction.is_empty() {
            return Err(AmountError::Shape);
        }
        if whole.is_empty() && !has_dot {
            return Err(AmountError::Shape);
        }
        let fraction = fraction.trim_end_matches('0');
        let missing = zeros.checked_sub(fraction.len()).ok_or(AmountError::Fraction)?;
        let all = format!("{whole}{fraction}{}", "0".repeat(missing));
        all.parse().ok().and_then(Sats::new).ok_or(AmountError::TooMuch)
    }
}

impl<'de> Deserialize<'de> for Sats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sats, D::Error> {
        json::int(deserializer).map(Sats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sats(number: u64) -> Sats {
        Sats::new(number).unwrap()
    }

    #[test]
    fn reads_suffixes_and_only_whole_satoshis() {
        for (text, number) in [
            ("0", 0),
            ("4500", 4_500),
            ("007", 7),
            ("50k", 50_000),
            ("50K", 50_000),
            ("1.5m", 1_500_000),
            (".5k", 500),
            ("0.001k", 1),
            ("1.0000000k", 1_000),
            ("9007199254740991", 9_007_199_254_740_991),
        ] {
            assert_eq!(text.parse(), Ok(sats(number)), "{text}");
        }
        for (text, why) in [
            ("", AmountError::Shape),
            ("k", AmountError::Shape),
            (".", AmountError::Fraction),
            (".k", AmountError::Shape),
            ("1.k", AmountError::Shape),
            ("1.5", AmountError::Fraction),
            ("0.0001k", AmountError::Fraction),
            ("1.2.3k", AmountError::Shape),
            ("-1", AmountError::Shape),
            ("+1", AmountError::Shape),
            ("1,000", AmountError::Shape),
            ("1_000", AmountError::Shape),
            ("1e3", AmountError::Shape),
            ("1kk", AmountError::Shape),
            ("１", AmountError::Shape),
            ("9007199254740992", AmountError::TooMuch),
            ("9007199254741k", AmountError::TooMuch),
            ("99999999999999999999999", AmountError::TooMuch),
        ] {
            assert_eq!(text.parse::<Sats>(), Err(why), "{text}");
        }
    }

    #[test]
    fn shows_thousands() {
        for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(sats(number).to_string(), shown);
        }
        assert_eq!(format!("{:>7}", sats(1_000)), "  1,000");
    }

    #[test]
    fn sums_do_not_wrap() {
        assert_eq!(Sats::MAX.plus(Sats::ZERO), Some(Sats::MAX));
        assert_eq!(Sats::MAX.plus(sats(1)), None);
        assert_eq!(sats(1).less(sats(2)), Sats::ZERO);
        assert_eq!(Sats::sum([Sats::MAX, Sats::MAX]), Sats::MAX);
        assert!(serde_json::from_str::<Sats>("9007199254740992").is_err());
    }
}
