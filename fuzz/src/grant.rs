//! A document never says more than the grant that was minted: it agrees only if it reads as that
//! grant, unspent.

use granted_core::decision::Grant;
use granted_core::decision::document::{Document, Standing, render, standing};

const MINTED: &str = include_str!("../corpus/grant/minted.json");

pub fn run(bytes: &[u8]) {
    let minted: Grant = serde_json::from_str(MINTED).expect("the seed is a grant");
    if standing(&Document::Bytes(bytes.to_vec()), &minted) == Standing::Agrees {
        let read: Grant = serde_json::from_slice(bytes).expect("it agrees");
        assert_eq!(read, minted);
    }
    if let Ok(grant) = serde_json::from_slice::<Grant>(bytes) {
        let again: Grant = serde_json::from_str(&render(&grant)).expect("a document is a grant");
        assert_eq!(again, grant);
    }
}
