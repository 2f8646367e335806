//! Executors as they come: every way in which one can end, write, hang, hide or be missing.

mod confirm;
mod ends;
mod environment;
mod matrix;
mod nested;
mod output;
mod programs;
mod results;

use std::path::Path;

use crate::home::{Home, Run};

/// An attempt on `report/ID` with these arguments, answered in JSON.
fn attempt(home: &Home, id: &str, args: &[&str]) -> Run {
    let object = ["discharge", "--type", "report", "--id", id, "--json"];
    home.run(object.iter().chain(args))
}

/// An attempt through a shell command.
fn exec(home: &Home, id: &str, command: &str) -> Run {
    attempt(home, id, &["--exec", command])
}

/// It ended in this way, with the exit code of its outcome.
#[track_caller]
fn ends(run: Run, outcome: &str, reason: &str) -> serde_json::Value {
    let code = match outcome {
        "discharged" => 0,
        "refused" => 3,
        "uncertain" => 4,
        _ => 5,
    };
    let report = run.exits(code).json();
    assert_eq!((&report["outcome"], &report["reason"]), (&outcome.into(), &reason.into()));
    report
}

/// The kinds of rows of `report/ID` after its minted row, with who wrote each result.
fn story(home: &Home, id: &str) -> Vec<String> {
    let run = home.say(&format!("ledger --id {id} --tail 1000 --json")).ok();
    let rows = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let word = |row: serde_json::Value| match row["kind"].as_str().unwrap() {
        "decision.result" => row["body"]["from"].as_str().unwrap().to_owned(),
        kind => kind.trim_start_matches("decision.").to_owned(),
    };
    rows.map(word).filter(|kind| kind != "minted").collect()
}

/// What the one executor of the ledger wrote to stdout, by the end of it that is kept.
fn stdout(home: &Home) -> String {
    let rows = home.rows_of("decision.result");
    rows.last().unwrap()["body"]["stdout"]["tail"].as_str().unwrap().to_owned()
}

/// Whether a process is there and has not ended.
fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Ends a process that an executor left behind, by the number that it wrote to this file.
fn end_left_behind(file: &Path) {
    let pid = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    assert!(is_alive(pid), "it was to be left alone");
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
