//! Sessions, and attempts repeated under a key.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::home::{Home, Run};

const RAN: &str = "echo ran >> ran";

/// A session for `report/s`; its id.
fn session(home: &Home) -> String {
    home.mint("s", "--decision APPROVE_SESSION")
}

#[track_caller]
fn ends(report: &Value, outcome: &str, reason: &str) {
    assert_eq!(
        (&report["outcome"], &report["reason"]),
        (&json!(outcome), &json!(reason)),
        "{report}"
    );
}

/// An attempt whose executor says `begun` and then waits for a line in the pipe `go`.
struct Held {
    child: Child,
    go: std::path::PathBuf,
}

fn hold(home: &Home, id: &str, more: &[&str]) -> Held {
    let [begun, go] = ["begun", "go"].map(|name| home.dir().join(name));
    for pipe in [&begun, &go] {
        let _ = std::fs::remove_file(pipe);
        assert!(home.other("mkfifo").arg(pipe).status().unwrap().success());
    }
    let exec = "echo ran >> ran; echo > begun; read x < go; exit $x";
    let args = ["discharge", "--type", "report", "--id", id, "--json", "--exec", exec];
    let mut command: Command = home.command(args.iter().chain(more));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Comes back once the executor has begun.
    std::fs::read(&begun).unwrap();
    Held { child, go }
}

impl Held {
    /// Lets the executor exit with this code; the report.
    fn end(self, code: u8) -> Value {
        std::fs::write(&self.go, format!("{code}\n")).unwrap();
        Run::from(self.child.wait_with_output().unwrap()).json()
    }
}

