//! Providers that are dead, slow or lying, at each step, and answers that are lost.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{PASSWORD, Person};
use crate::bitcoin::{Esplora, Faults, Node, free_port};
use crate::home::Run;

/// A person who holds a million.
fn funded() -> (Person, std::sync::Arc<Node>, Esplora) {
    let (ada, node, esplora) = Person::with_esplora();
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    let held = json!({"balance_sat": 1_000_000, "pending_sat": 0, "synced": true});
    assert_eq!(ada.json(&["balance"]), held);
    (ada, node, esplora)
}

/// Of a provider only the origin of its URL is shown, and nothing that it said.
#[track_caller]
fn discreet(run: &Run) {
    let all = format!("{}{}", run.stdout, run.stderr);
    assert!(!all.contains("secret"), "{run:?}");
}

/// An attempt to pay that ends before anything is signed.
#[track_caller]
fn stops(ada: &Person, node: &Node, why: &str) {
    let run = ada.run(&["send", &node.address(), "1k", "--dry-run"]).exits(1);
    assert!(run.stderr.contains(why), "{run:?}");
    discreet(&run);
    let mut pty = ada.at_terminal(&["send", &node.address(), "1k", "--yes"]);
    let run = pty.end().exits(1);
    assert!(run.stderr.contains(why), "{run:?}");
    assert_eq!(pty.shown, "", "nobody is asked");
    assert_eq!(records(ada), (0, 0));
    assert_eq!(node.mempool(), Vec::<String>::new());
}

/// How many payments are pending, and how many were sent.
fn records(ada: &Person) -> (usize, usize) {
    let status = ada.json(&["status", "--offline"]);
    let count = |what: &str| status[what].as_array().unwrap().len();
    (count("pending"), count("broadcast"))
}

#[test]
fn what_breaks_before_the_signature_signs_nothing() {
    let (ada, node, esplora) = funded();
    for step in ["GET /block-height/0", "GET /blocks/tip", "GET /blocks", "GET /scripthash"] {
        esplora.set(Faults { broken: Some(step), ..Faults::default() });
        let before = esplora.count("GET /");
        stops(&ada, &node, &format!("`{}` answers with status 503", esplora.origin()));
        // Twice three times, by four threads at most.
        assert!(esplora.count("GET /") - before <= 60, "{step}");
        let run = ada.run(&["balance", "--json"]).ok();
        assert_eq!(
            run.json(),
            json!({"balance_sat": 1_000_000, "pending_sat": 0, "synced": false})
        );
        discreet(&run);
    }
    esplora.set(Faults { broken: Some("GET /fee-estimates"), ..Faults::default() });
    stops(&ada, &node, "answers with status 503");
    // Who says the fee needs nobody's advice.
    ada.run(&["send", &node.address(), "1k", "--dry-run", "--fee-rate", "1"]).ok();
}

#[test]
fn a_request_is_made_three_times_at_most() {
    let (ada, _node, esplora) = funded();
    esplora.set(Faults { broken: Some("GET /block-height/0"), ..Faults::default() });
    let before = esplora.count("GET /block-height/0");
    ada.run(&["balance"]).ok();
    assert_eq!(esplora.count("GET /block-height/0") - before, 3);
}

#[test]
fn what_cannot_be_is_not_believed() {
    let (ada, node, esplora) = funded();
    let genesis = granted_sats::network::genesis(granted_sats::Network::Signet).to_string();
    esplora.set(Faults { genesis: Some(genesis), ..Faults::default() });
    stops(&ada, &node, "serves another network than regtest");
    esplora.set(Faults { behind: 1, ..Faults::default() });
    let (its, seen) = (node.height() - 1, node.height());
    stops(&ada, &node, &format!("its last block is {its}, and this wallet has seen {seen}"));
    assert_eq!(ada.json(&["balance"])["synced"], false);
    esplora.set(Faults { ahead: 500_000_000, ..Faults::default() });
    stops(&ada, &node, "tells of a block of a height that cannot be");
    for fees in [json!({"1": 10_001}), json!({"2": -1.0}), json!({"1": 1e300})] {
        esplora.set(Faults { fees: Some(fees.to_string()), ..Faults::default() });
        stops(&ada, &node, "names a fee rate that cannot be");
    }
    esplora.set(Faults { fees: Some("{\"1\": \"secret\"}".into()), ..Faults::default() });
    stops(&ada, &node, "does not answer as an Esplora server");
    // Where nothing is known of fees, the least is paid.
    let least = ada.json(&["send", &node.address(), "1k", "--dry-run", "--fee-rate", "1"]);
    esplora.set(Faults { fees: Some("{}".into()), ..Faults::default() });
    let told = ada.json(&["send", &node.address(), "1k", "--dry-run"]);
    assert_eq!(told["fee_sat"], least["fee_sat"]);
}

