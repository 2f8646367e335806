//! The store in memory keeps the contract.

use std::sync::Arc;

use granted_testkit::{MemoryLedger, contract};

#[test]
fn keeps_the_contract() {
    contract::all(&|clock| Arc::new(MemoryLedger::new(clock)));
}
