//! Acts that do not end by themselves, or not wholly.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::{attempt, end_left_behind, ends, exec, is_alive};
use crate::home::Home;

/// The executor hears TERM at its deadline.
#[test]
fn a_timeout_that_is_obeyed() {
    let home = Home::new();
    home.mint("a", "");
    let command = "trap 'echo heard; exit 0' TERM; echo $$ > pid; sleep 120 & wait";
    let report =
        ends(attempt(&home, "a", &["--exec", command, "--timeout", "3s"]), "uncertain", "timeout");
    assert!(report["detail"].as_str().unwrap().contains("stopped"), "{report}");
    assert_eq!(super::stdout(&home), "heard\n");
    assert_eq!(home.rows_of("decision.result")[0]["body"]["ended"], "timed_out");
    assert_eq!(home.status("a"), "consumed");
    home.verify();
}

/// One that ignores TERM is killed, it and its children.
#[test]
fn a_timeout_that_is_ignored() {
    let home = Home::new();
    home.mint("a", "");
    let command = "trap '' TERM; sleep 120 & echo $$ $! > pids; while :; do wait; done";
    let report =
        ends(attempt(&home, "a", &["--exec", command, "--timeout", "3s"]), "uncertain", "timeout");
    assert!(report["detail"].as_str().unwrap().contains("killed 5s later"), "{report}");
    let pids = std::fs::read_to_string(home.dir().join("pids")).unwrap();
    assert!(pids.split_whitespace().all(|pid| !is_alive(pid.parse().unwrap())), "{pids}");
    home.verify();
}

/// A grandchild that holds the pipes does not hold the act: it is counted, and left alone.
#[test]
fn a_grandchild_that_holds_the_pipes_is_left_behind() {
    for (start, id) in [("sleep 120 &", "a"), ("setsid sleep 120 &", "b")] {
        let home = Home::new();
        home.mint(id, "");
        let report =
            ends(exec(&home, id, &format!("{start} echo $! > pid")), "discharged", "confirmed");
        assert_eq!(report["detail"], "result row line 4; it left 1 process behind", "{start}");
        end_left_behind(&home.dir().join("pid"));
        home.verify();
    }
}

/// One that made its own session and let the pipes go is nobody's any more.
#[test]
fn a_daemon_is_not_waited_for() {
    let home = Home::new();
    home.mint("a", "");
    let daemon = "setsid sh -c 'echo > up; exec sleep 120' >/dev/null 2>&1 & echo $! > pid";
    let command = format!("mkfifo up; {daemon}; cat up > /dev/null");
    let report = ends(exec(&home, "a", &command), "discharged", "confirmed");
    assert_eq!(report["detail"], "result row line 4");
    end_left_behind(&home.dir().join("pid"));
}

/// Runs this command as executor, and sends this signal to granted when it has said a line; that
/// line, and the answer.
fn stopped_by(home: &Home, signal: Signal, command: &str) -> (String, String) {
    home.mint("a", "");
    let args = ["discharge", "--type", "report", "--id", "a", "--exec", command];
    let mut child = home.command(args);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What the executor says comes through while it runs.
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{signal:?}: {answer}");
    (said, answer)
}

/// TERM, INT and HUP to us in mid-act: the executor is stopped and its end is recorded.
#[test]
fn a_signal_to_us_stops_the_act_and_is_recorded() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::new();
        let (said, answer) = stopped_by(&home, signal, "sleep 120 & echo $! && wait");
        assert!(answer.starts_with("uncertain: interrupted (report/a) -- stopped "), "{answer}");
        assert!(!is_alive(said.trim().parse().unwrap()));
        let acts = std::fs::read_dir(home.root().join("acts")).unwrap();
        assert_eq!(acts.count(), 0, "the lock file is gone");
        assert_eq!(super::story(&home, "a"), ["intent", "wrapper", "outcome"]);
        assert_eq!(home.status("a"), "consumed");
        home.verify();
    }
}

/// A group that is stopped dies whole; what made its own session is left, and counted as long as
/// it holds the pipes.
#[test]
fn a_stop_ends_the_group() {
    let home = Home::new();
    let theirs = "setsid sh -c 'echo > up; exec sleep 120' & echo $! > theirs";
    let command =
        format!("mkfifo up; sleep 120 & ours=$!; {theirs}; read _ < up; echo $ours; wait");
    let (said, answer) = stopped_by(&home, Signal::TERM, &command);
    assert!(answer.ends_with("; it left 1 process behind\n"), "{answer}");
    assert!(!is_alive(said.trim().parse().unwrap()));
    end_left_behind(&home.dir().join("theirs"));
}
