//! `granted ledger prove` and `granted proof` as processes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::base::spawn_true;
use crate::{book, samples};

/// Proves rows and spent grants all over this book of so many, to a checkpoint of all rows, beside
/// `/bin/true` alone; with the bytes of the largest proof of a grant.
pub fn run(program: &str, root: &Path, grants: usize, count: usize) -> Value {
    let granted = |words: &[&str]| {
        let mut command = Command::new(program);
        command.env("GRANTED_HOME", root).args(words).stderr(Stdio::null());
        let done = command.output().unwrap();
        assert!(done.status.success(), "{command:?}");
        done.stdout.len()
    };
    granted(&["ledger", "checkpoint"]);
    // A prime, so that they lie everywhere. Each grant is at least one row.
    let place = |turn: usize| turn * 104_729 % grants;
    let prove = |turn: usize| {
        granted(&["ledger", "prove", &(1 + place(turn)).to_string()]);
    };
    // Those with odd numbers are spent.
    let proof =
        |turn: usize| granted(&["proof", "--type", "report", "--id", &book::id(place(turn) | 1)]);
    (0..count / 10).for_each(prove);
    let mut bytes = (0..count / 10).map(proof).max().unwrap_or(0);
    let mut samples = samples::in_turns(
        count,
        &mut [
            ("granted", Box::new(prove)),
            ("proof", Box::new(|turn| bytes = bytes.max(proof(turn)))),
            ("true", Box::new(|_| spawn_true())),
        ],
    );
    samples["bytes"] = json!(bytes);
    samples
}
