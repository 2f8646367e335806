//! Arguments: what is missing, unknown or of the wrong type is an error and leaves no row.

use serde_json::{Value, json};

use crate::client::Client;
use crate::home::Home;

#[test]
fn bad_arguments_are_errors_and_leave_no_row() {
    let home = Home::new();
    home.mint("a", "");
    let before = home.rows().len();
    let object = |more: Value| {
        let mut object = json!({"type": "report", "id": "a", "executor": "send"});
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    for modern in [false, true] {
        let begin = if modern { Client::modern } else { Client::legacy };
        let mut client = begin(&home, &["--executor", "send=touch done"]);
        for (tool, arguments, says) in [
            ("grant_status", json!({}), "`type` is missing"),
            ("grant_status", json!({"type": "report"}), "`id` is missing"),
            ("grant_status", json!({"type": "report", "id": null}), "`id` must be a string"),
            ("grant_status", json!({"type": "report", "id": 1}), "`id` must be a string"),
            ("grant_status", json!({"type": "a b", "id": "a"}), "`type`: type: it may not hold"),
            ("grant_status", json!({"type": "report", "id": ""}), "`id`: id: it has 1 to 256"),
            (
                "grant_status",
                json!({"type": "report", "id": "a", "executor": "send"}),
                "unknown argument `executor`; it takes `type`, `id`",
            ),
            ("grant_discharge", json!({"type": "report", "id": "a"}), "`executor` is missing"),
            (
                "grant_discharge",
                object(json!({"executor": ["send"]})),
                "`executor` must be a string",
            ),
            ("grant_discharge", object(json!({"executor": "x".repeat(65)})), "`executor`: name"),
            ("grant_discharge", object(json!({"action": {}})), "`action` must be a string"),
            ("grant_discharge", object(json!({"action": null})), "`action` must be a string"),
            ("grant_discharge", object(json!({"key": ""})), "`key`: name: it has 1 to 64"),
            (
                "grant_discharge",
                object(json!({"command": "rm -rf /"})),
                "unknown argument `command`",
            ),
            ("grant_discharge", object(json!({"id": "a\u{202e}"})), "`id`: id: it may not hold"),
            ("ledger_tail", json!({"n": 0}), "`n` must be an integer from 1 to 200"),
            ("ledger_tail", json!({"n": 201}), "`n` must be an integer from 1 to 200"),
            ("ledger_tail", json!({"n": 1.5}), "`n` must be an integer from 1 to 200"),
            ("ledger_tail", json!({"n": "5"}), "`n` must be an integer from 1 to 200"),
            ("ledger_tail", json!({"n": -1}), "`n` must be an integer from 1 to 200"),
            ("ledger_tail", json!({"object_id": 5}), "`object_id` must be a string"),
            ("ledger_tail", json!({"a\u{202e}": 5}), "unknown argument `a\\u{202e}`"),
            ("grant_mint", json!({"type": "report", "id": "a"}), "there is no tool `grant_mint`"),
        ] {
            let (code, message) = client.refused_call(tool, arguments.clone());
            assert_eq!(code, -32602, "{tool} {arguments}: {message}");
            assert!(message.contains(says), "{tool} {arguments}: {message}");
        }
        client.end();
    }
    assert_eq!(home.rows().len(), before);
    assert!(!home.dir().join("done").exists());
    assert_eq!(home.status("a"), "live");
}

#[test]
fn rows_are_counted_and_filtered() {
    let home = Home::new();
    for id in ["a", "b"] {
        home.mint(id, "");
        home.discharge(id, "true", &[]);
    }
    let mut client = Client::legacy(&home, &[]);
    for number in 0..20 {
        home.mint(&format!("more-{number}"), "");
    }
    let rows = home.rows();
    let tail = |client: &mut Client, arguments: Value| {
        client.call("ledger_tail", arguments)["rows"].as_array().unwrap().clone()
    };
    assert_eq!(tail(&mut client, json!({})), rows[rows.len() - 20..]);
    assert_eq!(tail(&mut client, json!({"n": 1})), rows[rows.len() - 1..]);
    assert_eq!(tail(&mut client, json!({"n": 200})), rows);
    let about_b = tail(&mut client, json!({"object_id": "b"}));
    let kinds: Vec<_> = about_b.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["decision.minted", "decision.intent", "decision.result", "decision.outcome"]
    );
    assert_eq!(tail(&mut client, json!({"object_id": "nobody"})), Vec::<Value>::new());
    client.end();
}

#[test]
fn an_unknown_executor_is_refused_and_told_the_known_ones() {
    let home = Home::new();
    home.mint("a", "");
    home.write(".granted/config.toml", "[executors.deploy]\nargv = [\"true\"]\n");
    let mut client = Client::legacy(&home, &["--executor", "send=true"]);
    let report = client.discharge("a", "sned");
    assert_eq!(
        (&report["outcome"], &report["reason"]),
        (&json!("refused"), &json!("unknown_executor"))
    );
    let detail = report["detail"].as_str().unwrap();
    assert_eq!(detail, "no executor `sned` is registered; there are `deploy`, `send`");
    assert_eq!(home.rows_of("decision.outcome").len(), 1);
    assert_eq!(client.discharge("a", "deploy")["outcome"], "discharged");
    let (_, stderr) = client.end();
    assert!(stderr.contains("executors `deploy`, `send` (command line)"), "{stderr}");
}

#[test]
fn a_name_stands_for_one_executor() {
    let home = Home::new();
    home.write(".granted/config.toml", "[executors.deploy]\nargv = [\"true\"]\n");
    for (given, says) in [
        (vec!["deploy=true"], "there is an executor `deploy` already"),
        (vec!["a=true", "a=false"], "there is an executor `a` already"),
        (vec!["exec=true"], "the name `exec` is kept"),
        (vec!["send"], "an executor is given as NAME=COMMAND"),
        (vec!["send="], "an executor is given as NAME=COMMAND"),
        (vec!["=true"], "name: it has 1 to 64 characters"),
    ] {
        let args = given.iter().flat_map(|given| ["--executor", given]);
        let run = home.run(["mcp"].into_iter().chain(args)).exits(2);
        assert!(run.stderr.contains(says), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}
