//! Checkpoints: what a ledger held at one time, signed by the book's own key.
//!
//! A checkpoint is a signed note in the form of C2SP's `tlog-checkpoint`: whose ledger, how many
//! rows, and the root of the tree over them. One more line names the last of these rows, so that
//! somebody with the ledger can see by reading that row alone whether it still goes on from there.
//!
//! Each state is a type. A [`Checkpoint`] says something; [`Claimed`] is one that was read and whose
//! signature nobody has looked at; [`Verified`] is one that the book's key signed.

use std::fmt;

use base64ct::{Base64, Encoding as _};

use super::note::{KeyName, Note, NoteError, Signer, Verifier};
use crate::digest::Digest;
use crate::id::Id;
use crate::json::MAX_INT;

/// What a ledger held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whose ledger.
    pub book: Id,
    /// How many rows; at least one.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
    /// The digest of the last of them.
    pub head: Digest,
    /// Where the line of that one begins.
    pub offset: u64,
}

impl Checkpoint {
    /// The note that says so, signed by the book's key.
    pub fn sign(&self, key: &BookKey) -> String {
        key.0.sign(&self.to_string())
    }
}

impl fmt::Display for Checkpoint {
    /// The text that is signed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checkpoint { book, size, root, head, offset } = self;
        let root = Base64::encode_string(&root.0);
        writeln!(f, "{}\n{size}\n{root}\nhead {head} {offset}", origin(*book))
    }
}

/// The first line of a book's checkpoints, and the name of its key.
fn origin(book: Id) -> String {
    format!("granted/{book}")
}

/// A book's own private key.
pub struct BookKey(Signer);

impl BookKey {
    /// The key that these 32 secret bytes make.
    pub fn new(book: Id, seed: &[u8; 32]) -> Result<BookKey, NoteError> {
        Ok(BookKey(Signer::new(name(book)?, seed)))
    }

    /// Reads the key of this book from unencrypted PKCS#8 in PEM.
    pub fn from_pem(book: Id, pem: &str) -> Result<BookKey, NoteError> {
        Ok(BookKey(Signer::from_pem(name(book)?, pem)?))
    }

    /// The key as unencrypted PKCS#8 in PEM.
    pub fn to_pem(&self) -> zeroize::Zeroizing<String> {
        self.0.to_pem()
    }

    /// The public half.
    pub fn verifier(&self) -> Verifier {
        self.0.verifier()
    }
}

/// Reads the public key of this book, as `NAME+ID+KEY`.
pub fn verifier(book: Id, text: &str) -> Result<Verifier, NoteError> {
    let key: Verifier = text.parse()?;
    match *key.name() == name(book)? {
        true => Ok(key),
        false => Err(NoteError::Form("the key bears another name than the ledger's")),
    }
}

fn name(book: Id) -> Result<KeyName, NoteError> {
    origin(book).parse()
}

/// A checkpoint that was read. Nobody has looked at its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed<'t> {
    note: Note<'t>,
    says: Checkpoint,
}

impl<'t> Claimed<'t> {
    /// Reads a note to the letter.
    pub fn parse(text: &'t str) -> Result<Claimed<'t>, NoteError> {
        let note = Note::parse(text)?;
        match says(note.unverified_text()) {
            Some(says) => Ok(Claimed { note, says }),
            None => Err(NoteError::Form("its text is no checkpoint of a ledger of granted")),
        }
    }

    /// Whose ledger it says it is about.
    pub fn book(&self) -> Id {
        self.says.book
    }

    /// How many rows it says that ledger had.
    pub fn size(&self) -> u64 {
        self.says.size
    }

    /// The checkpoint, if this key signed it.
    pub fn verify(&self, key: &Verifier) -> Result<Verified, NoteError> {
        self.note.verify(key)?;
        Ok(Verified(self.says))
    }
}

/// A checkpoint that the book's key signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified(Checkpoint);

impl std::ops::Deref for Verified {
    type Target = Checkpoint;

    fn deref(&self) -> &Checkpoint {
        &self.0
    }
}

/// What the text of a note says, if that is just how we would have written it.
fn says(text: &str) -> Option<Checkpoint> {
    let mut lines = text.lines();
    let book = lines.next()?.strip_prefix("granted/")?.parse().ok()?;
    let size = lines.next()?.parse().ok()?;
    let root = Base64::decode_vec(lines.next()?).ok()?;
    let (head, offset) = lines.next()?.strip_prefix("head ")?.split_once(' ')?;
    let (head, offset) = (Digest::parse(head)?, offset.parse().ok()?);
    let says = Checkpoint { book, size, root: Digest(root.try_into().ok()?), head, offset };
    let fits = (1..=MAX_INT).contains(&size) && offset <= MAX_INT;
    (fits && says.to_string() == text).then_some(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            book: "01M3RN7Q7T0009WDVSQ5ZMMZ0N".parse().unwrap(),
            size: 22,
            root: Digest::of(b"root"),
            head: Digest::of(b"head"),
            offset: 12_345,
        }
    }

    #[test]
    fn says_what_was_signed_and_by_whom() {
        let (says, book) = (checkpoint(), checkpoint().book);
        let key = BookKey::new(book, &[1; 32]).unwrap();
        let note = says.sign(&key);
        let claimed = Claimed::parse(&note).unwrap();
        assert_eq!((claimed.book(), claimed.size()), (book, 22));
        assert_eq!(*claimed.verify(&key.verifier()).unwrap(), says);
        // Another key of the same book, and the same key as that of another.
        let other = BookKey::new(book, &[2; 32]).unwrap().verifier();
        assert_eq!(claimed.verify(&other), Err(NoteError::NotSigned(Box::new(other))));
        let id = "01M3RN7Q7T0009WDVSQ5ZMMZ0P".parse().unwrap();
        let other = BookKey::new(id, &[1; 32]).unwrap().verifier();
        assert_eq!(claimed.verify(&other), Err(NoteError::NotSigned(Box::new(other))));
    }

    #[test]
    fn other_texts_are_no_checkpoints() {
        let key = BookKey::new(checkpoint().book, &[1; 32]).unwrap();
        let text = checkpoint().to_string();
        assert!(Claimed::parse(&key.0.sign(&text)).is_ok());
        for bad in [
            "example.com/log\n22\n".to_owned(),
            text.replace("granted/", "granted/0"),
            text.replace("granted/", ""),
            text.replace("\n22\n", "\n022\n"),
            text.replace("\n22\n", "\n+22\n"),
            text.replace("\n22\n", "\n0\n"),
            text.replace("\n22\n", "\n9007199254740992\n"),
            text.replace("\n22\n", "\n-22\n"),
            text.replace(" 12345", " 012345"),
            text.replace(" 12345", ""),
            text.replace("head ", "head  "),
            text.replace("=\n", "\n"),
            text.replace("\nhead", "\nmore\nhead"),
            format!("{text}more\n"),
            text.to_uppercase(),
            text.lines().take(3).map(|line| format!("{line}\n")).collect(),
        ] {
            assert_ne!(bad, text);
            assert!(Claimed::parse(&key.0.sign(&bad)).is_err(), "{bad}");
        }
    }
}
