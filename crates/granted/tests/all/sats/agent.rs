//! An agent that asks, a person who approves, and the chain that has it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{PASSWORD, Person};
use crate::bitcoin::{Esplora, Faults, Node};
use crate::client::Client;
use crate::home::Run;

/// A person who holds a million, and whose agent has a budget of 50,000.
struct Given {
    ada: Person,
    node: Arc<Node>,
    esplora: Esplora,
    token: String,
}

impl Given {
    fn new() -> Given {
        let (ada, node, esplora) = Person::with_esplora();
        node.pay(&ada.address(), 1_000_000);
        node.mine(1);
        let granted = ada
            .signs(&["agent", "grant", "claude", "--budget", "50k", "--max-tx", "10k", "--json"]);
        let granted = granted.ok().json();
        assert_eq!(
            (&granted["budget_sat"], &granted["max_fee_sat"], &granted["replaced"]),
            (&json!(50_000), &json!(1_000), &json!(false))
        );
        let token = granted["token"].as_str().unwrap().to_owned();
        assert_eq!(token.len(), 64);
        Given { ada, node, esplora, token }
    }

    fn serve(&self, token: &str) -> Command {
        let mut command = self.ada.command(&["agent", "serve", "claude"]);
        command.env("SATS_AGENT_TOKEN", token);
        command
    }

    fn client(&self) -> Client {
        let mut client = Client::of(self.serve(&self.token));
        client.initialize("2025-03-26");
        client
    }

    /// Files a payment to the node; its id.
    fn file(&self, client: &mut Client, key: &str, amount: u64) -> (String, String) {
        let to = self.node.address();
        let filed = client.call(
            "request_send",
            json!({"address": to, "amount_sat": amount, "idempotency_key": key}),
        );
        assert_eq!(filed["status"], "pending_approval", "{filed}");
        (filed["request_id"].as_str().unwrap().to_owned(), to)
    }

    fn approve(&self, id: &str) -> Run {
        self.ada.signs(&["agent", "approve", id, "--json"])
    }

