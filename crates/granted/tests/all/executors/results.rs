//! `granted result`, as scripts call it.

use super::{attempt, ends, exec, story};
use crate::home::{GRANTED, Home};

/// The receipt is seen in the answer, the document, the status and the row.
#[test]
fn a_receipt_comes_back_everywhere() {
    let home = Home::new();
    home.mint("a", "");
    let command =
        format!(r#"{GRANTED} result --ok --receipt '{{"message_id":"<42@example>","n":1}}'"#);
    let report = ends(exec(&home, "a", &command), "discharged", "confirmed");
    let receipt = serde_json::json!({"message_id": "<42@example>", "n": 1});
    assert_eq!(report["receipt"], receipt);
    assert_eq!(report["detail"], "result row line 4");
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.document("a")).unwrap()).unwrap();
    assert_eq!(document["receipt"]["result"], receipt);
    let status = home.say("status --type report --id a --json").exits(3).json();
    assert_eq!(status["grant"]["receipt"]["result"], receipt);
    assert_eq!(home.rows_of("decision.result")[0]["body"]["receipt"], receipt);
    home.verify();
}

/// Once, while the act runs, with the token of that act: every other call changes nothing.
#[test]
fn it_is_written_once_and_only_with_the_right_token() {
    let home = Home::new();
    home.mint("a", "");
    let script = format!(
        "GRANTED_RESULT_TOKEN=wrong {GRANTED} result --ok; echo wrong=$?
         env -u GRANTED_RESULT_TOKEN {GRANTED} result --ok; echo bare=$?
         GRANTED_DISCHARGE_ID=nonsense {GRANTED} result --ok; echo id=$?
         GRANTED_DISCHARGE_ID=01M3RN7S6A000XN9KD5HYXYX1Z {GRANTED} result --ok; echo other=$?
         {GRANTED} result --failed; echo first=$?
         {GRANTED} result --ok; echo second=$?"
    );
    let run = exec(&home, "a", &script);
    for answer in ["wrong=1", "bare=2", "id=2", "other=1", "first=0", "second=1"] {
        assert!(run.stderr.contains(answer), "{answer}: {run:?}");
    }
    ends(run, "refused", "result_failed");
    assert_eq!(story(&home, "a"), ["intent", "executor", "wrapper", "outcome"]);
    home.verify();
}

/// A result that comes when the act has ended is refused, and the outcome stands.
#[test]
fn it_comes_too_late_after_the_act() {
    let home = Home::new();
    home.mint("a", "");
    let keep = "echo $GRANTED_DISCHARGE_ID > id; echo $GRANTED_RESULT_TOKEN > token; exit 1";
    ends(exec(&home, "a", keep), "refused", "executor_failed");
    let kept = |name: &str| std::fs::read_to_string(home.dir().join(name)).unwrap();
    let mut late = home.command(["result", "--ok"]);
    late.env("GRANTED_DISCHARGE_ID", kept("id").trim());
    late.env("GRANTED_RESULT_TOKEN", kept("token").trim());
    let run = crate::home::Run::from(late.output().unwrap()).exits(1);
    assert!(run.stderr.contains("has ended"), "{run:?}");
    assert_eq!(story(&home, "a"), ["intent", "wrapper", "outcome"]);
    home.say("result --ok").exits(2);
}

/// What is no receipt is a usage error, and does not use the one result up.
#[test]
fn a_bad_receipt_is_refused() {
    let home = Home::new();
    home.mint("a", "");
    let long = format!("\"{}\"", "x".repeat(4_096));
    let mut script = String::new();
    for bad in ["1.5", "{", "", r#"{"a":1,"a":2}"#, "9007199254740993", &long] {
        script
            .push_str(&format!("{GRANTED} result --ok --receipt '{bad}'; test $? = 2 || exit 9\n"));
    }
    let longest = format!("\"{}\"", "x".repeat(4_094));
    script.push_str(&format!("{GRANTED} result --ok --receipt '{longest}'\n"));
    let report = ends(exec(&home, "a", &script), "discharged", "confirmed");
    assert_eq!(report["receipt"].as_str().unwrap().len(), 4_094);
    home.verify();
}

/// Its result row stands although it hung until it was stopped: nobody can say.
#[test]
fn a_result_does_not_make_up_for_a_timeout() {
    let home = Home::new();
    home.mint("a", "");
    let command = format!("{GRANTED} result --ok && exec sleep 120");
    let run = attempt(&home, "a", &["--exec", &command, "--timeout", "5s"]);
    ends(run, "uncertain", "timeout");
    assert_eq!(story(&home, "a"), ["intent", "executor", "wrapper", "outcome"]);
    home.verify();
}
