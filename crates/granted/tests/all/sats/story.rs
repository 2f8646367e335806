//! The same story through each kind of provider.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Person;
use crate::bitcoin::{Electrum, Esplora, Node};

/// Waits until what tells the chain knows what the node knows.
type Until<'a> = &'a mut dyn FnMut(&Node);

/// Fund, send, confirm; bump; a reorg; the same history from the words alone.
fn story(node: &Node, provider: &str, until: Until<'_>) {
    let ada = Person::new(provider);
    let words = ada.init();
    assert_eq!(ada.balance(), 0);
    let nothing = ada.run(&["send", &node.address(), "1k", "--dry-run"]).exits(1);
    assert!(nothing.stderr.contains("this wallet holds nothing yet"), "{nothing:?}");

    // What came is pending until it is confirmed.
    node.pay(&ada.address(), 1_000_000);
    until(node);
    let balance = ada.json(&["balance"]);
    assert_eq!(balance, json!({"balance_sat": 0, "pending_sat": 1_000_000, "synced": true}));
    node.mine(1);
    until(node);
    assert_eq!(ada.balance(), 1_000_000);

    // Nothing is kept of a dry run.
    let to = node.address();
    let dry = ada.json(&["send", &to, "50k", "--dry-run", "--fee-rate", "2"]);
    assert_eq!((&dry["amount_sat"], &dry["dry_run"]), (&json!(50_000), &json!(true)), "{dry}");
    let told = ada.run(&["send", &to, "50k", "--dry-run", "--fee-rate", "2"]).ok().stdout;
    assert!(told.contains(" sat on regtest\n"), "{told}");
    let came = ada.run(&["history"]).ok().stdout;
    assert!(came.contains(" +1,000,000 sat "), "{came}");
    assert!(node.mempool().is_empty());

    let sent = ada.send(&to, "50k", &["--fee-rate", "2"]).ok().json();
    assert_eq!((&sent["amount_sat"], &sent["fee_sat"]), (&dry["amount_sat"], &dry["fee_sat"]));
    let txid = sent["txid"].as_str().unwrap();
    assert_eq!(node.mempool(), [txid]);
    until(node);
    let status = ada.status(&txid[..8]);
    assert_eq!((&status["status"], &status["seen"]), (&json!("broadcast"), &json!("mempool")));
    // Its own change may be spent at once.
    assert_eq!(ada.balance(), 1_000_000 - sent["total_sat"].as_u64().unwrap());

    // Too little is not taken in its place; more is, and the recipient gets the same.
    let low = ada.signs(&["tx", "bump", txid, "--fee-rate", "2"]).exits(1);
    assert!(low.stderr.contains("the fee rate is too low to replace it"), "{low:?}");
    let bumped = ada.signs(&["tx", "bump", txid, "--fee-rate", "9", "--json"]).ok().json();
    assert_eq!((&bumped["replaced"], &bumped["amount_sat"]), (&json!(txid), &json!(50_000)));
    assert!(bumped["fee_sat"].as_u64() > sent["fee_sat"].as_u64(), "{bumped}");
    let txid = bumped["txid"].as_str().unwrap();
    assert_eq!(node.mempool(), [txid]);

    node.mine(1);
    until(node);
    assert_eq!(node.received(&to), 50_000);
    let confirmed = ada.status(txid);
    assert_eq!((&confirmed["seen"], &confirmed["confirmations"]), (&json!("confirmed"), &json!(1)));
    let late = ada.signs(&["tx", "bump", txid, "--fee-rate", "20"]).exits(1);
    assert!(late.stderr.contains("is confirmed: nothing can replace it"), "{late:?}");

    // Its block is taken back: it waits again, and nothing is lost.
    let before = ada.balance();
    node.invalidate_tip();
    node.mine_empty(2);
    until(node);
    let waits = ada.status(txid);
    assert_eq!(waits["seen"], "mempool", "{waits}");
    assert_eq!(ada.balance(), before);
    node.mine(1);
    until(node);
    assert_eq!(ada.status(txid)["seen"], "confirmed");

    // Whoever has the words sees the same.
    let again = Person::new(provider);
    again.restore(&words);
    let plain = |entries: Vec<Value>| -> Vec<Value> {
        let without = |mut entry: Value| {
            // To whom is known only where it was signed; a fee, where every input is.
            entry["recipient"].take();
            entry["fee_sat"].take();
            entry
        };
        entries.into_iter().map(without).collect()
    };
    let history = plain(again.history());
    assert_eq!(history, plain(ada.history()));
    assert_eq!(history.len(), 2, "{history:?}");
    assert_eq!(again.balance(), ada.balance());
    // And goes on from there.
    again.send(&node.address(), "1k", &[]).ok();
    assert_eq!(node.mempool().len(), 1);
}

#[test]
fn through_a_node() {
    let node = Node::start();
    story(&node, &format!("core={}", node.url_with_user()), &mut |_| {});
}

#[test]
fn through_an_electrum_server() {
    let node = Node::start();
    let mut server = Electrum::start(&node);
    let url = format!("electrum={}", server.url());
    story(&node, &url, &mut |node| server.until(node));
}

#[test]
fn through_an_esplora_server() {
    let node = Arc::new(Node::start());
    let server = Esplora::start(node.clone());
    story(&node, &format!("esplora={}", server.url()), &mut |_| {});
}

/// A wallet that is told the chain by one kind of provider goes on with another.
#[test]
fn providers_may_be_exchanged() {
    let (mut ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    assert_eq!(ada.balance(), 1_000_000);
    ada.flags.truncate(2);
    let cookie = node.cookie();
    let add =
        ["providers", "add", "node", "core", &node.url(), "--cookie", cookie.to_str().unwrap()];
    ada.run(&add).ok();
    node.pay(&ada.address(), 500_000);
    node.mine(1);
    assert_eq!(ada.balance(), 1_500_000);
    let mut electrum = Electrum::start(&node);
    let run = ada.run(&["providers", "add", "My Server", "electrum", &electrum.url()]).exits(2);
    assert!(run.stderr.contains("1 to 32 of a-z 0-9 _ -"), "{run:?}");
    // The one that was used goes on being used.
    let added = ada.run(&["providers", "add", "server", "electrum", &electrum.url()]).ok();
    assert!(added.stderr.contains("regtest has several, and uses node: "), "{added:?}");
    let used = |name: &str| {
        let listed = ada.json(&["providers", "list"]);
        let is = |entry: &&Value| entry["name"] == name;
        listed.as_array().unwrap().iter().find(is).unwrap()["used"] == true
    };
    assert!(used("node") && !used("server"));
    assert_eq!(ada.balance(), 1_500_000);
    ada.run(&["providers", "use", "server"]).ok();
    assert!(used("server") && !used("node"));
    // Nor does one that is changed take its place.
    ada.run(&add).ok();
    assert!(used("server"));
    node.pay(&ada.address(), 250_000);
    node.mine(1);
    electrum.until(&node);
    assert_eq!(ada.balance(), 1_750_000);
}