#[test]
fn a_session_is_used_until_an_attempt_is_not_discharged() {
    for (exec, more, outcome, reason) in [
        ("exit 1", &[][..], "refused", "executor_failed"),
        ("granted result --failed", &[], "refused", "result_failed"),
        ("granted result --ok; exit 1", &[], "uncertain", "executor_uncertain"),
        ("kill -9 $$", &[], "refused", "executor_failed"),
        ("exec sleep 600", &["--timeout", "1s"], "uncertain", "timeout"),
        (r#"rm "$GRANTED_GRANT_PATH""#, &[], "uncertain", "receipt_mismatch"),
    ] {
        let home = Home::new();
        let grant = session(&home);
        for _ in 0..2 {
            ends(&home.discharge("s", RAN, &[]), "discharged", "confirmed");
            assert_eq!(home.status("s"), "live");
            ends(&home.discharge("s", "exit 75", &[]), "refused", "executor_declined");
            assert_eq!(home.status("s"), "live");
        }
        let exec = exec.replace("granted ", concat!(env!("CARGO_BIN_EXE_granted"), " "));
        ends(&home.discharge("s", &exec, more), outcome, reason);
        assert_eq!(home.status("s"), "consumed", "{exec}");
        ends(&home.discharge("s", RAN, &[]), "refused", "consumed");
        assert_eq!(home.count("ran"), 2);
        let shown = home.run(["show", &grant, "--json"]).ok().json();
        assert_eq!(shown["grant"]["receipt"]["outcome"], outcome, "{shown}");
        home.verify();
    }
}

#[test]
fn a_session_has_one_act_at_a_time() {
    let home = Home::new();
    session(&home);
    let held = hold(&home, "s", &[]);
    assert_eq!(home.status("s"), "live");
    ends(&home.discharge("s", RAN, &[]), "refused", "claim_lost");
    ends(&home.discharge("s", RAN, &["--action", "pay"]), "refused", "claim_lost");
    let revoked = home.say("revoke --type report --id s").ok();
    assert!(revoked.stdout.contains("runs and goes on"), "{revoked:?}");
    ends(&held.end(0), "discharged", "confirmed");
    ends(&home.discharge("s", RAN, &[]), "refused", "revoked");
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn racers_on_a_session_are_discharged_or_lose() {
    let home = Home::new();
    session(&home);
    let args = ["discharge", "--type", "report", "--id", "s", "--json", "--exec", RAN];
    let spawn =
        |_| home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let racers: Vec<Child> = (0..12).map(spawn).collect();
    let mut won = 0;
    for racer in racers {
        let report = Run::from(racer.wait_with_output().unwrap()).json();
        match report["outcome"].as_str().unwrap() {
            "discharged" => won += 1,
            _ => ends(&report, "refused", "claim_lost"),
        }
    }
    assert!(won > 0);
    assert_eq!(home.count("ran"), won);
    assert_eq!(home.rows_of("decision.outcome").len(), 12);
    assert_eq!(home.status("s"), "live");
    home.verify();
}

#[test]
fn a_key_repeated_during_the_act_waits_for_its_outcome() {
    for (code, outcome) in [(0, "discharged"), (1, "refused")] {
        let home = Home::new();
        home.mint("x", "");
        let held = hold(&home, "x", &["--key", "k"]);
        // Another action under the key is refused at once; so is no key.
        let rows = home.rows().len();
        ends(
            &home.discharge("x", RAN, &["--key", "k", "--action", "a"]),
            "refused",
            "invalid_request",
        );
        ends(&home.discharge("x", RAN, &[]), "refused", "claim_lost");
        assert_eq!(home.rows().len(), rows + 2);
        let same =
            ["discharge", "--type", "report", "--id", "x", "--json", "--key", "k", "--exec", RAN];
        let waits =
            home.command(same).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let first = held.end(code);
        let second = Run::from(waits.wait_with_output().unwrap()).json();
        assert_eq!(first["outcome"], outcome);
        assert_eq!((&first["replayed"], &second["replayed"]), (&json!(false), &json!(true)));
        for field in ["outcome", "reason", "grant_id", "discharge_id", "detail", "receipt"] {
            assert_eq!(first[field], second[field], "{field}");
        }
        assert_eq!(home.count("ran"), 1);
        assert_eq!(home.rows().len(), rows + 4, "its result and outcome, and no other row");
        home.verify();
    }
}

#[test]
fn a_key_repeated_afterwards_is_answered_without_a_row() {
    let home = Home::new();
    home.mint("x", "");
    let key = ["--key", "k"];
    let first = home.discharge("x", RAN, &key);
    ends(&first, "discharged", "confirmed");
    let rows = home.rows().len();
    let again = home.discharge("x", RAN, &key);
    assert_eq!(again["replayed"], true);
    assert_eq!(again["discharge_id"], first["discharge_id"]);
    assert_eq!(home.rows().len(), rows);
    ends(
        &home.discharge("x", RAN, &["--key", "k", "--action", "send"]),
        "refused",
        "invalid_request",
    );
    ends(&home.discharge("x", RAN, &["--key", "other"]), "refused", "consumed");
    // Nor through another executor.
    home.write(".granted/config.toml", "[executors.other]\nargv = [\"true\"]\n");
    let other = "discharge --type report --id x --executor other --key k --json";
    ends(&home.say(other).exits(3).json(), "refused", "invalid_request");
    // Under a new grant too: what was done is not done again.
    home.mint("x", "");
    assert_eq!(home.discharge("x", RAN, &key)["discharge_id"], first["discharge_id"]);
    assert_eq!(home.status("x"), "live");
    ends(
        &home.discharge("x", RAN, &["--key", "k", "--action", "send"]),
        "refused",
        "invalid_request",
    );
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn what_is_uncertain_under_a_key_is_not_tried_again_by_a_new_mint() {
    let home = Home::new();
    home.mint("x", "");
    let first = home.discharge("x", "exec sleep 600", &["--key", "k", "--timeout", "1s"]);
    ends(&first, "uncertain", "timeout");
    home.mint("x", "");
    let again = home.discharge("x", RAN, &["--key", "k"]);
    ends(&again, "uncertain", "timeout");
    assert_eq!(again["discharge_id"], first["discharge_id"]);
    let id = first["discharge_id"].as_str().unwrap();
    home.run(["resolve", id, "--did-not-happen", "--by", "me"]).ok();
    home.run(["resolve", id, "--happened", "--by", "me"]).exits(1);
    ends(&home.discharge("x", RAN, &["--key", "k"]), "uncertain", "timeout");
    ends(&home.discharge("x", RAN, &["--key", "k2"]), "discharged", "confirmed");
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn declines_and_refusals_do_not_bind_a_key_and_failures_only_in_their_grant() {
    let home = Home::new();
    let key = ["--key", "k"];
    ends(&home.discharge("x", RAN, &key), "refused", "none");
    home.mint("x", "");
    ends(&home.discharge("x", "exit 75", &key), "refused", "executor_declined");
    ends(&home.discharge("x", "exit 75", &key), "refused", "executor_declined");
    let failed = home.discharge("x", "exit 1", &key);
    ends(&failed, "refused", "executor_failed");
    let again = home.discharge("x", RAN, &key);
    assert_eq!(
        (&again["discharge_id"], &again["replayed"]),
        (&failed["discharge_id"], &json!(true))
    );
    assert_eq!(home.count("ran"), 0);
    // The person minted again, so it may be tried again.
    home.mint("x", "");
    ends(&home.discharge("x", RAN, &key), "discharged", "confirmed");
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn a_key_in_a_session_names_one_use() {
    let home = Home::new();
    session(&home);
    for key in ["1", "2", "1", "2", "3"] {
        ends(&home.discharge("s", RAN, &["--key", key]), "discharged", "confirmed");
    }
    assert_eq!(home.count("ran"), 3);
    home.verify();
}
