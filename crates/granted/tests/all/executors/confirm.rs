//! The second program that confirms an act.

use super::{attempt, ends, story};
use crate::home::{GRANTED, Home};

/// An executor that runs this script, and confirms with that one, within so long.
fn home_with(script: &str, confirm: &str, timeout: &str) -> Home {
    let home = Home::new();
    home.script("act", &format!("#!/bin/sh\n{script}\n"));
    home.script("check", &format!("#!/bin/sh\n{confirm}\n"));
    let entry = "argv = [\"./act\"]\nconfirm = [\"./check\", \"it\"]";
    let config = format!("[executors.e]\n{entry}\ntimeout = \"{timeout}\"\n");
    home.write(".granted/config.toml", config);
    home.mint("a", "");
    home
}

/// It looks at the world after the act, with the same environment, and 0 confirms.
#[test]
fn it_confirms_with_0_alone() {
    for (script, confirm, outcome, reason) in [
        ("touch sent", "test -e sent && test $1 = it", "discharged", "confirmed"),
        ("touch sent", "test -n \"$GRANTED_DISCHARGE_ID\"", "discharged", "confirmed"),
        ("touch sent", "exit 1", "uncertain", "not_confirmed"),
        ("touch sent", "exit 75", "uncertain", "not_confirmed"),
        ("touch sent", "kill -KILL $$", "uncertain", "not_confirmed"),
        ("rm check", "exit 0", "uncertain", "not_confirmed"),
        ("chmod -x check", "exit 0", "uncertain", "not_confirmed"),
    ] {
        let home = home_with(script, confirm, "1m");
        ends(attempt(&home, "a", &["--executor", "e"]), outcome, reason);
        assert_eq!(story(&home, "a"), ["intent", "wrapper", "outcome"], "{script}; {confirm}");
        assert_eq!(home.status("a"), "consumed");
        home.verify();
    }
}

/// Only a claimed success is confirmed.
#[test]
fn it_is_not_asked_after_a_failure() {
    for (script, outcome, reason) in
        [("exit 1", "refused", "executor_failed"), ("exit 75", "refused", "executor_declined")]
    {
        let home = home_with(script, "touch asked", "1m");
        ends(attempt(&home, "a", &["--executor", "e"]), outcome, reason);
        assert!(!home.dir().join("asked").exists(), "{script}");
    }
    // The executor's own word that it failed is not overruled.
    let home = home_with(&format!("{GRANTED} result --failed"), "exit 0", "1m");
    ends(attempt(&home, "a", &["--executor", "e"]), "refused", "result_failed");
}

/// It shares the deadline of the act, and is stopped with it.
#[test]
fn it_has_what_is_left_of_the_time() {
    let home = home_with(":", "exec sleep 120", "5s");
    ends(attempt(&home, "a", &["--executor", "e"]), "uncertain", "not_confirmed");
    home.verify();
}
