//! A note is read to the letter. One that the book's key signed says what was signed, and a text that it
//! would sign is a checkpoint only if writing the checkpoint gives the same text.

use granted_core::ledger::checkpoint::{BookKey, Claimed};
use granted_core::ledger::note::{Note, Signer, Verifier};

/// The note of `docs/format.md`, and the seed of the key that signed it.
const SIGNED: &str = include_str!("../corpus/note/signed");
const SEED: [u8; 32] = [7; 32];

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(key) = text.parse::<Verifier>() {
        assert_eq!(key.to_string(), text);
    }
    let signed = Claimed::parse(SIGNED).expect("the seed is a checkpoint");
    let book = signed.book();
    let key = BookKey::new(book, &SEED).expect("a book has a key").verifier();
    let signed = signed.verify(&key).expect("the seed is signed");
    // The key signed nothing else.
    if let Ok(said) = Note::parse(text).and_then(|note| note.verify(&key)) {
        assert_eq!(said, signed.to_string());
        assert_eq!(Claimed::parse(text).and_then(|claimed| claimed.verify(&key)), Ok(signed));
    }
    let signer = Signer::new(format!("granted/{book}").parse().expect("it is a name"), &SEED);
    let note = signer.sign(text);
    if let Ok(claimed) = Claimed::parse(&note)
        && let Ok(verified) = claimed.verify(&key)
    {
        assert_eq!(verified.to_string(), text);
    }
}
