//! What a person is told, by a real program: of what, by which door, how often, and what comes of a
//! notifier that misbehaves.

mod doors;
mod ends;
mod events;
mod notifiers;
mod once;
mod recipes;

use crate::home::Home;

/// A home whose notifier writes a line for each notice: the event, the reason, the object's id.
fn told_home() -> Home {
    let home = Home::new();
    let here = home.dir().display();
    let line = "$GRANTED_NOTICE_EVENT $GRANTED_NOTICE_REASON $GRANTED_NOTICE_OBJECT_ID";
    let script = format!("#!/bin/sh\necho \"{line}\" >> {here}/told\n");
    // Of many notices all are given singly that may be.
    notify_by(&home, &script, "timeout = \"60s\"\n");
    home
}

/// Has this script be the notifier, with further lines in its part of the config.
fn notify_by(home: &Home, script: &str, more: &str) {
    let path = home.script("tell.sh", script);
    let command = format!("[notify]\ncommand = [\"{}\"]\n{more}", path.display());
    let executor = |name: &str, argv: &str| format!("[executors.{name}]\nargv = {argv}\n");
    let config = [
        command,
        executor("ok", "[\"true\"]"),
        executor("fails", "[\"false\"]"),
        executor("declines", "[\"sh\", \"-c\", \"exit 75\"]"),
        executor("doubt", "[\"true\"]") + "confirm = [\"false\"]\n",
    ];
    home.write(".granted/config.toml", config.concat());
}

/// What the notifier of [`told_home`] wrote.
fn told(home: &Home) -> Vec<String> {
    let text = std::fs::read_to_string(home.dir().join("told")).unwrap_or_default();
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Mints a grant of `report/ID`, and waits until its window has closed.
fn mint_expired(home: &Home, id: &str) {
    home.say(&format!("mint --type report --id {id} --by me --for 1s")).ok();
    while home.status(id) != "expired" {
        std::thread::yield_now();
    }
}

/// Mints a grant of `report/ID` that is in the last tenth of its window.
fn mint_due(home: &Home, id: &str) {
    let soon = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600);
    let soon = soon.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_micros();
    let soon = granted_core::time::Stamp::from_micros(soon.try_into().unwrap());
    let window = format!("--not-before 2020-01-01T00:00:00Z --not-after {soon}");
    home.say(&format!("mint --type report --id {id} --by me {window}")).ok();
}

/// Mints a grant of `report/ID` that is bound to a file, which then changes.
fn mint_drifted(home: &Home, id: &str) {
    let file = home.write("bound", "before");
    home.mint(id, "--bind bound");
    std::fs::write(file, "after").unwrap();
}

/// Attempts `report/ID` and is killed by the executor.
fn cut_off(home: &Home, id: &str) {
    home.mint(id, "");
    let kill = ["discharge", "--type", "report", "--id", id, "--exec", "kill -9 $PPID"];
    home.run(kill).exits(-1);
}
