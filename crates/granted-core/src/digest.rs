//! SHA-256 digests, shown and read as 64 lower-case hexadecimal digits.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest as _;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The 64 zeros that stand before the first row.
    pub const ZERO: Digest = Digest([0; 32]);

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(sha2::Sha256::digest(bytes).into())
    }

    /// Reads exactly 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Digest> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = value(*high)? << 4 | value(*low)?;
        }
        Some(Digest(bytes))
    }

    /// Writes the 64 digits.
    fn hex(self, buffer: &mut [u8; 64]) -> &str {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
        for (pair, byte) in buffer.chunks_exact_mut(2).zip(self.0) {
            if let [high, low] = pair {
                *high = digit(byte >> 4);
                *low = digit(byte & 15);
            }
        }
        // Only ASCII digits were written.
        std::str::from_utf8(buffer).unwrap_or_default()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hex(&mut [0; 64]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.hex(&mut [0; 64]))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Digest::parse(&text).ok_or_else(|| D::Error::custom("a digest is 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_both_ways() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Some(digest));
        assert_eq!(Digest::parse(&text.to_uppercase()), None);
        assert_eq!(Digest::parse(&text[1..]), None);
    }
}
