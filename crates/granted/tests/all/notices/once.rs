//! At most once, whoever finds it and whoever dies.

use std::io::Write as _;
use std::process::Stdio;

use super::{cut_off, mint_drifted, mint_due, mint_expired, notify_by, told, told_home};
use crate::crowd::{Gate, ends, files, start, until};
use crate::home::Home;

#[test]
fn sixteen_processes_find_the_same_and_one_tells_it() {
    let home = told_home();
    for id in ["one", "two"] {
        mint_due(&home, id);
    }
    mint_expired(&home, "gone");
    mint_drifted(&home, "bound");
    cut_off(&home, "cut");
    let attempt = |id| ["discharge", "--type", "report", "--id", id, "--executor", "ok"];
    let gate = Gate::closed(&home);
    let mut children: Vec<_> = (0..16).map(|_| start(&home, &["tick"])).collect();
    children.extend((0..16).map(|_| start(&home, &attempt("bound"))));
    children.extend((0..16).map(|_| start(&home, &attempt("gone"))));
    gate.open();
    for run in ends(children) {
        assert!(!run.stderr.contains("note:"), "{run:?}");
    }
    let mut all = told(&home);
    all.sort_unstable();
    // Whether the tick or an attempt found the expiry is not known beforehand.
    let expiry = all.iter().position(|line| line.starts_with("expired ")).unwrap();
    assert!(all.remove(expiry).ends_with(" gone"));
    assert_eq!(
        all,
        ["due  one", "due  two", "refused binding_changed bound", "uncertain interrupted cut"]
    );
    home.verify();
}

/// Of sixteen ticks that find the same expired grants each tells some, and none tells one twice.
#[test]
fn many_are_told_in_part_and_counted() {
    let home = told_home();
    let line = |n: u32| format!("{{\"object\":{{\"type\":\"report\",\"id\":\"{n}\"}}}}\n");
    home.write("sheet.jsonl", (0..60).map(line).collect::<String>());
    home.say("mint --sheet sheet.jsonl --by me --for 1s").ok();
    while home.status("59") != "expired" {
        std::thread::yield_now();
    }
    home.say("tick").ok();
    let all = told(&home);
    assert_eq!(all.len(), 21, "{all:?}");
    assert_eq!(all.iter().filter(|line| line.starts_with("expired  ")).count(), 20);
    assert_eq!(all[20], "more");
    assert_eq!(files(&home.root().join("notices")), 60);
    home.say("tick").ok();
    home.say("discharge --type report --id 59 --executor ok").exits(5);
    assert_eq!(told(&home).len(), 21);
    // One that is over the number stands for itself.
    home.write("sheet.jsonl", (100..121).map(line).collect::<String>());
    home.say("mint --sheet sheet.jsonl --by me --for 1s").ok();
    while home.status("120") != "expired" {
        std::thread::yield_now();
    }
    home.say("tick").ok();
    let all = told(&home);
    assert_eq!(all.len(), 42);
    assert!(all[21..].iter().all(|line| line.starts_with("expired  ")), "{all:?}");
}

/// Those that come after a notifier has used the time of one are told together.
#[test]
fn a_slow_notifier_is_not_run_for_each() {
    let home = Home::new();
    let here = home.dir().display();
    let script =
        format!("#!/bin/sh\necho \"$GRANTED_NOTICE_TEXT\" >> {here}/told\nexec sleep 1000\n");
    notify_by(&home, &script, "timeout = \"2s\"\n");
    for id in ["1", "2", "3", "4", "5"] {
        mint_due(&home, id);
    }
    let run = home.say("tick").ok();
    assert_eq!(run.stdout.lines().count(), 5);
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let all = told(&home);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].starts_with("due (report/1) -- "), "{all:?}");
    assert!(all[1].starts_with("more: 4 due; "), "{all:?}");
}

/// Killed while it prints, between the row and the notice: the row is there, and nobody is told.
#[test]
fn killed_between_its_row_and_its_notice_it_has_told_nobody() {
    let home = told_home();
    home.mint("a", "");
    // Its answer does not fit into the pipe.
    let (_reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[0; 65536]).unwrap();
    let mut command =
        home.command(["discharge", "--type", "report", "--id", "a", "--executor", "doubt"]);
    let mut child = command.stdout(writer).stderr(Stdio::null()).spawn().unwrap();
    until("its outcome is written", || home.rows_of("decision.outcome").len() == 1);
    assert_eq!(told(&home), Vec::<String>::new());
    assert!(!home.root().join("notices").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    home.say("tick").ok();
    home.say("discharge --type report --id a --executor ok").exits(3);
    assert_eq!(told(&home), Vec::<String>::new());
    assert_eq!(home.rows_of("decision.outcome")[0]["body"]["reason"], "not_confirmed");
    home.verify();
}

/// Killed by its notifier, after the mark that the notice is given: it is not given again.
#[test]
fn killed_by_its_notifier_it_is_not_told_twice() {
    let home = Home::new();
    let here = home.dir().display();
    notify_by(&home, &format!("#!/bin/sh\necho x >> {here}/told\nkill -9 $PPID\n"), "");
    mint_due(&home, "a");
    home.say("tick").exits(-1);
    home.say("tick").ok();
    assert_eq!(home.count("told"), 1);
    // Deleting the marks has it told again.
    std::fs::remove_dir_all(home.root().join("notices")).unwrap();
    home.say("tick").exits(-1);
    assert_eq!(home.count("told"), 2);
}

/// Where the mark cannot be made nothing is told, and nothing else changes.
#[test]
fn without_a_mark_there_is_no_notice() {
    let home = told_home();
    mint_due(&home, "a");
    home.write(".granted/notices", "a file");
    let run = home.say("tick").ok();
    assert!(run.stdout.starts_with("due "), "{run:?}");
    assert!(run.stderr.starts_with("note: no notice was given: `"), "{run:?}");
    assert_eq!((run.stderr.lines().count(), told(&home).len()), (1, 0));
    std::fs::remove_file(home.root().join("notices")).unwrap();
    home.say("tick").ok();
    assert_eq!(told(&home), ["due  a"]);
    // It is for the person only, and beside the ledger.
    let mode = |path| {
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions())
    };
    let folder = home.root().join("notices");
    assert_eq!(mode(folder.clone()) & 0o7777, 0o700);
    let mark = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(mark.clone()) & 0o7777, std::fs::read(mark).unwrap().len()), (0o600, 0));
}
