//! Keys, passwords and trust, with a person at a terminal.

mod made;
mod ssh;
mod trust;

use crate::home::{Home, Run};
use crate::pty::Pty;

pub const PASSWORD: &str = "correct horse";

/// Runs the words of a line at a terminal, where this is asked and answered.
#[track_caller]
pub fn at_terminal(home: &Home, line: &str, answers: &[(&str, &str)]) -> Run {
    let mut pty = Pty::start(&home.command(line.split_whitespace()));
    for (prompt, answer) in answers {
        pty.until(prompt);
        pty.line(answer);
    }
    pty.end()
}

/// Makes a key with [`PASSWORD`].
#[track_caller]
pub fn new_key(home: &Home, name: &str) -> Run {
    let answers = [("new password for key", PASSWORD), ("the same again: ", PASSWORD)];
    at_terminal(home, &format!("key new {name}"), &answers).ok()
}

/// The key's id.
pub fn id(home: &Home, name: &str) -> String {
    let listed = home.say("key list --json").ok().stdout;
    let keys = listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let key = keys.into_iter().find(|key| key["name"] == name).unwrap();
    key["id"].as_str().unwrap().to_owned()
}
