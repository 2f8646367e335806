//! The agent's side of spends, over the protocol.
#![allow(clippy::disallowed_methods)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use granted_core::spend::Token;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::time::Instant;

use super::*;
use crate::spend::revoke::revoke;
use crate::spend::stage::{ADDRESS, Spelling, Stage, agent, denied, sats};

/// A wallet that has 118,500 sat, and of which it may not be clear whom to ask. Its clones are the same.
#[derive(Clone, Default)]
struct FakePurse {
    ambiguous: Arc<AtomicBool>,
}

impl Addresses for FakePurse {
    fn canonical(&self, text: &str, network: Network) -> Result<Address, String> {
        Spelling.canonical(text, network)
    }
}

impl Purse for FakePurse {
    fn balance(&self) -> Result<Balance, String> {
        match self.ambiguous.load(Ordering::SeqCst) {
            true => Err("more than one provider could be asked".into()),
            false => {
                Ok(Balance { balance_sat: sats(118_500), pending_sat: sats(0), synced: false })
            }
        }
    }

    fn receive(&self) -> Result<(Address, u32), String> {
        Ok((ADDRESS.parse().unwrap(), 3))
    }

    fn relays(&self, _: &str, amount: Sats) -> Result<(), String> {
        match amount == Sats::ZERO {
            true => Err("`amount_sat`: too little".into()),
            false => Ok(()),
        }
    }
}

/// A server and a client of it.
struct Served {
    input: DuplexStream,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
    serving: tokio::task::JoinHandle<()>,
    purse: FakePurse,
    id: u64,
}

impl Served {
    fn new(stage: &Stage, token: &Token) -> Served {
        let session = Session::new(agent(), token.clone());
        let purse = FakePurse::default();
        let boxed = Box::new(purse.clone());
        let server = Server::spending(stage.book(), Network::Signet, stage.sats(), session, boxed);
        let (input, server_input) = duplex(1024 * 1024);
        let (output, server_output) = duplex(1024 * 1024);
        let serving = super::super::serve_on(server, server_input, server_output, |_| {});
        let (serving, output) = (tokio::spawn(serving), BufReader::new(output).lines());
        Served { input, output, serving, purse, id: 0 }
    }

