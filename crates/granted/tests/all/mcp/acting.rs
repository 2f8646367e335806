//! Acts under way: cancelled, waited for, outlived by the client, told of while they run.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, ended};
use crate::home::Home;

/// An executor that says when it runs, and goes on when it is told to.
struct Held {
    home: Home,
}

const HELD: &[&str] = &[
    "--executor",
    "held=sleep 1000 & echo $! > child; echo run >> runs; echo begun > begun; read word < go; kill %1; exit $word",
    "--executor",
    "send=true",
];

impl Held {
    fn new() -> Held {
        let home = Home::new();
        for name in ["begun", "go"] {
            let path = home.dir().join(name);
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            assert!(path.metadata().unwrap().file_type().is_fifo());
        }
        Held { home }
    }

    /// Waits until the executor runs.
    fn begun(&self) {
        let mut text = String::new();
        File::open(self.home.dir().join("begun")).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "begun\n");
    }

    /// Has the executor end with this status.
    fn go(&self, status: &str) {
        writeln!(File::options().write(true).open(self.home.dir().join("go")).unwrap(), "{status}")
            .unwrap();
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.home.dir().join("runs")).unwrap_or_default().lines().count()
    }

    /// Whether the process that the executor left in the background lives.
    fn child_lives(&self) -> bool {
        let pid = std::fs::read_to_string(self.home.dir().join("child")).unwrap();
        std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    fn only_outcome(&self) -> Value {
        let outcomes = self.home.rows_of("decision.outcome");
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        outcomes[0]["body"].clone()
    }
}

fn held(id: &str, key: &str) -> Value {
    json!({"type": "report", "id": id, "executor": "held", "key": key})
}

#[test]
fn a_cancelled_act_is_stopped_recorded_and_not_spoken_of() {
    for modern in [false, true] {
        let held_home = Held::new();
        held_home.home.mint("a", "");
        let begin = if modern { Client::modern } else { Client::legacy };
        let mut client = begin(&held_home.home, HELD);
        let token = json!({"progressToken": "t"});
        let params =
            json!({"name": "grant_discharge", "arguments": held("a", "k"), "_meta": token});
        let id = client.begin("tools/call", params);
        held_home.begun();
        client.cancel(id);
        // The same key waits for the first call's outcome.
        let outcome = client.call("grant_discharge", held("a", "k"));
        assert_eq!(outcome["outcome"], "uncertain", "{outcome}");
        assert_eq!(
            (&outcome["reason"], &outcome["replayed"]),
            (&json!("interrupted"), &json!(true))
        );
        assert!(!held_home.child_lives());
        assert_eq!(client.status("a"), "consumed");
        let (frames, _) = client.end();
        let after: Vec<_> = frames.iter().filter(|frame| frame.get("id").is_some()).collect();
        assert_eq!(after, Vec::<&Value>::new());
        assert_eq!(held_home.only_outcome()["reason"], "interrupted");
        assert_eq!(held_home.runs(), 1);
        held_home.home.verify();
    }
}

#[test]
fn a_call_that_is_cancelled_before_its_claim_leaves_no_row() {
    let held_home = Held::new();
    held_home.home.mint("a", "");
    let mut client = Client::legacy(&held_home.home, HELD);
    let first = client.begin_call("grant_discharge", held("a", "k"));
    held_home.begun();
    // It waits for the first, which has the same key.
    let second = client.begin_call("grant_discharge", held("a", "k"));
    client.cancel(second);
    assert_eq!(client.status("a"), "consumed");
    // A second cancellation, and one of nothing.
    client.cancel(second);
    client.cancel(999);
    // A decline leaves the grant to whoever waits for it; but nobody does.
    held_home.go("75");
    assert_eq!(client.returned(first)["reason"], "executor_declined");
    assert_eq!(client.status("a"), "live");
    let (frames, _) = client.end();
    assert_eq!(frames, Vec::<Value>::new());
    assert_eq!(held_home.only_outcome()["reason"], "executor_declined");
    assert_eq!(held_home.runs(), 1);
    held_home.home.verify();
}