    fn statuses(&self) -> Vec<String> {
        let listed = self.ada.json(&["agent", "requests", "--all"]);
        let listed = listed.as_array().unwrap();
        listed.iter().map(|r| r["status"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn an_agent_asks_a_person_approves_and_the_chain_has_it() {
    let given = Given::new();
    let Given { ada, node, .. } = &given;
    let mut client = given.client();
    let balance = client.call("get_balance", json!({}));
    assert_eq!(
        balance,
        json!({"balance_sat": 1_000_000, "pending_sat": 0, "synced": true, "network": "regtest"})
    );
    assert_eq!(client.call("get_grant", json!({}))["remaining_sat"], 50_000);
    let fresh = client.call("get_receive_address", json!({}));
    assert_ne!(fresh["address"], ada.address());
    let (id, to) = given.file(&mut client, "invoice-1", 4_500);

    // The review is at the terminal and stdout is one object; no's are taken for what they are.
    let mut pty = ada.at_terminal(&["agent", "approve", &id[..12], "--json"]);
    pty.until(&format!("4,500 sat to {to}"));
    pty.until("sign and send it?");
    pty.line("n");
    let cancelled = pty.end().ok().json();
    assert_eq!(cancelled["status"], "cancelled");
    let mut pty = ada.at_terminal(&["agent", "approve", &id]);
    pty.answer(&[("[y/N] ", "y"), ("password of the wallet: ", "not the password")]);
    pty.end().exits(1);
    assert_eq!(given.statuses(), ["pending_approval"]);
    assert!(node.mempool().is_empty());

    let approved = given.approve(&id).ok();
    assert_eq!(approved.stdout.lines().count(), 1, "{approved:?}");
    let approved = approved.json();
    let (txid, fee) = (approved["txid"].as_str().unwrap(), approved["fee_sat"].as_u64().unwrap());
    assert_eq!(node.mempool(), [txid]);
    assert_eq!(approved["remaining_budget_sat"], 50_000 - 4_500 - fee);
    let sent = client.call("check_request", json!({"request_id": id}));
    assert_eq!(
        (&sent["status"], &sent["txid"], &sent["fee_sat"]),
        (&json!("sent"), &json!(txid), &json!(fee))
    );
    node.mine(1);
    assert_eq!(node.received(&to), 4_500);
    assert_eq!(ada.status(txid)["seen"], "confirmed");
    // A request is signed once: not again, and not for a higher fee.
    let again = ada.run(&["agent", "approve", &id]).exits(1);
    assert!(again.stderr.contains(&format!("is sent: it was sent as {txid}")), "{again:?}");
    let bump = ada.signs(&["tx", "bump", txid, "--fee-rate", "50"]).exits(1);
    assert!(bump.stderr.contains("a request is signed once"), "{bump:?}");

    let listed = ada.json(&["agent", "list"]);
    assert_eq!((&listed[0]["agent"], &listed[0]["tx_count"]), (&json!("claude"), &json!(1)));
    let log = ada.run(&["agent", "log"]).ok().stdout;
    let kinds: Vec<&str> = log.lines().map(|l| l.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(
        kinds,
        ["spend.granted", "spend.filed", "spend.signing", "spend.signed", "spend.sent"]
    );
    ada.run(&["agent", "revoke", "claude"]).ok();
    assert_eq!(client.call("get_grant", json!({}))["active"], false);
    let refused = client
        .call("request_send", json!({"address": to, "amount_sat": 1, "idempotency_key": "late"}));
    assert_eq!(refused["error_code"], "no_grant");
    assert_eq!(client.call("check_request", json!({"request_id": id}))["status"], "sent");
    client.end();
    ada.home.verify();
}

#[test]
fn who_chooses_from_the_list_is_asked_all_the_same() {
    let given = Given::new();
    let mut client = given.client();
    let (first, _) = given.file(&mut client, "a", 1_000);
    let mut pty = given.ada.at_terminal(&["agent", "approve", "--yes", "--json"]);
    pty.until(&first);
    pty.until("q to cancel: ");
    pty.line("7");
    pty.until("there is no such number");
    pty.until("q to cancel: ");
    // What comes meanwhile is seen after a refresh.
    let (second, to) = given.file(&mut client, "b", 2_000);
    pty.line("r");
    pty.until(&second);
    pty.until("q to cancel: ");
    pty.line("1");
    pty.until(&format!("2,000 sat to {to}"));
    pty.until("sign and send it? [y/N] ");
    pty.line("y");
    pty.password("password of the wallet: ", PASSWORD);
    assert_eq!(pty.end().ok().json()["status"], "sent");
    let mut pty = given.ada.at_terminal(&["agent", "approve", "--json"]);
    pty.until("q to cancel: ");
    pty.line("q");
    assert_eq!(pty.end().ok().json(), json!({"status": "cancelled"}));
    // Nobody can be asked here.
    let run = given.ada.run(&["agent", "approve", "--json"]).exits(1);
    assert!(run.stderr.contains("no_terminal"), "{run:?}");
    let dismissed = given.ada.json(&["agent", "dismiss", &first]);
    assert_eq!(dismissed, json!({"id": first, "status": "dismissed"}));
    // Nor need anybody be.
    let run = given.ada.run(&["agent", "approve"]).ok();
    assert_eq!(run.stderr, "nothing waits for approval on regtest\n");
    client.end();
    assert_eq!(given.statuses(), ["sent", "dismissed"]);
}

#[test]
fn a_lost_answer_is_settled_by_the_same_bytes() {
    let given = Given::new();
    let mut client = given.client();
    let (id, to) = given.file(&mut client, "a", 1_000);
    given.esplora.set(Faults { swallows: true, ..Faults::default() });
    let pending = given.approve(&id).ok().json();
    assert_eq!(pending["status"], "broadcast_pending", "{pending}");
    let txid = pending["txid"].as_str().unwrap();
    given.approve(&id).exits(1);
    assert_eq!(given.statuses(), ["broadcast_pending"]);
    given.esplora.set(Faults::default());
    given.ada.run(&["tx", "broadcast", txid]).ok();
    assert_eq!(given.statuses(), ["sent"]);
    given.node.mine(1);
    assert_eq!(given.node.received(&to), 1_000);
    client.end();
    given.ada.home.verify();
}

/// A request that may still be sent keeps its coins from the next one, which may be approved later.
#[test]
fn two_requests_never_spend_the_same_coin() {
    let given = Given::new();
    let mut client = given.client();
    let (first, to) = given.file(&mut client, "a", 1_000);
    let (second, _) = given.file(&mut client, "b", 2_000);
    given.esplora.set(Faults { refuses: true, ..Faults::default() });
    let pending = given.approve(&first).ok().json();
    assert_eq!(pending["status"], "broadcast_pending", "{pending}");
    let txid = pending["txid"].as_str().unwrap();
    given.esplora.set(Faults::default());
    let failed = given.ada.at_terminal(&["agent", "approve", &second, "--yes", "--json"]).end();
    let failed = failed.ok().json();
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains(txid), "{failed}");
    given.ada.run(&["tx", "broadcast", txid]).ok();
    assert_eq!(given.approve(&second).ok().json()["status"], "sent");
    assert_eq!(given.node.mempool().len(), 2);
    given.node.mine(1);
    assert_eq!(given.node.received(&to), 1_000);
    client.end();
    given.ada.home.verify();
}

/// A replacement would take with it what spends the change, sent or not.
#[test]
fn what_a_request_is_to_be_paid_from_is_not_replaced() {
    let given = Given::new();
    let Given { ada, node, esplora, .. } = &given;
    let mut client = given.client();
    let sent = ada.send(&node.address(), "10k", &["--fee-rate", "1"]).ok().json();
    let parent = sent["txid"].as_str().unwrap();
    let (id, to) = given.file(&mut client, "a", 1_000);
    esplora.set(Faults { refuses: true, ..Faults::default() });
    let pending = given.approve(&id).ok().json();
    esplora.set(Faults::default());
    let bump = ada.signs(&["tx", "bump", parent, "--fee-rate", "60"]).exits(1);
    assert!(bump.stderr.contains("a later payment spends the change of"), "{bump:?}");
    ada.run(&["tx", "broadcast", pending["txid"].as_str().unwrap()]).ok();
    node.mine(1);
    assert_eq!(node.received(&to), 1_000);
    client.end();
}

/// Its coins are of use again, and its draw stays: a signature exists.
#[test]
fn a_request_that_can_never_be_paid_says_so() {
    let given = Given::new();
    let Given { ada, node, esplora, .. } = &given;
    let mut client = given.client();
    let (id, to) = given.file(&mut client, "a", 1_000);
    esplora.set(Faults { refuses: true, ..Faults::default() });
    let pending = given.approve(&id).ok().json();
    esplora.set(Faults::default());
    let first = pending["txid"].as_str().unwrap();
    let spent = || ada.json(&["agent", "list"])[0]["spent_sat"].clone();
    let before = spent();
    let mut pty = ada.at_terminal(&["send", &to, "5k", "--instead-of", first]);
    pty.until(&format!("claude asked for that as {id}, which draws on its budget still"));
    pty.until("sign and send it? [y/N] ");
    pty.line("y");
    pty.password("password of the wallet: ", PASSWORD);
    let sent = pty.end().ok().stdout;
    let listed = || ada.run(&["agent", "requests"]).ok().stdout;
    assert!(!listed().contains("never"), "{}", listed());
    node.mine(1);
    ada.balance();
    let second = &sent["sent ".len()..][..64];
    let never = format!("it can never confirm: {second} is confirmed");
    assert!(listed().contains(&never), "{}", listed());
    assert_eq!((spent(), given.statuses()), (before, vec!["broadcast_pending".to_owned()]));
    assert_eq!(node.received(&to), 5_000);
    client.end();
    ada.home.verify();
}

/// Both look at the coin when both passwords are typed.
#[test]
fn of_a_request_and_a_payment_on_one_coin_one_is_signed() {
    let given = Given::new();
    let Given { ada, node, .. } = &given;
    let mut client = given.client();
    for key in ["a", "b", "c"] {
        let (id, to) = given.file(&mut client, key, 1_000);
        let both = [["agent", "approve", &id, "--yes"], ["send", &to, "20k", "--yes"]];
        let mut ptys = both.map(|words| {
            let mut pty = ada.at_terminal(&words);
            pty.until("password of the wallet: ");
            pty
        });
        ptys.iter_mut().for_each(|pty| pty.line(PASSWORD));
        let runs = ptys.map(|mut pty| pty.end());
        let refused = runs.iter().filter(|run| run.code != 0);
        let refused: Vec<&str> = refused.map(|run| run.stderr.as_str()).collect();
        assert!(refused.len() == 1 && refused[0].contains("spends the same coins"), "{runs:?}");
        assert_eq!(node.mempool().len(), 1);
        // What was not signed drew nothing.
        let spent = ada.json(&["agent", "list"])[0]["spent_sat"].as_u64().unwrap();
        let sent = given.statuses().iter().filter(|status| *status == "sent").count() as u64;
        assert!((1_000 * sent..=2_000 * sent).contains(&spent), "{spent} sat of {sent}");
        node.mine(1);
    }
    client.end();
    ada.home.verify();
}

/// Whose a payment is, the ledger says, and not the file of its record.
#[test]
fn a_record_that_denies_its_request_is_not_bumped() {
    let given = Given::new();
    let mut client = given.client();
    let (id, _) = given.file(&mut client, "a", 1_000);
    let txid = given.approve(&id).ok().json()["txid"].as_str().unwrap().to_owned();
    let record = given.ada.home.root().join(format!("sats/regtest/transactions/{txid}.json"));
    let text = std::fs::read_to_string(&record).unwrap();
    let mut forged: Value = serde_json::from_str(&text).unwrap();
    forged["origin"] = json!({"surface": "cli"});
    std::fs::write(&record, forged.to_string()).unwrap();
    let bump = given.ada.signs(&["tx", "bump", &txid, "--fee-rate", "50"]).exits(1);
    assert!(bump.stderr.contains("a request is signed once"), "{bump:?}");
    assert_eq!(given.node.mempool(), [txid]);
    client.end();
}

/// What waits under a grant that is gone is not offered for approval.
#[test]
fn a_list_says_what_would_be_denied() {
    let given = Given::new();
    let mut client = given.client();
    let (id, _) = given.file(&mut client, "a", 1_000);
    let listed = || given.ada.run(&["agent", "requests", "--all"]).ok().stdout;
    assert!(listed().contains(&format!("sats agent approve {id}")));
    given.ada.run(&["agent", "revoke", "claude"]).ok();
    let revoked = listed();
    assert!(revoked.contains("pending_approval") && revoked.contains(" revoked: "), "{revoked}");
    assert!(revoked.contains(&format!("sats agent dismiss {id}\n")), "{revoked}");
    assert!(!revoked.contains("sats agent approve"), "{revoked}");
    assert_eq!(given.statuses(), ["pending_approval"]);
    // Nor where all that waits is listed.
    let inbox = given.ada.home.say("inbox --json").ok().json();
    assert_eq!((&inbox["what"], &inbox["id"]), (&json!("outside"), &json!(id)), "{inbox}");
    assert_eq!(inbox["command"], format!("sats agent dismiss {id}"));
    let inbox = given.ada.home.say("inbox").ok().stdout;
    assert!(inbox.starts_with("outside ") && inbox.contains("was revoked"), "{inbox}");
    client.end();
}

/// What can never be relayed is not filed, whoever would approve it.
#[test]
fn an_amount_below_dust_is_no_request() {
    let given = Given::new();
    let mut client = given.client();
    let to = given.ada.address();
    let mut ask = |amount: u64| {
        let arguments = json!({"address": to, "amount_sat": amount, "idempotency_key": "a"});
        client.ask("tools/call", json!({"name": "request_send", "arguments": arguments}))
    };
    for amount in [0, 329] {
        let error = ask(amount)["error"].clone();
        assert_eq!(error["code"], -32_602, "{error}");
        assert!(error["message"].as_str().unwrap().contains("at least 330 sat"), "{error}");
    }
    let filed = ask(330)["result"]["structuredContent"].clone();
    assert_eq!(filed["status"], "pending_approval", "{filed}");
    client.end();
    assert_eq!(given.statuses(), ["pending_approval"]);
    let run = given.ada.run(&["send", &to, "329"]).exits(1);
    assert!(run.stderr.contains("below what the network relays"), "{run:?}");
}

/// What is wrong with what was typed is said before a terminal is asked for.
#[test]
fn what_is_not_there_needs_no_terminal() {
    let given = Given::new();
    let run = given.ada.run(&["agent", "approve", "r-0000"]).exits(1);
    assert!(run.stderr.contains("there is no request `r-0000`"), "{run:?}");
    let run = given.ada.run(&["agent", "grant", "claude", "--budget", "0"]).exits(2);
    assert!(run.stderr.contains("a budget is more than 0 sat"), "{run:?}");
    let run = given.ada.run(&["agent", "revoke", "bob"]).exits(1);
    assert!(run.stderr.contains("hint: which there are: sats agent list"), "{run:?}");
    let run = given.ada.run(&["send", "x", "1k", "--fee-rate", "no"]).exits(2);
    assert!(run.stderr.contains("a fee rate is a whole number of sat for each vB"), "{run:?}");
    let (first, second) = (given.node.address(), given.node.address());
    let words = ["agent", "grant", "bob", "--budget", "1k", "--max-tx", "2k", "--to", &first];
    let run = given.ada.signs(&words).ok();
    assert!(run.stderr.contains("note: --max-tx is above --budget"), "{run:?}");
    let run = given.ada.run(&["agent", "disallow", "bob", &second]).ok();
    assert!(run.stderr.contains("hint: who is on it: sats agent list"), "{run:?}");
}

#[test]
fn a_fee_above_its_cap_is_found_before_the_password() {
    let given = Given::new();
    let mut client = given.client();
    let (id, _) = given.file(&mut client, "a", 1_000);
    let fees = Some(json!({"1": 500.0, "2": 500.0, "3": 500.0}).to_string());
    given.esplora.set(Faults { fees, ..Faults::default() });
    let mut pty = given.ada.at_terminal(&["agent", "approve", &id, "--json"]);
    let denied = pty.end().ok().json();
    assert_eq!(denied, json!({"id": id, "status": "denied", "reason": "over_max_fee"}));
    assert_eq!(pty.shown, "", "nobody is asked");
    let told = client.call("check_request", json!({"request_id": id}));
    assert_eq!(told["reason"], "over_max_fee");
    client.end();
}

#[test]
fn a_provider_that_is_dead_leaves_a_request_to_be_approved_again() {
    let given = Given::new();
    let mut client = given.client();
    let (id, _) = given.file(&mut client, "a", 1_000);
    given.esplora.set(Faults { broken: Some("GET /blocks/tip"), ..Faults::default() });
    assert_eq!(client.call("get_balance", json!({}))["synced"], false);
    let failed = given.approve(&id).ok().json();
    assert_eq!(failed["status"], "failed", "{failed}");
    assert_eq!(client.call("check_request", json!({"request_id": id}))["status"], "failed");
    given.esplora.set(Faults::default());
    assert_eq!(given.approve(&id).ok().json()["status"], "sent");
    client.end();
}

#[test]
fn a_session_begins_only_with_the_token_of_a_grant() {
    let given = Given::new();
    let serve =
        |token: &str| -> Run { given.serve(token).stdin(Stdio::null()).output().unwrap().into() };
    for (token, why) in
        [("", "no token"), ("nonsense", "not the one"), (&"0".repeat(64), "not the one")]
    {
        let run = serve(token).exits(1);
        assert!(run.stderr.contains(why) && run.stdout.is_empty(), "{run:?}");
        assert!(run.stderr.contains("\nhint: it "), "{run:?}");
    }
    let run = serve(&given.token).ok();
    assert!(run.stderr.contains("claude on regtest; 50,000 sat left"), "{run:?}");
    assert_eq!(run.stdout, "");
    let mut other = given.ada.command(&["agent", "serve", "other"]);
    let run = Run::from(other.env("SATS_AGENT_TOKEN", &given.token).output().unwrap()).exits(1);
    assert!(run.stderr.contains("sats agent grant other --budget <sats>"), "{run:?}");
    given.ada.run(&["agent", "revoke", "claude"]).ok();
    let run = serve(&given.token).exits(1);
    assert!(run.stderr.contains("sats agent grant claude --budget <sats>"), "{run:?}");
}

/// Whom to ask matters only to those who ask.
#[test]
fn providers_that_are_ambiguous_keep_nobody_from_filing() {
    let given = Given::new();
    let add = |name: &str| {
        let words = ["sats", "--network", "regtest", "providers", "add", name, "esplora"];
        let mut words: Vec<&str> = words.to_vec();
        let url = given.esplora.url();
        words.push(&url);
        given.ada.home.run(words).ok();
    };
    add("one");
    add("two");
    // As a person may write it.
    let path = given.ada.home.root().join("sats/config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let ambiguous = config.replace("[use]\nregtest = \"one\"\n", "");
    assert_ne!(config, ambiguous);
    std::fs::write(&path, ambiguous).unwrap();
    let mut command =
        given.ada.home.command(["sats", "--network", "regtest", "agent", "serve", "claude"]);
    command.env("SATS_AGENT_TOKEN", &given.token);
    let mut client = Client::of(command);
    client.initialize("2025-11-25");
    assert_eq!(client.call("get_grant", json!({}))["active"], true);
    client.call("get_receive_address", json!({}));
    let (id, _) = given.file(&mut client, "a", 1_000);
    client.call("check_request", json!({"request_id": id}));
    let answer = client.ask("tools/call", json!({"name": "get_balance", "arguments": {}}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["structuredContent"], Value::Null);
    client.end();
}

#[test]
fn who_watches_is_told_of_each_request_once() {
    let given = Given::new();
    let mut client = given.client();
    let rows = |given: &Given| given.ada.home.rows().len();
    let mut watch = given.ada.command(&["agent", "requests", "--watch"]);
    let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let (first, _) = given.file(&mut client, "a", 1_000);
    let line = lines.next().unwrap().unwrap();
    assert!(line.ends_with(&format!("sats agent approve {first}")), "{line}");
    let (second, _) = given.file(&mut client, "b", 1_000);
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains(&second) && !line.contains(&first), "{line}");
    let before = rows(&given);
    // Nobody reads any more: it ends with the next that it would tell.
    drop(lines);
    given.file(&mut client, "c", 1_000);
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    assert_eq!(rows(&given), before + 1);
    client.end();
}
