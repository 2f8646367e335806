//! Proofs: every shape holds, and what was changed does not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use granted_core::proof::{Failed, verify};
use granted_core::trust::PublicKey;
use granted_testkit::{forged, proofs};

#[test]
fn every_shape_holds() {
    let good = proofs::good();
    assert!(good.len() >= 30, "{}", good.len());
    for proofs::Good { name, text, keys, over } in good {
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
