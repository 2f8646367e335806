//! `granted status` as a process.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::base::spawn_true;
use crate::{book, samples};

/// Asks in both of these books, which `lines book` made of so many grants, beside `/bin/true` alone.
pub fn run(program: &str, count: usize, books: [(PathBuf, usize); 2]) -> Value {
    let [small, large] = books;
    let ask = |(root, grants): &(PathBuf, usize), turn: usize| {
        let mut command = Command::new(program);
        command.env("GRANTED_HOME", root).args(["status", "--type", "report", "--id"]);
        command.arg(book::id(book::asked(turn, *grants))).stdout(Stdio::null());
        // Exit code 0: the grant is live.
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    for turn in 0..book::ASKED {
        ask(&small, turn);
        ask(&large, turn);
    }
    samples::in_turns(
        count,
        &mut [
            ("small", Box::new(|turn| ask(&small, turn))),
            ("large", Box::new(|turn| ask(&large, turn))),
            ("true", Box::new(|_| spawn_true())),
        ],
    )
}