/// Blocks that a provider made up stand in nobody's way once it tells the truth, or another one does.
#[test]
fn a_tip_that_was_a_lie_is_forgotten() {
    let (ada, node, esplora) = funded();
    node.mine(2);
    esplora.set(Faults { ahead: 1_000, ..Faults::default() });
    assert_eq!(ada.balance(), 1_000_000);
    esplora.set(Faults::default());
    assert_eq!(ada.balance(), 1_000_000);
    ada.send(&node.address(), "50k", &[]).ok();
    node.mine(1);
    assert_eq!(ada.json(&["status"])["broadcast"][0]["confirmations"], 1);
}

/// Where what the wallet saw confirmed would be taken back with it, the person says so.
#[test]
fn the_person_says_that_the_wallet_begins_anew() {
    let (ada, node, esplora) = funded();
    esplora.set(Faults { behind: 1, ..Faults::default() });
    let run = ada.run(&["send", &node.address(), "1k", "--dry-run"]).exits(1);
    assert!(run.stderr.contains("sats balance --rescan"), "{run:?}");
    // Then there is what this one tells, and no more: it lacks the block of the payment.
    let anew = ada.json(&["balance", "--rescan"]);
    assert_eq!(anew, json!({"balance_sat": 0, "pending_sat": 0, "synced": true}));
    esplora.set(Faults::default());
    assert_eq!(ada.balance(), 1_000_000);
}

#[test]
fn who_is_not_there_is_said() {
    for provider in [
        "esplora=http://127.0.0.1:1/secret",
        "electrum=tcp://127.0.0.1:1",
        "core=http://ada:secret@127.0.0.1:1/",
    ] {
        let ada = Person::new(provider);
        ada.init();
        let run = ada.run(&["balance", "--json"]).ok();
        assert!(run.stderr.contains("127.0.0.1:1` cannot be reached"), "{run:?}");
        assert!(run.stderr.contains("hint: does it run?"), "{run:?}");
        assert_eq!(run.json()["synced"], false);
        discreet(&run);
        // Whoever would pay is told the same.
        let run = ada.run(&["send", &ada.address(), "1k", "--dry-run"]).exits(1);
        assert!(run.stderr.contains("hint: does it run?"), "{run:?}");
    }
}

/// A node lets in whom its cookie file, or its own configuration, names.
#[test]
fn a_node_says_whom_it_lets_in() {
    let node = Node::start();
    let mut ada = Person::new(&format!("core={}", node.url()));
    ada.init();
    let told = |ada: &Person| ada.run(&["send", &ada.address(), "1k", "--dry-run"]).exits(1);
    let run = told(&ada);
    assert!(run.stderr.contains("does not let this user in"), "{run:?}");
    assert!(run.stderr.contains("hint: name the user in the URL, as USER:PASSWORD@"), "{run:?}");
    ada.flags.truncate(2);
    let add = |cookie: &str| {
        ada.run(&["providers", "add", "node", "core", &node.url(), "--cookie", cookie])
    };
    let run = add("btc/.cookie").exits(2);
    assert!(run.stderr.contains("`btc/.cookie` is relative"), "{run:?}");
    add("/nowhere/.cookie").ok();
    let run = told(&ada);
    assert!(
        run.stderr.contains("`/nowhere/.cookie` cannot be read\nhint: does the node run?"),
        "{run:?}"
    );
    let run = ada.run(&["tx", "broadcast", "./nofile"]).exits(1);
    assert!(run.stderr.contains("`./nofile`: there is no such file"), "{run:?}");
}

