//! Proofs: every shape holds, and what was changed does not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::convert::Infallible;

use granted_core::digest::Digest;
use granted_core::ledger::tree::{Nodes, beside};
use granted_core::proof::{Failed, verify};
use granted_core::trust::PublicKey;
use granted_testkit::forged;
use granted_testkit::proofs::{self, Good};

#[test]
fn every_shape_holds() {
    let good = proofs::good();
    assert!(good.len() >= 30, "{}", good.len());
    for Good { name, text, keys, over, .. } in good {
        let keys: Vec<PublicKey> = keys.into_iter().map(|key| key.public).collect();
        let proven = verify(text.as_bytes(), &keys).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(proven.is_over(), over, "{name}");
    }
}

#[test]
fn what_the_book_itself_forges_is_found_by_its_check() {
    for list in [forged::rows(), forged::grants(), forged::histories(), forged::signatures()] {
        for forged::Forged { name, text, check } in list {
            match verify(text.as_bytes(), &[]) {
                Err(Failed::Invalid(invalid)) => {
                    assert_eq!(invalid.check, check, "{name}: {invalid}")
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

/// A tree that only tells how many hashes stand beside some rows.
struct Counted;

impl Nodes for Counted {
    type Error = Infallible;

    fn leaf(&mut self, _: u64) -> Result<Digest, Infallible> {
        Ok(Digest::ZERO)
    }

    fn full(&mut self, _: u32, _: u64) -> Result<Digest, Infallible> {
        Ok(Digest::ZERO)
    }
}

#[test]
fn a_proof_of_a_signed_single_use_is_short_in_a_million_rows() {
    let good = proofs::good();
    let signed = good.iter().find(|good| good.name == "signed by a key in a file").unwrap();
    let proof: serde_json::Value = serde_json::from_str(&signed.text).unwrap();
    let count = |value: &serde_json::Value| value.as_array().unwrap().len();
    // Two rows of trust at the beginning, one that mints, and far from it the three of the attempt.
    assert_eq!(count(&proof["rows"]), 6);
    let indices = [1, 2, 333_333, 666_667, 666_670, 666_671];
    let Ok(hashes) = beside(&indices, 1_000_000, &mut Counted);
    // A hash is 44 characters, two quotes and a comma.
    let bytes = signed.text.len() + 47 * (hashes.len() - count(&proof["hashes"]));
    assert!(bytes < 8 * 1024, "{bytes} bytes");
}

#[test]
fn no_byte_of_a_proof_can_be_changed() {
    for Good { name, text, .. } in proofs::good().iter().take(2) {
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << (at % 7);
            assert!(verify(&bytes, &[]).is_err(), "{name}: byte {at}");
        }
    }
}
