//! Programs that are registered: what is there, what they serve, and what ran.

use super::{attempt, ends, story};
use crate::home::{Home, Run};

/// A home with these entries in its config.
fn home_with(config: &str) -> Home {
    let home = Home::new();
    home.write(".granted/config.toml", config);
    home
}

/// What cannot be run is refused before the claim, saying why, and the grant stays live.
#[test]
fn what_cannot_be_run_spends_nothing() {
    let home = home_with(
        "[executors.missing]\nargv = [\"./nothing\"]\n\
         [executors.unknown]\nargv = [\"no-such-program\"]\n\
         [executors.folder]\nargv = [\"/tmp\"]\n\
         [executors.plain]\nargv = [\"./plain\"]\n\
         [executors.fifo]\nargv = [\"./fifo\"]\n\
         [executors.dangling]\nargv = [\"./dangling\"]\n\
         [executors.nowhere]\nargv = [\"true\"]\ncwd = \"/nowhere\"\n\
         [executors.relative]\nargv = [\"true\"]\ncwd = \"here\"\n\
         [executors.lost]\nargv = [\"true\"]\nfiles = [\"lost\"]\n\
         [executors.unconfirmed]\nargv = [\"true\"]\nconfirm = [\"./nothing\"]\n",
    );
    home.write("plain", "#!/bin/sh\n");
    std::os::unix::fs::symlink("gone", home.dir().join("dangling")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(home.dir().join("fifo")).status();
    assert!(fifo.unwrap().success());
    home.mint("a", "");
    for (name, why) in [
        ("missing", "/nothing` does not exist"),
        ("unknown", "no program `no-such-program` in `/usr/local/bin:/usr/bin:/bin`"),
        ("folder", "the program `/tmp` is a directory"),
        ("plain", "/plain` is not executable"),
        ("fifo", "/fifo` is not a regular file"),
        ("dangling", "/dangling` does not exist"),
        ("nowhere", "the directory `/nowhere` does not exist"),
        ("relative", "the directory `here` is not an absolute path"),
        ("lost", "/lost` does not exist"),
        ("unconfirmed", "/nothing` does not exist"),
        ("other", "no executor `other` is registered"),
        ("exec", "no executor `exec` is registered"),
    ] {
        let run = attempt(&home, "a", &["--executor", name]);
        let report = ends(run, "refused", "unknown_executor");
        assert!(report["detail"].as_str().unwrap().contains(why), "{report}");
        assert_eq!(home.status("a"), "live");
    }
    assert_eq!(home.rows_of("decision.intent").len(), 0);
    let listed = home.say("executors").exits(1);
    assert!(listed.stdout.contains("plain` is not executable"), "{listed:?}");
    home.verify();
}

/// A file without `#!` passes for a program until the kernel is asked: the claim is made, nothing
/// runs, and no shell guesses at it.
#[test]
fn a_script_without_an_interpreter_is_not_run_by_a_shell() {
    let home = home_with("[executors.e]\nargv = [\"./script\"]\n");
    home.script("script", "touch ran\n");
    home.mint("a", "");
    let report = ends(attempt(&home, "a", &["--executor", "e"]), "refused", "executor_declined");
    assert!(
        report["detail"].as_str().unwrap().starts_with("it could not be started, "),
        "{report}"
    );
    assert!(report["detail"].as_str().unwrap().contains("script"), "{report}");
    assert_eq!(home.rows_of("decision.result")[0]["body"]["ended"], "not_started");
    assert!(!home.dir().join("ran").exists());
    assert_eq!(home.status("a"), "live");
    home.script("script", "#!/bin/sh\ntouch ran\n");
    ends(attempt(&home, "a", &["--executor", "e"]), "discharged", "confirmed");
    assert!(home.dir().join("ran").exists());
    home.verify();
}

/// Types, actions and the grant's own pin: what does not fit is refused and spends nothing.
#[test]
fn an_executor_serves_what_it_says_and_a_grant_may_pin_one() {
    let home = home_with(
        "[executors.any]\nargv = [\"true\"]\n\
         [executors.invoices]\nargv = [\"true\"]\ntypes = [\"invoice\"]\n\
         [executors.reports]\nargv = [\"true\"]\ntypes = [\"report\"]\n\
         [executors.sender]\nargv = [\"true\"]\nactions = [\"send\"]\n",
    );
    let refuse = |id: &str, args: &[&str], why: &str| {
        let report = ends(attempt(&home, id, args), "refused", "action_not_allowed");
        assert!(report["detail"].as_str().unwrap().contains(why), "{report}");
        assert_eq!(home.status(id), "live");
    };
    home.mint("a", "");
    refuse("a", &["--executor", "invoices"], "`invoices` does not serve type `report`");
    refuse("a", &["--executor", "sender"], "`sender` serves only `send`");
    refuse("a", &["--executor", "sender", "--action", "print"], "`sender` serves only `send`");
    ends(attempt(&home, "a", &["--executor", "reports"]), "discharged", "confirmed");
    home.mint("b", "--executor sender");
    refuse("b", &["--executor", "any", "--action", "send"], "the grant names executor `sender`");
    refuse("b", &["--exec", "true", "--action", "send"], "the grant names executor `sender`");
    let run = attempt(&home, "b", &["--executor", "sender", "--action", "send"]);
    ends(run, "discharged", "confirmed");
    home.verify();
}

/// The timeout of an entry counts unless the caller gives another.
#[test]
fn the_timeout_of_an_entry() {
    let home = home_with("[executors.e]\nargv = [\"sleep\", \"600\"]\ntimeout = \"1s\"\n");
    home.mint("a", "");
    ends(attempt(&home, "a", &["--executor", "e"]), "uncertain", "timeout");
    home.write(".granted/config.toml", "[executors.e]\nargv = [\"sleep\", \"600\"]\n");
    home.mint("b", "");
    let run = attempt(&home, "b", &["--executor", "e", "--timeout", "1s"]);
    ends(run, "uncertain", "timeout");
    assert_eq!(story(&home, "a"), ["intent", "wrapper", "outcome"]);
}

/// The digest in the intent row tells one program from another: script, definition, `files`.
#[test]
fn the_digest_changes_with_what_would_run() {
    let home = Home::new();
    let (mut digests, mut count) = (std::collections::HashSet::new(), 0);
    let mut run = |script: &str, list: &str, config: &str, new: bool| {
        home.script("script", script);
        home.write("list", list);
        home.write(".granted/config.toml", config);
        let id = format!("n{count}");
        count += 1;
        home.mint(&id, "");
        ends(attempt(&home, &id, &["--executor", "e"]), "discharged", "confirmed");
        let rows = home.rows_of("decision.intent");
        let executor = &rows.last().unwrap()["body"]["executor"];
        assert_eq!(executor["name"], "e");
        let digest = executor["digest"].as_str().unwrap().to_owned();
        assert_eq!(digests.insert(digest), new, "{script} {list} {config}");
    };
    let plain = "[executors.e]\nargv = [\"./script\"]\n";
    let files = "[executors.e]\nargv = [\"./script\"]\nfiles = [\"list\"]\n";
    let argument = "[executors.e]\nargv = [\"./script\", \"x\"]\n";
    run("#!/bin/sh\n", "", plain, true);
    run("#!/bin/sh\n", "x", plain, false);
    run("#!/bin/sh\n:\n", "x", plain, true);
    run("#!/bin/sh\n", "x", argument, true);
    run("#!/bin/sh\n", "x", files, true);
    run("#!/bin/sh\n", "y", files, true);
    run("#!/bin/sh\n", "x", files, false);
    // A timer has less in its environment than a person at a terminal, and runs the same.
    home.mint("z", "");
    let mut command = home.command("discharge --type report --id z --executor e".split(' '));
    Run::from(command.env("LANG", "C.UTF-8").env("LC_ALL", "C").output().unwrap()).ok();
    let rows = home.rows_of("decision.intent");
    let digests = rows.iter().rev().take(2).map(|row| &row["body"]["executor"]["digest"]);
    assert!(digests.clone().eq(digests.rev()), "{rows:?}");
    home.verify();
}
