//! Signals and systemd, when the answer is out and the notifier has its turn.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{notify_by, told};
use crate::home::Home;

const VERBS: [&str; 2] = [
    "discharge --type report --id a --executor doubt",
    "timer run --object report/a --executor doubt",
];

/// The verb's line with a `systemctl` of which each run is a line among what was told.
fn command(home: &Home, verb: &str) -> Command {
    let here = home.dir().display();
    home.script("bin/systemctl", &format!("#!/bin/sh\necho systemctl $2 >> {here}/told\n"));
    let mut command = home.command(verb.split(' '));
    command.env("PATH", format!("{here}/bin:/usr/local/bin:/usr/bin:/bin"));
    command
}

/// The answer is out, so a signal ends granted as it does any other program, and the notifier goes on.
#[test]
fn a_signal_ends_the_wait_for_a_notifier() {
    for verb in VERBS {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
            let home = Home::new();
            let here = home.dir().display();
            let [begun, go] = ["begun", "go"].map(|name| home.dir().join(name));
            assert!(Command::new("mkfifo").args([&begun, &go]).status().unwrap().success());
            notify_by(
                &home,
                &format!(
                    "#!/bin/sh\necho > {here}/begun; read word < {here}/go; echo > {here}/go\n"
                ),
                "timeout = \"60s\"\n",
            );
            home.mint("a", "");
            let mut child = command(&home, verb).stdout(Stdio::piped()).spawn().unwrap();
            // Until the notifier runs.
            std::fs::read(begun).unwrap();
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(signal.as_raw()), "{verb}: {status:?}");
            std::fs::write(&go, "on\n").unwrap();
            std::fs::read(&go).unwrap();
            assert_eq!(home.rows_of("decision.outcome")[0]["body"]["reason"], "not_confirmed");
            home.verify();
        }
    }
}

/// The person is told before systemd is asked for anything, since it may be long in answering.
#[test]
fn a_timer_tells_before_it_stops() {
    let home = Home::new();
    let here = home.dir().display();
    notify_by(&home, &format!("#!/bin/sh\necho told >> {here}/told\n"), "");
    home.mint("a", "");
    let status = command(&home, VERBS[1]).stdout(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(4));
    assert_eq!(told(&home), ["told", "systemctl disable"]);
}
