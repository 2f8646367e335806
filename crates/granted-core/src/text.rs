//! Text that people read and agents write: which characters are shown, and the bounded names.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether a character is shown as it is: a letter, mark, digit, punctuation mark, symbol or the
/// plain space. Controls, format and bidirectional characters, private use, other spaces and line
/// separators are not.
pub fn is_shown(c: char) -> bool {
    // The same answer as below, without the search in a table.
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Letter
        | GeneralCategoryGroup::Mark
        | GeneralCategoryGroup::Number
        | GeneralCategoryGroup::Punctuation
        | GeneralCategoryGroup::Symbol => true,
        GeneralCategoryGroup::Separator | GeneralCategoryGroup::Other => c == ' ',
    }
}

/// Displays a text with every character that [`is_shown`] refuses written as `\u{…}`.
pub struct Shown<'a>(pub &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if is_shown(c) {
                fmt::Write::write_char(f, c)?;
            } else {
                write!(f, "\\u{{{:x}}}", u32::from(c))?;
            }
        }
        Ok(())
    }
}

/// The text's first `chars` characters, with `…` behind them if there were more.
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A text as one word for a shell.
pub fn for_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Why a text is not the name, id or note that it was given as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Empty, or beyond the bound.
    #[error("{what}: it has 1 to {max} {unit}")]
    Length {
        /// What it was to be.
        what: &'static str,
        /// The bound.
        max: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A character that the kind of text may not hold.
    #[error("{what}: it may not hold the character {}", Escaped(*.character))]
    Character {
        /// What it was to be.
        what: &'static str,
        /// The first offender.
        character: char,
    },
    /// A character that is none of a small set.
    #[error("{what}: it may not hold the character {}, only {set}", Escaped(*.character))]
    NoneOf {
        /// What it was to be.
        what: &'static str,
        /// The first offender.
        character: char,
        /// What it may hold.
        set: &'static str,
    },
}

struct Escaped(char);

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; 4];
        write!(f, "`{}`", Shown(self.0.encode_utf8(&mut buffer)))
    }
}

/// Declares a validated, owned text.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks the text.
            pub fn new(text: impl Into<Box<str>>) -> Result<$name, TextError> {
                let text = text.into();
                let check: fn(&str) -> Result<(), TextError> = $check;
                check(&text)?;
                Ok($name(text))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Shown(&self.0).fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = TextError;
            fn from_str(text: &str) -> Result<$name, TextError> {
                $name::new(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                $crate::json::text(deserializer, str::parse)
            }
        }
    };
}
pub(crate) use text_type;

fn characters(what: &'static str, max: usize, text: &str) -> Result<(), TextError> {
    if text.is_empty() || text.chars().nth(max).is_some() {
        return Err(TextError::Length { what, max, unit: "characters" });
    }
    match text.chars().find(|c| !is_shown(*c)) {
        Some(character) => Err(TextError::Character { what, character }),
        None => Ok(()),
    }
}

text_type!(
    /// The type of an object: 1 to 64 of `A-Za-z0-9._-`.
    ObjectType,
    |text| {
        if text.is_empty() || text.len() > 64 {
            return Err(TextError::Length { what: "type", max: 64, unit: "characters" });
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        match text.chars().find(|c| !plain(*c)) {
            Some(character) => Err(TextError::Character { what: "type", character }),
            None => Ok(()),
        }
    }
);

text_type!(
    /// The id of an object: 1 to 256 characters that are shown as they are, compared byte for
    /// byte.
    ObjectId,
    |text| characters("id", 256, text)
);

text_type!(
    /// The name of an action, an executor, a key of an attempt, or an agent: 1 to 64 characters
    /// that are shown as they are.
    Name,
    |text| characters("name", 64, text)
);

impl Name {
    /// `exec`: the name of a command that stands on the command line. No registered executor has
    /// it, so that a grant which pins an executor is never discharged by such a command.
    pub fn exec() -> Name {
        Name("exec".into())
    }
}

text_type!(
    /// What a person wrote: 1 to 1,024 bytes of anything. It is shown escaped.
    Note,
    |text| match text.len() {
        1..=1024 => Ok(()),
        _ => Err(TextError::Length { what: "text", max: 1024, unit: "bytes" }),
    }
);

text_type!(
    /// Words for the person to read, such as a grant's scope: at most 1,024 bytes, also none.
    Words,
    |text| match text.len() {
        0..=1024 => Ok(()),
        _ => Err(TextError::Length { what: "text", max: 1024, unit: "bytes" }),
    }
);

impl Default for Words {
    /// None.
    fn default() -> Words {
        Words("".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_plain_text_and_escapes_the_rest() {
        assert_eq!(Shown("añ 日本-€ 😀").to_string(), "añ 日本-€ 😀");
        assert_eq!(
            Shown("a\u{1b}[2Jb\u{202e}\n\u{a0}\u{e000}\u{2028}").to_string(),
            "a\\u{1b}[2Jb\\u{202e}\\u{a}\\u{a0}\\u{e000}\\u{2028}"
        );
    }

    #[test]
    fn ascii_has_its_categories() {
        for c in '\0'..='\u{ff}' {
            let plain = c == ' '
                || !matches!(
                    c.general_category_group(),
                    GeneralCategoryGroup::Separator | GeneralCategoryGroup::Other
                );
            assert_eq!(is_shown(c), plain, "{c:?}");
        }
    }

    #[test]
    fn names_are_bounded() {
        assert!(ObjectType::new("report").is_ok());
        for bad in ["", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(ObjectType::new(bad).is_err(), "{bad}");
        }
        assert!(ObjectId::new("../..").is_ok());
        assert!(ObjectId::new("é".repeat(256)).is_ok());
        assert!(ObjectId::new("é".repeat(257)).is_err());
        assert_eq!(
            ObjectId::new("a\u{202e}").unwrap_err().to_string(),
            "id: it may not hold the character `\\u{202e}`"
        );
        assert!(Note::new("x".repeat(1024)).is_ok());
        assert!(Note::new("").is_err());
    }

    #[test]
    fn cut_counts_characters() {
        assert_eq!(cut("日本語", 3), "日本語");
        assert_eq!(cut("日本語", 2), "日本…");
    }
}
