//! A discharge as a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::base::{Base, spawn_true};
use crate::{book, samples};

/// `granted discharge --exec true`, beside the base and `/bin/true` alone.
pub fn run(folder: &Path, program: &str, count: usize) -> Value {
    let warm = count / 10 + 1;
    let home = book::mint(program, &folder.join("home"), warm + count);
    let discharge = |number: usize| {
        let mut command = Command::new(program);
        command.env("GRANTED_HOME", home.root()).args(["discharge", "--exec", "true"]);
        command.args(["--type", "report", "--id", &book::id(number)]).stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    };
    (0..warm).for_each(discharge);
    let mut base = Base::beside(home.ledger());
    samples::in_turns(
        count,
        &mut [
            ("granted", Box::new(|turn| discharge(warm + turn))),
            ("base", Box::new(|_| base.process())),
            ("true", Box::new(|_| spawn_true())),
        ],
    )
}
