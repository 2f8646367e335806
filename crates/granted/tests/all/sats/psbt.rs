//! Transactions that are signed somewhere else, and outputs that are kept back.

use serde_json::json;

use super::{PASSWORD, Person};

#[test]
fn what_is_exported_is_looked_at_signed_and_sent() {
    let (ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    let to = node.address();
    let exported = ada.json(&["send", &to, "50k", "--export-psbt", "a.psbt"]);
    assert_eq!(exported["psbt_file"], "a.psbt");
    let again = ada.run(&["send", &to, "50k", "--export-psbt", "a.psbt"]).exits(1);
    assert!(again.stderr.contains("a.psbt"), "{again:?}");
    let seen = ada.json(&["psbt", "inspect", "a.psbt"]);
    assert_eq!((&seen["signed_inputs"], &seen["finalized"]), (&json!(0), &json!(false)));
    assert_eq!(seen["fee_sat"], exported["fee_sat"]);
    let outputs = seen["outputs"].as_array().unwrap();
    assert!(outputs.contains(&json!({"address": to, "value_sat": 50_000})), "{seen}");

    // Into a file only: nothing is kept.
    let file = ada.signs(&["psbt", "sign", "a.psbt", "--out", "b.psbt", "--json"]).ok().json();
    assert_eq!(file, json!({"psbt_file": "b.psbt", "finalized": true}));
    assert_eq!(ada.json(&["psbt", "inspect", "b.psbt"])["finalized"], true);
    assert_eq!(ada.json(&["status", "--offline"])["pending"], json!([]));

    let signed = ada.signs(&["psbt", "sign", "a.psbt", "--json"]).ok().json();
    assert_eq!((&signed["recipient"], &signed["amount_sat"]), (&json!(to), &json!(50_000)));
    let txid = signed["txid"].as_str().unwrap();
    assert!(node.mempool().is_empty());
    ada.run(&["tx", "broadcast", txid]).ok();
    assert_eq!(node.mempool(), [txid]);

    // A file of digits is sent too.
    let raw = node.call("getrawtransaction", &[json!(txid)]);
    ada.home.write("raw.hex", raw.as_str().unwrap());
    let again = ada.json(&["tx", "broadcast", "raw.hex"]);
    assert_eq!(again, json!({"txid": txid, "status": "mempool"}));
    ada.home.write("raw.hex", "nonsense");
    ada.run(&["tx", "broadcast", "raw.hex"]).exits(1);
    ada.run(&["psbt", "inspect", "raw.hex"]).exits(1);
}

/// What is signed into a file is in no record, so only the person can know.
#[test]
fn a_coin_that_another_payment_holds_is_named() {
    let (ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    for (amount, file) in [("10k", "a.psbt"), ("20k", "b.psbt")] {
        ada.json(&["send", &node.address(), amount, "--export-psbt", file]);
    }
    let first = ada.signs(&["psbt", "sign", "a.psbt", "--json"]).ok().json()["txid"].clone();
    let mut pty = ada.at_terminal(&["psbt", "sign", "b.psbt", "--out", "c.psbt"]);
    let first = first.as_str().unwrap();
    pty.until(&format!("{first} was signed before and spends the same coins"));
    pty.until("sign it? [y/N] ");
    pty.line("n");
    pty.end().exits(1);
}

#[test]
fn what_is_not_this_wallets_is_shown_and_not_kept() {
    let (ada, node, esplora) = Person::with_esplora();
    let bob = Person::new(&format!("esplora={}", esplora.url()));
    bob.init();
    node.pay(&bob.address(), 1_000_000);
    node.mine(1);
    bob.json(&["send", &node.address(), "50k", "--export-psbt", "bob.psbt"]);
    std::fs::copy(bob.home.dir().join("bob.psbt"), ada.home.dir().join("bob.psbt")).unwrap();
    let mut pty = ada.at_terminal(&["psbt", "sign", "bob.psbt", "--json"]);
    pty.until("it is no payment of this wallet alone: an input spends what is not this wallet's");
    pty.until("sign it? [y/N] ");
    pty.line("y");
    pty.password("password of the wallet: ", PASSWORD);
    let signed = pty.end().ok().json();
    assert_eq!(signed, json!({"psbt_file": "bob.signed.psbt", "finalized": false}));
    assert_eq!(ada.json(&["status", "--offline"])["pending"], json!([]));
    assert_eq!(ada.json(&["psbt", "inspect", "bob.signed.psbt"])["signed_inputs"], 0);
}

#[test]
fn outputs_of_546_and_330_are_kept_back() {
    let (ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 546);
    node.pay(&ada.address(), 330);
    node.mine(1);
    let to = node.address();
    let all = ada.run(&["send", &to, "400", "--dry-run"]).exits(1);
    assert!(all.stderr.contains("all that this wallet holds is kept back"), "{all:?}");
    node.pay(&ada.address(), 547);
    node.mine(1);
    let few = ada.run(&["send", &to, "500", "--dry-run", "--fee-rate", "1"]).exits(1);
    assert!(few.stderr.contains("and 547 sat are there"), "{few:?}");
    node.pay(&ada.address(), 100_000);
    node.mine(1);
    let dry = ada.json(&["send", &to, "500", "--dry-run"]);
    assert_eq!(dry["excluded_utxos"].as_array().unwrap().len(), 2, "{dry}");
    let dry = ada.json(&["send", &to, "500", "--dry-run", "--allow-dust"]);
    assert_eq!(dry["excluded_utxos"], json!([]));
    let dust = ada.run(&["send", &to, "100", "--dry-run"]).exits(1);
    assert!(dust.stderr.contains("below what the network relays"), "{dust:?}");
}

#[test]
fn an_address_belongs_to_its_network() {
    let ada = Person::new("esplora=http://127.0.0.1:1");
    ada.init();
    for (address, why) in [
        (
            "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
            "is no address of regtest",
        ),
        ("nonsense", "is no bitcoin address"),
    ] {
        let run = ada.run(&["send", address, "1k", "--dry-run"]).exits(2);
        assert!(run.stderr.contains(why), "{run:?}");
    }
    for amount in ["1.5", "-1", "1e3", "0.0001k", ""] {
        ada.run(&["send", "x", amount, "--dry-run"]).exits(2);
    }
}

/// A replaced payment takes those with it that spend its change, which may be agents'.
#[test]
fn a_payment_that_others_build_on_is_not_replaced() {
    let (ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    let to = node.address();
    let first = ada.send(&to, "50k", &["--fee-rate", "2", "--yes"]).ok().json();
    let second = ada.send(&to, "10k", &["--fee-rate", "2", "--yes"]).ok().json();
    let txid = |sent: &serde_json::Value| sent["txid"].as_str().unwrap().to_owned();
    let bump = ada.signs(&["tx", "bump", &txid(&first), "--fee-rate", "50"]).exits(1);
    assert!(bump.stderr.contains("would be undone with it"), "{bump:?}");
    assert_eq!(node.mempool().len(), 2);
    ada.signs(&["tx", "bump", &txid(&second), "--fee-rate", "50"]).ok();
}
