//! Whatever a file holds, checking it ends in an answer; what holds is written in one way. And whatever lines a
//! book's own key signs, so does checking the proof of them.

use granted_core::digest::Digest;
use granted_core::ledger::{Event, Line, Row};
use granted_core::proof::verify;
use granted_core::time::Stamp;
use granted_testkit::tale::Tale;

pub fn run(bytes: &[u8]) {
    check(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = (1..).zip(text.lines()).map(|(seq, line)| signed(seq, line)).collect();
    let tale = Tale { lines, ..Tale::default() };
    let minted = tale.lines.iter().find_map(|line| match Row::parse(&line.bytes).ok()?.event {
        Event::Minted(minted) => Some(minted.grant.id),
        _ => None,
    });
    if let Some(grant) = minted {
        let moved = |line: &&Line| {
            let mut words = line.bytes.windows(6);
            words.any(|word| word == b"grant:" || word == b"trust:")
        };
        let seqs: Vec<u64> = tale.lines.iter().filter(moved).map(|line| line.seq).collect();
        check(tale.prove_by(grant, &seqs).as_bytes());
    }
}

fn signed(seq: u64, line: &str) -> Line {
    let bytes = line.as_bytes().to_vec();
    Line { seq, at: Stamp::from_micros(0), hash: Digest::of(&bytes), bytes }
}

fn check(proof: &[u8]) {
    if verify(proof, &[]).is_ok() {
        assert!(verify(&[proof, b" "].concat(), &[]).is_err());
        let bare = proof.strip_suffix(b"\n").unwrap_or(proof);
        assert!(verify(bare, &[]).is_ok());
        assert!(verify(&[bare, b"\n"].concat(), &[]).is_ok());
    }
}