    async fn say(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let frame = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.input.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
        let line = self.output.next_line().await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.id);
        answer
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.say("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// What a call found, which must not be an error.
    async fn found(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments).await;
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// The code of the error that a call ends with.
    async fn code(&mut self, tool: &str) -> String {
        let answer = self.call(tool, json!({})).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["structuredContent"]["error_code"].as_str().unwrap().to_owned()
    }

    async fn end(self) {
        drop(self.input);
        self.serving.await.unwrap();
    }
}

fn send(key: &str, amount: u64) -> Value {
    json!({"address": ADDRESS, "amount_sat": amount, "idempotency_key": key})
}

#[tokio::test]
async fn there_are_exactly_five_tools_and_each_says_what_it_does() {
    let stage = Stage::new();
    let token = stage.issue(&stage.book()).token;
    let mut served = Served::new(&stage, &token);
    let listed = served.say("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let five = ["get_balance", "get_receive_address", "get_grant", "request_send", "check_request"];
    assert_eq!(names, five);
    for (tool, reads, idempotent, open) in [
        (0, true, true, true),
        (1, false, false, false),
        (2, true, true, false),
        (3, false, false, false),
        (4, true, true, false),
    ] {
        let hints = &tools[tool]["annotations"];
        assert_eq!(hints["readOnlyHint"], reads, "{hints}");
        assert_eq!(hints["idempotentHint"], idempotent, "{hints}");
        assert_eq!(hints["openWorldHint"], open, "{hints}");
        assert_eq!(hints["destructiveHint"], false, "{hints}");
        assert_eq!(tools[tool]["inputSchema"]["additionalProperties"], false);
        assert_eq!(tools[tool]["outputSchema"]["type"], "object");
    }
    let told = served.say("server/discover", json!({})).await;
    let about = told["result"]["instructions"].as_str().unwrap();
    assert!(about.starts_with("Agents create requests. Humans authorize requests."), "{about}");
    let server = &told["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "sats");
    for (tool, arguments) in [
        ("get_grant", json!({"agent": "other"})),
        ("request_send", json!({"address": ADDRESS, "amount_sat": 1})),
        ("request_send", json!({"address": ADDRESS, "amount_sat": 0, "idempotency_key": "a"})),
        ("request_send", json!({"address": ADDRESS, "amount_sat": -1, "idempotency_key": "a"})),
        ("request_send", json!({"address": ADDRESS, "amount_sat": 1.5, "idempotency_key": "a"})),
        ("request_send", json!({"address": ADDRESS, "amount_sat": "1", "idempotency_key": "a"})),
        (
            "request_send",
            json!({"address": ADDRESS, "amount_sat": u64::MAX, "idempotency_key": "a"}),
        ),
        ("check_request", json!({})),
        ("approve", json!({})),
    ] {
        let answer = served.call(tool, arguments).await;
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    }
    served.end().await;
    assert_eq!(stage.kinds(), ["granted"]);
}

#[tokio::test]
async fn an_agent_files_and_follows_a_request() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let mut served = Served::new(&stage, &token);
    let grant = served.found("get_grant", json!({})).await;
    let expires = stage.terms().lasts.as_secs() as i64 + 1_790_755_200;
    assert_eq!(
        grant,
        json!({
            "active": true, "agent": "claude", "network": "signet", "mode": "ask",
            "budget_sat": 50_000, "spent_sat": 0, "remaining_sat": 50_000, "max_tx_sat": 10_000,
            "max_fee_sat": 1_000, "tx_count": 0, "expires_at": expires,
        })
    );
    let filed = served.found("request_send", send("invoice-1", 4_500)).await;
    let id = filed["request_id"].as_str().unwrap().to_owned();
    let message = format!(
        "filed for human review — the human approves with: sats agent approve {id}; poll \
         check_request to observe the result, and do not file it again"
    );
    let expected = json!({
        "status": "pending_approval", "request_id": id, "recipient": ADDRESS, "amount_sat": 4_500,
        "message": message,
    });
    assert_eq!(filed, expected);
    assert_eq!(served.found("request_send", send("invoice-1", 4_500)).await, expected);
    assert_eq!(served.found("check_request", json!({"request_id": id})).await, expected);
    let denied = served.found("request_send", send("invoice-2", 20_000)).await;
    assert_eq!((&denied["status"], &denied["reason"]), (&json!("denied"), &json!("over_max_tx")));
    assert_eq!(
        denied["message"],
        "outside the grant: requested 20,000 sat; max tx 10,000 sat — no approval lifts a grant \
         boundary; only the human changing the grant can"
    );
    let conflict = served.found("request_send", send("invoice-1", 4_501)).await;
    assert_eq!(
        (&conflict["status"], &conflict["error_code"], &conflict["request_id"]),
        (&json!("error"), &json!("idempotency_key_conflict"), &json!(id))
    );
    let empty = served.found("request_send", send("", 1)).await;
    assert_eq!(empty["error_code"], "invalid_idempotency_key");
    let elsewhere = json!({"address": "bc1p", "amount_sat": 1, "idempotency_key": "a"});
    let elsewhere = served.found("request_send", elsewhere).await;
    assert_eq!(elsewhere["error_code"], "invalid_address");
    let unknown = served.found("check_request", json!({"request_id": "invoice-1"})).await;
    assert_eq!(unknown["status"], "not_found");

    let approved = stage.approve(&book, id.parse().unwrap()).unwrap();
    let paid = approved.request.paid().unwrap();
    let sent = served.found("check_request", json!({"request_id": id})).await;
    assert_eq!((&sent["status"], &sent["fee_sat"]), (&json!("sent"), &json!(200)));
    assert_eq!(sent["txid"], paid.txid.as_str());
    let grant = served.found("get_grant", json!({})).await;
    assert_eq!(grant["remaining_sat"], 45_300);
    served.end().await;
    // The agent's rows say through which door they came, and in whose name.
    let row = book.ledger.row(3).unwrap().unwrap();
    assert_eq!(row.by.agent.unwrap().as_str(), "claude");
}

#[tokio::test]
async fn whom_to_ask_matters_only_for_the_balance() {
    let stage = Stage::new();
    let token = stage.issue(&stage.book()).token;
    let mut served = Served::new(&stage, &token);
    let balance = served.found("get_balance", json!({})).await;
    let expected =
        json!({"balance_sat": 118_500, "pending_sat": 0, "synced": false, "network": "signet"});
    assert_eq!(balance, expected);
    served.purse.ambiguous.store(true, Ordering::SeqCst);
    let answer = served.call("get_balance", json!({})).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["structuredContent"], Value::Null);
    let address = served.found("get_receive_address", json!({})).await;
    assert_eq!(address, json!({"address": ADDRESS, "index": 3, "network": "signet"}));
    assert_eq!(served.found("get_grant", json!({})).await["active"], true);
    let filed = served.found("request_send", send("a", 1)).await;
    let check = json!({"request_id": filed["request_id"]});
    assert_eq!(served.found("check_request", check).await["status"], "pending_approval");
    served.end().await;
}

#[tokio::test]
async fn a_revocation_is_seen_on_the_next_call() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let mut served = Served::new(&stage, &token);
    let filed = served.found("request_send", send("a", 1_000)).await;
    let check = json!({"request_id": filed["request_id"]});
    revoke(&stage.spends(&book), &agent()).unwrap();
    for code in ["no_grant", "unauthorized"] {
        let grant = served.found("get_grant", json!({})).await;
        assert_eq!(grant["active"], false);
        assert!(grant["message"].as_str().unwrap().contains("sats agent grant claude --budget"));
        assert_eq!(grant.as_object().unwrap().len(), 4, "{grant}");
        assert_eq!(served.code("get_balance").await, code);
        assert_eq!(served.code("get_receive_address").await, code);
        let refused = served.found("request_send", send("b", 1_000)).await;
        assert_eq!((&refused["status"], &refused["error_code"]), (&json!("error"), &json!(code)));
        // What was filed under this token is still told.
        let told = served.found("check_request", check.clone()).await;
        assert_eq!(told["status"], "pending_approval");
        stage.issue(&book);
    }
    let id = filed["request_id"].as_str().unwrap().parse().unwrap();
    assert_eq!(denied(&stage.approve(&book, id).unwrap().request), "revoked");
    assert_eq!(served.found("check_request", check).await["reason"], "revoked");
    served.end().await;
}

#[tokio::test(start_paused = true)]
async fn filing_is_paced_and_none_is_lost() {
    let stage = Stage::new();
    let token = stage.issue(&stage.book()).token;
    let mut served = Served::new(&stage, &token);
    let began = Instant::now();
    for number in 0..25 {
        served.found("request_send", send(&format!("k{number}"), 1)).await;
    }
    let passed = began.elapsed();
    assert!(passed > Duration::from_secs(4) && passed <= Duration::from_secs(5), "{passed:?}");
    served.end().await;
    assert_eq!(stage.kinds().len(), 26);
}
