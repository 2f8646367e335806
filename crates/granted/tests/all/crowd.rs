//! Many processes at once: a gate that makes them race, and what they came to.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::home::{Home, Run};

/// The ledger's lock, held by the test: whoever decides meanwhile waits to append.
pub struct Gate(File);

impl Gate {
    pub fn closed(home: &Home) -> Gate {
        let ledger = File::open(home.ledger()).unwrap();
        ledger.lock().unwrap();
        Gate(ledger)
    }

    /// Lets them all go.
    pub fn open(self) {
        // Explicitly: a child between fork and exec holds the descriptor too.
        self.0.unlock().unwrap();
    }
}

/// Waits until this holds; a minute at most.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited a minute until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// How many files a folder holds.
pub fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// How many lines a file has: each is an effect.
pub fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// Starts the program.
pub fn start(home: &Home, args: &[&str]) -> Child {
    let mut command = home.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts a discharge of `report/ID` by a shell command.
pub fn start_discharge(home: &Home, id: &str, exec: &str, more: &[&str]) -> Child {
    let args = ["discharge", "--type", "report", "--id", id, "--json", "--exec", exec];
    start(home, &[&args, more].concat())
}

/// Waits for all of them.
pub fn ends(children: Vec<Child>) -> Vec<Run> {
    children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect()
}

/// Mints single-use grants of `report/ID` for an hour, all in one append.
pub fn mint_sheet(home: &Home, ids: impl Iterator<Item = usize>) {
    let line = |id| format!("{{\"object\":{{\"type\":\"report\",\"id\":\"{id}\"}}}}\n");
    let sheet = home.write("sheet.jsonl", ids.map(line).collect::<String>());
    home.run(["mint", "--sheet", sheet.to_str().unwrap(), "--by", "me", "--for", "1h"]).ok();
}

/// `OUTCOME: REASON` of a report or of the body of an outcome row.
pub fn said(value: &Value) -> String {
    let word = |key: &str| value[key].as_str().unwrap().to_owned();
    format!("{}: {}", word("outcome"), word("reason"))
}

/// The reasons in the outcome rows, in order.
pub fn reasons(home: &Home) -> Vec<String> {
    home.rows_of("decision.outcome").iter().map(|row| said(&row["body"])).collect()
}
