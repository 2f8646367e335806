//! Coins of a payment that was signed and may still be sent, and where such a payment stands.

use serde_json::{Value, json};

use super::{PASSWORD, Person};
use crate::bitcoin::{Esplora, Faults, Node};

/// A person who holds two coins of a million, so that it matters to nothing which one is taken.
fn funded() -> (Person, std::sync::Arc<Node>, Esplora) {
    let (ada, node, esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    assert_eq!(ada.balance(), 2_000_000);
    (ada, node, esplora)
}

/// Signs a payment that the provider does not take; its id.
fn unsent(ada: &Person, node: &Node, esplora: &Esplora, amount: &str) -> String {
    esplora.set(Faults { refuses: true, ..Faults::default() });
    let run = ada.send(&node.address(), amount, &["--yes", "--fee-rate", "2"]).exits(1);
    esplora.set(Faults::default());
    let (_, txid) = run.stderr.split_once("sats tx broadcast ").unwrap();
    txid[..64].to_owned()
}

#[test]
fn coins_of_a_payment_that_may_be_sent_are_not_spent_again() {
    let (ada, node, esplora) = funded();
    let first = unsent(&ada, &node, &esplora, "900k");
    // Another one takes the other coin, and both confirm.
    let second = ada.send(&node.address(), "200k", &[]).ok().json();
    let lacks = ada.run(&["send", &node.address(), "900k", "--dry-run"]).exits(1);
    let why = format!("the rest is held until it is sent by `{first}`, signed before");
    assert!(lacks.stderr.contains(&why), "{lacks:?}");
    assert!(
        lacks.stderr.contains(&format!("hint: to hand it over again: sats tx broadcast {first}"))
    );
    ada.run(&["tx", "broadcast", &first]).ok();
    node.mine(1);
    for txid in [first.as_str(), second["txid"].as_str().unwrap()] {
        assert_eq!(ada.status(txid)["seen"], "confirmed");
    }
    // Nothing is held any more.
    ada.run(&["send", &node.address(), "50k", "--dry-run"]).ok();
}

/// The way out where the network does not take it for its fee.
#[test]
fn a_payment_that_was_never_sent_can_be_replaced() {
    let (ada, node, esplora) = funded();
    let first = unsent(&ada, &node, &esplora, "900k");
    let bumped = ada.signs(&["tx", "bump", &first, "--fee-rate", "9", "--json"]).ok().json();
    let second = bumped["txid"].as_str().unwrap();
    assert_eq!(node.mempool(), [second]);
    let run = ada.run(&["tx", "broadcast", &first]).exits(1);
    assert!(run.stderr.contains(&format!("{first} was replaced by {second}")), "{run:?}");
    node.mine(1);
    assert_eq!(ada.status(second)["seen"], "confirmed");
    ada.run(&["send", &node.address(), "300k", "--dry-run"]).ok();
}

/// The person signs another payment while the first one waits for the password.
#[test]
fn what_was_prepared_before_another_payment_is_not_signed() {
    let (ada, node, esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    for sent in [true, false] {
        let mut pty = ada.at_terminal(&["send", &node.address(), "10k", "--yes"]);
        pty.until("password of the wallet: ");
        let other = match sent {
            true => {
                let sent = ada.send(&node.address(), "20k", &[]).ok().json();
                sent["txid"].as_str().unwrap().to_owned()
            }
            false => unsent(&ada, &node, &esplora, "20k"),
        };
        pty.line(PASSWORD);
        let run = pty.end().exits(1);
        assert!(run.stderr.contains(&format!("`{other}` spends the same coins")), "{run:?}");
        ada.run(&["tx", "broadcast", &other]).ok();
        assert_eq!(node.mempool(), [other]);
        node.mine(1);
        assert_eq!(ada.json(&["status"])["pending"], json!([]));
    }
}

/// The way out where nothing else helps: one that shares a coin with it, so that both never confirm.
#[test]
fn a_payment_takes_the_place_of_one_that_is_stuck() {
    let (ada, node, esplora) = funded();
    let (first, to) = (unsent(&ada, &node, &esplora, "1100k"), node.address());
    let stuck = ada.run(&["send", &to, "900k", "--dry-run"]).exits(1);
    assert!(stuck.stderr.contains(&format!("sats send --instead-of {first}")), "{stuck:?}");
    let status = || ada.run(&["status", &first]).ok().stdout;
    assert!(status().contains("its coins are kept from other payments"), "{}", status());
    let mut pty = ada.at_terminal(&["send", &to, "900k", "--instead-of", &first[..9], "--json"]);
    pty.until(&format!("it takes the place of {first}, 1,100,000 sat to "));
    pty.until("only one of the two can ever confirm");
    pty.until("sign and send it?");
    pty.line("y");
    pty.password("password of the wallet: ", PASSWORD);
    let second = pty.end().ok().json()["txid"].clone();
    assert_eq!(json!(node.mempool()), json!([second]));
    // Both never confirm, whoever hands over the first.
    let record = ada.home.root().join(format!("sats/regtest/transactions/{first}.json"));
    let record: Value = serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    node.mine(1);
    let late = node.try_call("sendrawtransaction", &[record["tx_hex"].clone()]);
    assert!(late.unwrap_err().contains("missingorspent"));
    let never = format!("it can never confirm: {} is confirmed", second.as_str().unwrap());
    assert!(status().contains(&never), "{}", status());
    // Of one that the network has, or that another took the place of, nothing takes the place.
    for other in [first.as_str(), second.as_str().unwrap()] {
        let run = ada.run(&["send", &to, "1k", "--instead-of", other, "--dry-run"]).exits(1);
        assert!(run.stderr.contains("nothing can take its place"), "{run:?}");
    }
    ada.run(&["send", &to, "900k", "--dry-run"]).ok();
}

/// Of all that take its place, only one ever confirms: also where one was signed and not sent.
#[test]
fn what_takes_a_place_twice_confirms_once() {
    let (ada, node, esplora) = funded();
    let first = unsent(&ada, &node, &esplora, "1100k");
    esplora.set(Faults { refuses: true, ..Faults::default() });
    let instead = ["--instead-of", &first, "--yes"];
    let run = ada.send(&node.address(), "20k", &instead).exits(1);
    esplora.set(Faults::default());
    let (_, second) = run.stderr.split_once("sats tx broadcast ").unwrap();
    let third = ada.send(&node.address(), "30k", &instead).ok().json();
    // Less would do for the amount, and might leave a coin to the other one.
    let third = node.call("getrawtransaction", &[third["txid"].clone(), json!(1)]);
    assert_eq!(third["vin"].as_array().unwrap().len(), 2);
    node.mine(1);
    ada.run(&["tx", "broadcast", &second[..64]]).exits(1);
    ada.run(&["tx", "broadcast", &first]).exits(1);
    assert!(node.mempool().is_empty());
}

/// What takes the place of one that took a place is in the place of both, and the person is told so.
#[test]
fn what_takes_the_place_of_a_replacement_takes_that_of_the_first_too() {
    let (ada, node, esplora) = funded();
    let to = node.address();
    let stuck = |amount: &str, other: &str| {
        esplora.set(Faults { refuses: true, ..Faults::default() });
        let run = ada.send(&to, amount, &["--yes", "--instead-of", other]).exits(1);
        esplora.set(Faults::default());
        run.stderr.split_once("sats tx broadcast ").unwrap().1[..64].to_owned()
    };
    // The first spends one coin, the second both.
    let first = unsent(&ada, &node, &esplora, "900k");
    let second = stuck("1500k", &first);
    // The coin that the second does not share with the first would do.
    let mut pty = ada.at_terminal(&["send", &to, "910k", "--instead-of", &second, "--json"]);
    pty.until("sign and send it?");
    for other in [&first, &second] {
        assert!(pty.shown.contains(&format!("it takes the place of {other}")), "{}", pty.shown);
    }
    pty.line("y");
    pty.password("password of the wallet: ", PASSWORD);
    let third = pty.end().ok().json()["txid"].clone();
    assert_eq!(json!(node.mempool()), json!([third]));
    node.mine(1);
    for other in [&first, &second] {
        let run = ada.run(&["tx", "broadcast", other]).exits(1);
        assert!(run.stderr.contains("was replaced by"), "{run:?}");
    }
    assert!(node.mempool().is_empty());
}

/// The same where all spend one coin, and by a higher fee.
#[test]
fn a_fee_is_raised_in_the_place_of_all_that_share_the_coin() {
    let (ada, node, esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    assert_eq!(ada.balance(), 1_000_000);
    let first = unsent(&ada, &node, &esplora, "50k");
    esplora.set(Faults { refuses: true, ..Faults::default() });
    let run = ada.send(&node.address(), "60k", &["--yes", "--instead-of", &first]).exits(1);
    esplora.set(Faults::default());
    let second = run.stderr.split_once("sats tx broadcast ").unwrap().1[..64].to_owned();
    let mut pty = ada.at_terminal(&["tx", "bump", &second, "--fee-rate", "9", "--json"]);
    pty.until(&format!("it takes the place of {first}, 50,000 sat to "));
    pty.until("sign and send it in its place?");
    pty.line("y");
    pty.password("password of the wallet: ", PASSWORD);
    let bumped = pty.end().ok().json();
    assert_eq!(bumped["replaced"], json!(second));
    assert_eq!(json!(node.mempool()), json!([bumped["txid"]]));
}

/// A person who is shown a replacement and says no has sent nothing.
#[test]
fn a_replacement_that_is_declined_leaves_no_trace() {
    let (ada, node, esplora) = funded();
    let first = unsent(&ada, &node, &esplora, "900k");
    let mut pty = ada.at_terminal(&["tx", "bump", &first, "--fee-rate", "9"]);
    pty.until("sign and send it in its place?");
    pty.line("n");
    pty.end().exits(1);
    let seen = ada.json(&["status", &first, "--offline"])["seen"].clone();
    assert_eq!(seen, "unseen");
    let sent = ada.json(&["tx", "broadcast", &first]);
    assert_eq!(sent, json!({"txid": first, "status": "sent"}));
    assert_eq!(node.mempool(), [first]);
}

/// Both look at the coin when both passwords are typed.
#[test]
fn of_two_payments_on_one_coin_one_is_signed() {
    let (ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    for round in 1..=4 {
        let mut ptys = ["10k", "20k"].map(|amount| {
            let mut pty = ada.at_terminal(&["send", &node.address(), amount, "--yes"]);
            pty.until("password of the wallet: ");
            pty
        });
        ptys.iter_mut().for_each(|pty| pty.line(PASSWORD));
        let runs = ptys.map(|mut pty| pty.end());
        let refused = runs.iter().filter(|run| run.code != 0);
        let refused: Vec<&str> = refused.map(|run| run.stderr.as_str()).collect();
        assert!(refused.len() == 1 && refused[0].contains("spends the same coins"), "{runs:?}");
        let all = ada.json(&["status"]);
        assert_eq!(
            (&all["pending"], all["broadcast"].as_array().unwrap().len()),
            (&json!([]), round)
        );
        node.mine(1);
    }
}

#[test]
fn the_chain_says_where_a_payment_stands_that_was_sent() {
    let (ada, node, esplora) = funded();
    let sent = ada.send(&node.address(), "50k", &["--fee-rate", "2"]).ok().json();
    let first = sent["txid"].as_str().unwrap();
    let posts = esplora.count("POST");
    let again = ada.json(&["tx", "broadcast", first]);
    assert_eq!(again, json!({"txid": first, "status": "mempool"}));
    let words = ada.run(&["tx", "broadcast", &first[..9]]).ok();
    assert_eq!(words.stdout, format!("{first} was sent before: waits for a block\n"));
    let bumped = ada.signs(&["tx", "bump", first, "--fee-rate", "9", "--json"]).ok().json();
    let second = bumped["txid"].as_str().unwrap();
    let run = ada.run(&["tx", "broadcast", first]).exits(1);
    assert!(run.stderr.contains(&format!("{first} was replaced by {second}")), "{run:?}");
    node.mine(1);
    let deep = ada.json(&["tx", "broadcast", second]);
    let height = node.height();
    assert_eq!(deep, json!({"txid": second, "status": "confirmed", "height": height}));
    // But for the bump nothing was handed over.
    assert_eq!(esplora.count("POST"), posts + 1);
    // One that nobody knows of any more is handed over again.
    let third = ada.send(&node.address(), "50k", &[]).ok().json();
    let third = third["txid"].as_str().unwrap();
    esplora.set(Faults { forgetful: true, ..Faults::default() });
    let posts = esplora.count("POST");
    assert_eq!(ada.json(&["tx", "broadcast", third]), json!({"txid": third, "status": "sent"}));
    assert_eq!(esplora.count("POST"), posts + 1);
    // Where nobody can be asked, nothing is claimed.
    esplora.set(Faults { broken: Some("GET"), ..Faults::default() });
    let run = ada.run(&["tx", "broadcast", third]).exits(1);
    assert!(run.stderr.contains("answers with status 503"), "{run:?}");
}

/// 64 hexadecimal digits are an id, whatever file there is.
#[test]
fn a_file_of_the_name_of_a_transaction_is_not_taken_for_it() {
    let (ada, node, esplora) = funded();
    let first = unsent(&ada, &node, &esplora, "50k");
    std::fs::write(ada.home.dir().join(&first), "no transaction").unwrap();
    let run = ada.run(&["tx", "broadcast", &format!("./{first}")]).exits(1);
    assert!(run.stderr.contains("is no transaction"), "{run:?}");
    ada.run(&["tx", "broadcast", &first]).ok();
    assert_eq!(node.mempool(), [first]);
}

/// Who pays may take it back until it is in a block, wherever it was paid to.
#[test]
fn what_others_may_take_back_is_not_spent() {
    let (ada, node, _esplora) = Person::with_esplora();
    node.pay(&ada.address(), 100_000);
    node.mine(1);
    // One's own change is spent at once.
    ada.send(&node.address(), "10k", &["--fee-rate", "1"]).ok();
    let sent = ada.send(&node.address(), "11k", &["--fee-rate", "1"]).ok().json();
    let sent = node.call("getrawtransaction", &[sent["txid"].clone(), json!(1)]);
    let outputs = sent["vout"].as_array().unwrap().iter();
    let mut paid = outputs.map(|output| output["scriptPubKey"]["address"].as_str().unwrap());
    // Anybody can pay to change that was seen.
    let change = paid.find(|address| address.starts_with("bcrt1p")).unwrap();
    node.pay(change, 60_000);
    assert_eq!(ada.json(&["balance"])["pending_sat"], 60_000);
    let send = ["send", &node.address(), "100k", "--dry-run"];
    let run = ada.run(&send).exits(1);
    assert!(run.stderr.contains("60,000 sat more wait for a block"), "{run:?}");
    node.mine(1);
    assert_eq!(ada.json(&["balance"])["pending_sat"], 0);
    ada.run(&send).ok();
}
