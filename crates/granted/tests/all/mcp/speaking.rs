//! Both generations of the protocol, the tools, and what other processes do meanwhile.

use serde_json::{Value, json};

use crate::client::{Client, MODERN};
use crate::home::Home;

const SEND: &[&str] = &["--executor", "send=echo sent >> sent.log; cat", "--agent", "claude"];

fn sent(home: &Home) -> usize {
    std::fs::read_to_string(home.dir().join("sent.log")).unwrap_or_default().lines().count()
}

/// The whole story, however the client began to speak.
fn story(home: &Home, mut client: Client) {
    home.mint("a", "--allow send --agent claude");
    let list = client.ask("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["grant_status", "grant_discharge", "ledger_tail"]);

    let view = client.call("grant_status", json!({"type": "report", "id": "a"}));
    assert_eq!(view["status"], "live");
    assert_eq!(view["grant"]["allowed_actions"], json!(["send"]));
    let asked = json!({"type": "report", "id": "a", "executor": "send", "action": "send"});
    let report = client.call("grant_discharge", asked.clone());
    assert_eq!(report["outcome"], "discharged", "{report}");
    assert_eq!(report["detail"], "result row line 4");
    assert_eq!(report["grant_id"], view["grant"]["id"]);
    let again = client.call("grant_discharge", asked);
    assert_eq!((&again["outcome"], &again["reason"]), (&json!("refused"), &json!("consumed")));
    assert_eq!(sent(home), 1);

    let tail = client.call("ledger_tail", json!({"n": 4}));
    let rows = tail["rows"].as_array().unwrap();
    assert_eq!(rows.as_slice(), &home.rows()[2..]);
    for row in rows {
        assert_eq!((&row["by"]["door"], &row["by"]["agent"]), (&json!("mcp"), &json!("claude")));
    }
    let (frames, stderr) = client.end();
    assert_eq!(frames, Vec::<Value>::new());
    let line = stderr.lines().next().unwrap();
    assert!(line.starts_with("granted mcp: book "), "{line}");
    assert!(line.ends_with("; agent `claude`; executors `send` (command line)"), "{line}");
    home.verify();
}

#[test]
fn with_a_handshake() {
    let home = Home::new();
    let client = Client::legacy(&home, SEND);
    story(&home, client);
}

#[test]
fn without_a_handshake() {
    let home = Home::new();
    let mut client = Client::modern(&home, SEND);
    let found = client.ask("server/discover", json!({}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)) && versions.contains(&json!("2025-11-25")));
    assert!(found["result"]["instructions"].as_str().unwrap().contains("uncertain"));
    story(&home, client);
}

#[test]
fn the_version_is_negotiated() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let home = Home::new();
        let mut client = Client::silent(&home, &[]);
        let answer = client.initialize(asked);
        assert_eq!(answer["protocolVersion"], agreed);
        assert_eq!(answer["serverInfo"]["name"], "granted");
        assert_eq!(answer["capabilities"], json!({"tools": {}}));
        assert_eq!(answer["instructions"].as_str().unwrap().lines().count(), 10);
        // Asking twice changes nothing.
        assert_eq!(client.initialize(asked)["protocolVersion"], agreed);
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        client.end();
        assert!(!home.root().exists(), "a server that only spoke has written");
    }
}

#[test]
fn every_tool_says_all_that_an_agent_needs() {
    let home = Home::new();
    let mut client = Client::legacy(&home, &[]);
    let list = client.ask("tools/list", json!({}));
    for tool in list["result"]["tools"].as_array().unwrap() {
        let acts = tool["name"] == "grant_discharge";
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], !acts);
        assert_eq!(hints["destructiveHint"], acts);
        assert_eq!(hints["idempotentHint"], !acts);
        assert_eq!(hints["openWorldHint"], acts);
        assert!(tool["title"].is_string() && tool["outputSchema"]["type"] == "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        for (name, about) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(
                about["description"].as_str().is_some_and(|text| text.contains("e.g.")),
                "{name}"
            );
            assert!(about["examples"].is_array(), "{name}");
        }
        let text = tool["description"].as_str().unwrap();
        for other in ["grant_status", "grant_discharge", "ledger_tail"] {
            assert!(text.contains(other) || tool["name"] == other, "{other}: {text}");
        }
        // No client knows what to do with it.
        assert!(!tool.to_string().contains("\"format\""));
    }
    client.end();
}

#[test]
fn what_other_processes_do_is_seen_at_once() {
    let home = Home::new();
    let mut client = Client::legacy(&home, &["--executor", "send=true"]);
    assert_eq!(client.status("a"), "none");
    home.mint("a", "");
    assert_eq!(client.status("a"), "live");
    home.say("revoke --type report --id a").ok();
    assert_eq!(client.status("a"), "revoked");
    assert_eq!(client.discharge("a", "send")["reason"], "revoked");
    home.mint("b", "");
    home.discharge("b", "true", &[]);
    assert_eq!(client.status("b"), "consumed");
    assert_eq!(client.discharge("b", "send")["reason"], "consumed");
    // And the other way round.
    home.mint("c", "");
    assert_eq!(client.discharge("c", "send")["outcome"], "discharged");
    assert_eq!(home.status("c"), "consumed");
    client.end();
    home.verify();
}

#[test]
fn what_is_asked_for_too_early_is_refused_and_the_client_may_begin_again() {
    let home = Home::new();
    let mut client = Client::silent(&home, &[]);
    for frame in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "no/such/thing"}),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
    ] {
        client.send(&frame);
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32602);
    client.initialize("2025-11-25");
    assert_eq!(client.status("a"), "none");
    client.end();
}

#[test]
fn a_ledger_that_cannot_be_read_is_told_as_a_result() {
    let home = Home::new();
    home.mint("a", "");
    let mut client = Client::legacy(&home, &["--executor", "send=true"]);
    let sound = std::fs::read(home.ledger()).unwrap();
    std::fs::write(home.ledger(), [sound.as_slice(), b"not a row\n"].concat()).unwrap();
    for (tool, arguments) in [
        ("ledger_tail", json!({})),
        ("grant_discharge", json!({"type": "report", "id": "a", "executor": "send"})),
    ] {
        let id = client.begin_call(tool, arguments);
        let answer = client.answer(id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        match tool {
            "grant_discharge" => assert!(text.contains("ledger_unwritable"), "{text}"),
            _ => {
                assert_eq!(answer["result"]["isError"], true);
                assert!(text.contains("no row"), "{text}");
            }
        }
    }
    std::fs::write(home.ledger(), sound).unwrap();
    assert_eq!(client.discharge("a", "send")["outcome"], "discharged");
    client.end();
    home.verify();
}
