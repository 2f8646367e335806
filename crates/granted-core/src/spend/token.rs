//! The bearer token by which an agent's server is known. It lets its holder ask and read, never spend.

use std::fmt;

use crate::digest::Digest;

/// A token: 32 random bytes, shown once as 64 hexadecimal digits and kept only as a digest.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// The token of these random bytes.
    pub fn new(random: [u8; 32]) -> Token {
        Token(random)
    }

    /// Reads 64 hexadecimal digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Token> {
        Digest::parse(&text.to_ascii_lowercase()).map(|Digest(bytes)| Token(bytes))
    }

    /// What is kept of it.
    pub fn hash(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// Whether it is the token of this digest. Takes as long whatever the answer.
    pub fn is_of(&self, hash: Digest) -> bool {
        let differing = |bits, (a, b): (&u8, &u8)| bits | (a ^ b);
        self.hash().0.iter().zip(&hash.0).fold(0, differing) == 0
    }

    /// The digits, to be shown to the person once.
    pub fn reveal(&self) -> String {
        Digest(self.0).to_string()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_known_by_its_digest_and_never_shown() {
        let token = Token::new([7; 32]);
        let shown = token.reveal();
        assert_eq!(shown, "07".repeat(32));
        let read = Token::parse(&shown).unwrap();
        assert!(read.is_of(token.hash()) && Token::parse(&shown.to_uppercase()).is_some());
        assert_eq!(token.hash(), Digest::of(&[7; 32]));
        for flip in [0, 31] {
            let mut other = [7; 32];
            other[flip] ^= 1;
            assert!(!Token::new(other).is_of(token.hash()));
        }
        for bad in ["", "07", &"0g".repeat(32), &"07".repeat(33)] {
            assert!(Token::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(format!("{token:?}"), "Token");
    }
}
