//! Executors that run granted themselves.

use super::{ends, exec};
use crate::home::{GRANTED, Home};

/// The person's verbs refuse inside an executor, and leave no row.
#[test]
fn a_persons_verbs_are_not_an_executors() {
    let home = Home::new();
    let grant = home.mint("a", "");
    let other = home.mint("b", "");
    home.write(
        "grant.json",
        r#"{"kind":"granted/1","object":{"type":"t","id":"i"},"minted_by":"me","for":"1h"}"#,
    );
    home.write("sheet.jsonl", r#"{"object":{"type":"t","id":"i"},"minted_by":"me","for":"1h"}"#);
    let mut script = String::new();
    for verb in [
        "mint --type report --id c --by me --for 1h",
        "mint --from grant.json",
        "mint --sheet sheet.jsonl",
        &format!("revoke {other}"),
        "revoke --type report --id b",
        &format!("resolve {grant} --happened --by me"),
        "resolve $GRANTED_DISCHARGE_ID --happened --by me",
        "ledger accept --by me --reason because",
    ] {
        script.push_str(&format!("{GRANTED} {verb}; echo code=$?\n"));
    }
    let run = exec(&home, "a", &script);
    assert_eq!(run.stderr.matches("code=1\n").count(), 8, "{run:?}");
    assert_eq!(run.stderr.matches("is a person's verb").count(), 8, "{run:?}");
    ends(run, "discharged", "confirmed");
    assert_eq!(home.rows_of("decision.minted").len(), 2);
    assert_eq!(home.rows().len(), 6);
    assert_eq!(home.status("b"), "live");
    // Reading is everybody's.
    home.mint("c", "");
    for verb in ["status --type report --id b", "list", "ledger", "ledger verify", "tick"] {
        let id = verb.replace(' ', "");
        home.mint(&id, "");
        ends(exec(&home, &id, &format!("{GRANTED} {verb}")), "discharged", "confirmed");
    }
    home.verify();
}

/// An executor may discharge another object, under its own name and token; not its own.
#[test]
fn an_attempt_within_an_attempt() {
    let home = Home::new();
    home.mint("outer", "");
    home.mint("inner", "");
    let again =
        format!("{GRANTED} discharge --type report --id outer --exec true; test $? = 3 || exit 1");
    let inner = "echo $GRANTED_OBJECT_ID $GRANTED_DISCHARGE_ID $GRANTED_RESULT_TOKEN >> seen";
    let script = format!(
        "{again}\n{inner}\n{GRANTED} discharge --type report --id inner --exec '{inner}; {GRANTED} result --ok' || exit 1"
    );
    let run = exec(&home, "outer", &script);
    assert!(run.stderr.contains("refused: claim_lost (report/outer) -- attempt "), "{run:?}");
    assert!(run.stderr.contains("discharged: confirmed (report/inner)"), "{run:?}");
    ends(run, "discharged", "confirmed");
    let seen = std::fs::read_to_string(home.dir().join("seen")).unwrap();
    let seen: Vec<Vec<&str>> = seen.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!((seen[0][0], seen[1][0]), ("outer", "inner"));
    assert_ne!(seen[0][1], seen[1][1]);
    assert_ne!(seen[0][2], seen[1][2]);
    home.verify();
}

/// A session is one claim at a time, also from within.
#[test]
fn a_session_is_not_entered_twice_at_once() {
    let home = Home::new();
    home.mint("a", "--decision APPROVE_SESSION");
    let again = format!("{GRANTED} discharge --type report --id a --exec true; test $? = 3");
    let run = exec(&home, "a", &again);
    assert!(run.stderr.contains("refused: claim_lost"), "{run:?}");
    ends(run, "discharged", "confirmed");
    assert_eq!(home.status("a"), "live");
    ends(exec(&home, "a", "true"), "discharged", "confirmed");
    home.verify();
}
