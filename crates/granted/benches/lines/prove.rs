//! `granted ledger prove` as a process.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::base::spawn_true;
use crate::samples;

/// Proves rows all over this book of so many, to a checkpoint of all of them, beside `/bin/true` alone.
pub fn run(program: &str, root: &Path, rows: usize, count: usize) -> Value {
    let ledger = |words: &[&str]| {
        let mut command = Command::new(program);
        command.env("GRANTED_HOME", root).arg("ledger").args(words).stdout(Stdio::null());
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    ledger(&["checkpoint"]);
    // A prime, so that they lie everywhere.
    let prove = |turn: usize| ledger(&["prove", &(1 + turn * 104_729 % rows).to_string()]);
    (0..count / 10).for_each(prove);
    samples::in_turns(
        count,
        &mut [("granted", Box::new(prove)), ("true", Box::new(|_| spawn_true()))],
    )
}