#[test]
fn a_call_that_is_cancelled_while_it_waits_holds_nothing_up() {
    let held_home = Held::new();
    held_home.home.mint("a", "");
    held_home.home.write(
        ".granted/config.toml",
        "[executors.held]\nargv = [\"/bin/sh\", \"-c\", \"echo begun > begun; read word < go\"]\n\
         cwd = \"HERE\"\n"
            .replace("HERE", held_home.home.dir().to_str().unwrap()),
    );
    let args = ["discharge", "--type", "report", "--id", "a", "--executor", "held", "--key", "k"];
    let mut elsewhere = held_home.home.command(args);
    elsewhere.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let elsewhere = elsewhere.spawn().unwrap();
    held_home.begun();
    let mut client = Client::legacy(&held_home.home, &[]);
    let id = client.begin_call("grant_discharge", held("a", "k"));
    assert_eq!(client.status("a"), "consumed");
    client.cancel(id);
    // The server ends although the other process's act still runs.
    let (frames, _) = client.end();
    assert_eq!(frames, Vec::<Value>::new());
    held_home.go("0");
    assert_eq!(ended(elsewhere), Some(0));
    assert_eq!(held_home.only_outcome()["reason"], "confirmed");
}

#[test]
fn an_act_under_way_blocks_nothing_and_its_key_is_answered_once_for_all() {
    let held_home = Held::new();
    for id in ["a", "b"] {
        held_home.home.mint(id, "");
    }
    let mut client = Client::legacy(&held_home.home, HELD);
    let first = client.begin_call("grant_discharge", held("a", "k"));
    held_home.begun();
    assert_eq!(client.status("a"), "consumed");
    assert_eq!(client.discharge("b", "send")["outcome"], "discharged");
    assert_eq!(client.discharge("a", "send")["reason"], "claim_lost");
    // The client has lost patience and asks again, under a new id.
    let again = client.begin_call("grant_discharge", held("a", "k"));
    assert_eq!(client.status("b"), "consumed");
    held_home.go("0");
    let (one, two) = (client.next(), client.next());
    let by_id =
        |id: i64| if one["id"] == id { &one } else { &two }["result"]["structuredContent"].clone();
    let (mut first, again) = (by_id(first), by_id(again));
    assert_eq!((&first["outcome"], &first["replayed"]), (&json!("discharged"), &json!(false)));
    first["replayed"] = true.into();
    assert_eq!(first, again);
    assert_eq!(held_home.runs(), 1);
    client.end();
    held_home.home.verify();
}

#[test]
fn what_runs_when_the_input_ends_is_finished_and_recorded() {
    let held_home = Held::new();
    held_home.home.mint("a", "");
    let mut client = Client::legacy(&held_home.home, HELD);
    let id = client.begin_call("grant_discharge", held("a", "k"));
    held_home.begun();
    client.close();
    held_home.go("0");
    assert_eq!(client.returned(id)["outcome"], "discharged");
    client.end();
    assert_eq!(held_home.only_outcome()["reason"], "confirmed");
    held_home.home.verify();
}

#[test]
fn what_was_asked_for_before_the_input_ended_is_done() {
    let home = Home::new();
    let mut client = Client::legacy(&home, &["--executor", "send=true"]);
    let ids: Vec<i64> = (0..10)
        .map(|number| {
            home.mint(&number.to_string(), "");
            let id = number.to_string();
            client.begin_call(
                "grant_discharge",
                json!({"type": "report", "id": id, "executor": "send"}),
            )
        })
        .collect();
    let (frames, _) = client.end();
    let answered: Vec<_> = frames.iter().filter_map(|frame| frame["id"].as_i64()).collect();
    assert!(ids.iter().all(|id| answered.contains(id)), "{frames:?}");
    assert_eq!(home.rows_of("decision.outcome").len(), 10);
    home.verify();
}

#[test]
fn a_signal_stops_what_runs_and_it_is_recorded() {
    for signal in ["TERM", "INT", "HUP"] {
        let held_home = Held::new();
        held_home.home.mint("a", "");
        let mut client = Client::legacy(&held_home.home, HELD);
        let id = client.begin_call("grant_discharge", held("a", "k"));
        held_home.begun();
        let kill = format!("kill -{signal} {}", client.pid());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        // The input is still open.
        let report = client.returned(id);
        assert_eq!(report["reason"], "interrupted", "{report}");
        assert!(!held_home.child_lives());
        client.end();
        assert_eq!(held_home.only_outcome()["reason"], "interrupted");
        held_home.home.verify();
    }
}