/// Whoever answers in the place of a server has no certificate for its name.
#[test]
fn a_certificate_of_ones_own_making_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-keyout", "key.pem", "-out", "cert.pem", "-days", "2"])
        .current_dir(&dir)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let port = free_port();
    let mut server = Command::new("openssl")
        .args(["s_server", "-accept", &port.to_string(), "-cert", "cert.pem", "-key", "key.pem"])
        .args(["-www", "-quiet"])
        .current_dir(&dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ada = Person::new(&format!("esplora=https://localhost:{port}"));
    ada.init();
    let why = "cannot be reached safely: its certificate is not for this name, or not signed";
    let told = || ada.run(&["send", &ada.address(), "1k", "--dry-run"]).exits(1);
    let mut run = told();
    // It may not listen yet.
    while run.stderr.contains("refused") && server.try_wait().unwrap().is_none() {
        run = told();
    }
    assert!(run.stderr.contains(why), "{run:?}");
    assert!(run.stderr.contains("hint: a server of your own"), "{run:?}");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// What was signed is kept, whatever becomes of it, and is handed over once for each time that a person
/// says so.
#[test]
fn an_answer_that_is_lost_is_settled_without_a_second_signature() {
    for (fault, arrives) in [
        (Faults { swallows: true, ..Faults::default() }, true),
        (Faults { lies: true, ..Faults::default() }, true),
        (Faults { refuses: true, ..Faults::default() }, false),
        (Faults { broken: Some("POST"), ..Faults::default() }, false),
    ] {
        let (ada, node, esplora) = funded();
        let to = node.address();
        esplora.set(fault.clone());
        let run = ada.send(&to, "50k", &["--yes"]).exits(1);
        discreet(&run);
        let error: Value = serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
        let hint = error["error"]["hint"].as_str().unwrap();
        let (_, txid) = hint.split_once("sats tx broadcast ").unwrap();
        assert_eq!(esplora.count("POST"), 1, "{fault:?}");
        assert_eq!(records(&ada), (1, 0));
        assert_eq!(node.mempool().len(), usize::from(arrives), "{fault:?}");
        if arrives {
            // By now it is confirmed, so that the node refuses it, but the wallet sees it.
            node.mine(1);
        }
        esplora.set(Faults::default());
        let settled = ada.json(&["tx", "broadcast", &txid[..10]]);
        let status = if arrives { "confirmed" } else { "sent" };
        assert_eq!((&settled["txid"], &settled["status"]), (&json!(txid), &json!(status)));
        assert_eq!(records(&ada), (0, 1));
        // What the network has is not handed over again.
        let posts = esplora.count("POST");
        assert_eq!(ada.json(&["tx", "broadcast", txid])["txid"], txid);
        assert_eq!(esplora.count("POST"), posts);
        node.mine(1);
        assert_eq!(node.received(&to), 50_000);
        assert_eq!(ada.status(txid)["seen"], "confirmed");
    }
}

/// Killed while the transaction is handed over: it was kept before.
#[test]
fn what_was_signed_survives_a_kill() {
    let (ada, node, esplora) = funded();
    esplora.set(Faults { silent: Some("POST"), ..Faults::default() });
    let mut pty = ada.at_terminal(&["send", &node.address(), "50k", "--yes"]);
    pty.password("password of the wallet: ", PASSWORD);
    esplora.until("POST");
    pty.kill();
    assert_eq!(records(&ada), (1, 0));
    assert!(node.mempool().is_empty());
    esplora.set(Faults::default());
    let status = ada.json(&["status", "--offline"]);
    let txid = status["pending"][0]["txid"].as_str().unwrap();
    ada.run(&["tx", "broadcast", txid]).ok();
    assert_eq!(node.mempool(), [txid]);
}

/// Killed before: nothing is left but the change address.
#[test]
fn a_kill_before_the_signature_leaves_nothing() {
    let (ada, node, _esplora) = funded();
    let mut pty = ada.at_terminal(&["send", &node.address(), "50k", "--yes"]);
    pty.until("password of the wallet: ");
    pty.kill();
    assert_eq!(records(&ada), (0, 0));
    ada.send(&node.address(), "50k", &[]).ok();
}

/// A request ends after 30 s.
#[test]
fn a_provider_that_never_answers_is_not_waited_for() {
    let (ada, _node, esplora) = funded();
    esplora.set(Faults { silent: Some("GET /blocks/tip"), ..Faults::default() });
    let run = ada.run(&["balance", "--json"]).ok();
    assert_eq!(run.json()["synced"], false);
    assert!(run.stderr.contains("cannot be reached, or does not answer in time"), "{run:?}");
    assert_eq!(esplora.count("GET /blocks/tip"), 2);
}
