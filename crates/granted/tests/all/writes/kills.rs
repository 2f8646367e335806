//! An approval that is killed: between any two of its system calls that change something, and at any
//! microsecond.

use std::process::Command;
use std::time::Instant;

use super::{Ground, rows_of};
use crate::home::Run;

/// How often it is killed at a microsecond.
const KILLS: u32 = 60;

/// The system calls before which it is killed: those that change a file, a folder or the ledger.
const CALLS: [&str; 7] =
    ["pwrite64", "fchmod", "mkdirat", "renameat2", "unlinkat", "fsync", "fdatasync"];

/// Five files: changed, made in a new folder, and deleted. What they are to be after this round.
fn stage(ground: &Ground, round: usize) -> (String, String) {
    for name in ["one", "two"] {
        ground.put(&format!("src/{name}"), &format!("old {round}\n"));
    }
    ground.put("src/gone", "gone\n");
    let _ = std::fs::remove_dir_all(ground.at("src/made"));
    let new = format!("new {round}\n");
    ground.stage(&[
        ("src/one", Some(&new)),
        ("src/two", Some(&new)),
        ("src/made/deep/three", Some(&new)),
        ("src/made/four", Some(&new)),
        ("src/gone", None),
    ])
}

/// What the next command of the person leaves: all old or all new, and the ledger says which.
fn looked_after(ground: &Ground, round: usize, id: &str) -> bool {
    // Any verb will do; there is no such request.
    ground.home.say("writes reject 00000000000000000000000000 --by me").exits(1);
    let files = ["src/one", "src/two", "src/made/deep/three", "src/made/four", "src/gone"];
    let is = files.map(|path| ground.text(path));
    let (old, new) = (format!("old {round}\n"), format!("new {round}\n"));
    let (o, n) = (old.as_str(), new.as_str());
    let is_new = is == [n, n, n, n, "-"];
    assert!(is_new || is == [o, o, "-", "-", "gone\n"], "a mix: {is:?}");
    assert_eq!(is_new, ground.at("src/made").exists());
    let status = ground.status(id);
    assert_eq!(status, if is_new { "applied" } else { "staged" }, "{:?}", rows_of(ground, id));
    let mut find = Command::new("find");
    let left = find.arg(ground.at("")).args(["-name", ".granted*"]).output().unwrap().stdout;
    assert!(left.is_empty(), "{}", String::from_utf8_lossy(&left));
    is_new
}

#[test]
fn killed_before_any_system_call_it_is_all_old_or_all_new() {
    let ground = Ground::new();
    let (mut old, mut new) = (0, 0);
    for call in CALLS {
        for at in 1.. {
            let round = old + new;
            let (id, digest) = stage(&ground, round);
            let mut strace = ground.home.other("strace");
            strace.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
            strace.arg("-e").arg(format!("inject={call}:signal=SIGKILL:when={at}"));
            strace.arg(crate::home::GRANTED);
            strace.args(["writes", "approve", &id, "--digest", &digest, "--by", "me"]);
            let run: Run = strace.output().expect("strace, which this test needs").into();
            let is_new = looked_after(&ground, round, &id);
            if run.code == 0 {
                assert!(is_new);
                break;
            }
            match is_new {
                true => new += 1,
                false => old += 1,
            }
        }
    }
    assert!(old > 10 && new > 10, "{old} {new}");
    ground.home.verify();
}

#[test]
fn killed_at_any_microsecond_it_is_all_old_or_all_new() {
    let ground = Ground::new();
    let begun = Instant::now();
    let request = stage(&ground, 0);
    ground.approve(&request).ok();
    let whole = begun.elapsed();
    let (mut old, mut new) = (0, 0);
    for round in 1..=KILLS {
        let (id, digest) = stage(&ground, usize::try_from(round).unwrap());
        let args = ["writes", "approve", &id, "--digest", &digest, "--by", "me"];
        let mut child = ground.home.command(args).spawn().unwrap();
        // The moment is the test: it is not waited for anything.
        std::thread::sleep(whole * (round * 7 % KILLS) / KILLS);
        child.kill().unwrap();
        child.wait().unwrap();
        match looked_after(&ground, usize::try_from(round).unwrap(), &id) {
            true => new += 1,
            false => old += 1,
        }
    }
    assert!(old + new == KILLS, "{old} {new}");
    ground.home.verify();
}
