//! Exit codes against the executor's own result rows.

use super::{ends, exec, story};
use crate::home::{GRANTED, Home};

/// How the script ends, and what that means without a row of its own, with `--ok`, with `--failed`.
const MATRIX: &[(&str, [&str; 3])] = &[
    ("exit 0", ["confirmed", "confirmed", "result_failed"]),
    ("exit 1", ["executor_failed", "executor_uncertain", "executor_failed"]),
    ("exit 2", ["executor_failed", "executor_uncertain", "executor_failed"]),
    ("exit 75", ["executor_declined", "executor_uncertain", "executor_uncertain"]),
    ("exit 126", ["executor_failed", "executor_uncertain", "executor_failed"]),
    ("exit 127", ["executor_failed", "executor_uncertain", "executor_failed"]),
    ("exit 255", ["executor_failed", "executor_uncertain", "executor_failed"]),
    ("kill -KILL $$", ["executor_failed", "executor_uncertain", "executor_failed"]),
    ("kill -TERM $$", ["executor_failed", "executor_uncertain", "executor_failed"]),
];

fn outcome_of(reason: &str) -> &'static str {
    match reason {
        "confirmed" => "discharged",
        "executor_uncertain" => "uncertain",
        _ => "refused",
    }
}

/// The whole table holds for single-use grants: outcome, reason, rows, and what is left.
#[test]
fn every_exit_meets_every_result_row() {
    let home = Home::new();
    for (line, (end, reasons)) in MATRIX.iter().enumerate() {
        for (own, reason) in ["", "--ok", "--failed"].iter().zip(reasons) {
            let id = format!("{line}{own}");
            home.mint(&id, "");
            let write = match own {
                &"" => String::new(),
                own => format!("{GRANTED} result {own} || exit 99; "),
            };
            let case = format!("{write}{end}");
            ends(exec(&home, &id, &case), outcome_of(reason), reason);
            let mut rows = vec!["intent", "executor", "wrapper", "outcome"];
            rows.retain(|row| *row != "executor" || !own.is_empty());
            assert_eq!(story(&home, &id), rows, "{case}");
            let left = if *reason == "executor_declined" { "live" } else { "consumed" };
            assert_eq!(home.status(&id), left, "{case}");
        }
    }
    home.verify();
}

/// A session goes on after a success and a decline, and is spent by everything else.
#[test]
fn a_session_is_spent_by_the_first_end_that_is_not_discharged() {
    let home = Home::new();
    for (line, (end, [reason, ..])) in MATRIX.iter().enumerate() {
        let id = format!("session-{line}");
        home.mint(&id, "--decision APPROVE_SESSION");
        ends(exec(&home, &id, "true"), "discharged", "confirmed");
        ends(exec(&home, &id, end), outcome_of(reason), reason);
        let goes_on = matches!(*reason, "confirmed" | "executor_declined");
        let left = if goes_on { "live" } else { "consumed" };
        assert_eq!(home.status(&id), left, "{end}");
    }
    home.verify();
}