#[test]
fn a_client_that_reads_no_more_ends_the_server_after_what_runs() {
    let held_home = Held::new();
    held_home.home.mint("a", "");
    let mut server = held_home.home.command(["mcp"].iter().chain(HELD));
    server.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let call = json!({"name": "grant_discharge", "arguments": held("a", "k"), "_meta": {
        "io.modelcontextprotocol/protocolVersion": crate::client::MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    writeln!(
        stdin,
        "{}",
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    )
    .unwrap();
    held_home.begun();
    drop(server.stdout.take());
    // Its answer cannot be written.
    stdin.write_all(b"nonsense\n").unwrap();
    held_home.go("0");
    assert_eq!(ended(server), Some(0));
    assert_eq!(held_home.only_outcome()["reason"], "confirmed");
    held_home.home.verify();
}

#[test]
fn progress_is_sent_to_whoever_asked_for_it() {
    let held_home = Held::new();
    for id in ["a", "b"] {
        held_home.home.mint(id, "");
    }
    let mut client = Client::legacy(&held_home.home, HELD);
    let params = json!({
        "name": "grant_discharge", "arguments": held("a", "k"), "_meta": {"progressToken": 17},
    });
    let id = client.begin("tools/call", params);
    held_home.begun();
    let mut last = 0.0;
    for _ in 0..2 {
        let told = client.hear("notifications/progress");
        assert_eq!(told["params"]["progressToken"], 17);
        let progress = told["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{told}");
        assert!(told["params"]["message"].as_str().unwrap().starts_with("under way for "));
        last = progress;
    }
    held_home.go("0");
    assert_eq!(client.returned(id)["outcome"], "discharged");
    assert_eq!(client.discharge("b", "send")["outcome"], "discharged");
    let (frames, _) = client.end();
    assert_eq!(frames, Vec::<Value>::new());
}

#[test]
fn an_id_that_is_under_way_is_not_taken_again() {
    let held_home = Held::new();
    held_home.home.mint("a", "");
    let mut client = Client::legacy(&held_home.home, HELD);
    let id = client.begin_call("grant_discharge", held("a", "k"));
    held_home.begun();
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    let answer = client.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)));
    held_home.go("75");
    let report = client.returned(id);
    assert_eq!(report["reason"], "executor_declined");
    assert_eq!(client.status("a"), "live");
    // When it has been answered it is free.
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    assert_eq!(client.answer(id)["result"], json!({}));
    client.end();
}

#[test]
fn a_flood_of_refusals_is_bounded_and_leaves_a_row_for_each_that_was_told() {
    let home = Home::new();
    home.mint("live", "");
    let mut client = Client::legacy(&home, &["--executor", "send=true"]);
    let ids: Vec<i64> = (0..1_100)
        .map(|_| {
            let arguments = json!({"type": "report", "id": "none", "executor": "send"});
            client.begin_call("grant_discharge", arguments)
        })
        .collect();
    // The flood is waiting; others are served.
    let status = client.begin_call("grant_status", json!({"type": "report", "id": "live"}));
    let (mut refused, mut busy) = (0, 0);
    loop {
        let frame = client.next();
        let result = &frame["result"];
        if frame["id"] == status {
            break assert_eq!(result["structuredContent"]["status"], "live");
        }
        match result["isError"].as_bool().unwrap() {
            true => busy += 1,
            false => refused += 1,
        }
    }
    for id in ids {
        client.cancel(id);
    }
    // There is room again.
    assert_eq!(client.discharge_amid("live", "send", &mut refused)["outcome"], "discharged");
    let (frames, _) = client.end();
    refused += frames.iter().filter(|frame| frame["result"]["isError"] == false).count();
    assert!(refused >= 20 && busy > 0, "{refused} refused, {busy} busy");
    let rows = home.rows_of("decision.outcome").len() - 1;
    // The cancellation may have overtaken the answer to one that was just recorded.
    assert!(rows >= refused && rows + busy < 1_000, "{rows} rows, {refused} told, {busy} busy");
    home.verify();
}
