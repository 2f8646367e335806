//! Processes that are killed at each point of an approval, and what the next listing finds.
#![allow(clippy::disallowed_methods)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::dismiss::dismiss;
use super::requests::requests;
use super::stage::{POINTS, Stage};

/// The point at which this process is to die, the home in which, and the request that it approves.
const DIES: &str = "TEST_DIES_AT";
const HOME: &str = "TEST_HOME";
const REQUEST: &str = "TEST_REQUEST";

/// Ends this process as `kill -9` does, if it is to die at this point.
fn reach(point: &str) {
    if std::env::var(DIES).is_ok_and(|dies| dies == point) {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    }
}

/// Runs in the process that is to die; does nothing otherwise.
#[test]
fn mortal() {
    let Some(home) = std::env::var_os(HOME).map(PathBuf::from) else { return };
    let stage = Stage::at(&home, reach);
    let id = std::env::var(REQUEST).unwrap().parse().unwrap();
    stage.approve(&stage.book(), id).unwrap();
}

fn dies(home: &Path, request: &str, point: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["spend::crash_tests::mortal", "--exact", "--quiet"])
        .env(DIES, point)
        .env(HOME, home)
        .env(REQUEST, request)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9), "{point}");
}

#[test]
fn whoever_comes_next_finds_what_a_kill_left() {
    for point in POINTS {
        let stage = Stage::new();
        let book = stage.book();
        let token = stage.issue(&book).token;
        let request = stage.file(&book, &token, "a", 1_000).unwrap();
        drop(book);
        dies(stage.root(), &request.id.to_string(), point);
        let (status, left, signed, seen) = match point {
            "before the row" => ("pending_approval", 50_000, 0, 0),
            "before signing" => ("unresolved", 48_800, 0, 0),
            "after signing" => ("unresolved", 48_800, 1, 0),
            "after saving" | "before broadcast" => ("broadcast_pending", 48_800, 1, 0),
            "after broadcast" => ("broadcast_pending", 48_800, 1, 1),
            _ => ("sent", 48_800, 1, 1),
        };
        let book = stage.book();
        // Looking only tells what the rows say.
        let looked = super::requests::look(&stage.spends(&book)).unwrap();
        let expected = if point == POINTS[0] { status } else { "signing" };
        assert_eq!(looked[0].state.status(), expected, "{point}");
        for _ in 0..2 {
            let listed = requests(&stage.spends(&book), true, &stage.wallet).unwrap();
            assert_eq!(listed[0].state.status(), status, "{point}");
        }
        assert_eq!(stage.stands(&book, request.id), (status, left), "{point}");
        let rows = stage.kinds().len();
        requests(&stage.spends(&book), true, &stage.wallet).unwrap();
        assert_eq!(stage.kinds().len(), rows, "{point}");

        // Only what was never authorized can be approved again; nothing is signed twice.
        let again = stage.approve(&book, request.id);
        assert_eq!(again.is_ok(), point == POINTS[0], "{point}");
        if point != POINTS[0] {
            let wallet = &stage.wallet;
            assert_eq!((wallet.signatures().len(), wallet.seen().len()), (signed, seen), "{point}");
        }
        // What is unresolved gives nothing back when it is given up.
        if status == "unresolved" {
            dismiss(&stage.spends(&book), &request.id.to_string()).unwrap();
            assert_eq!(stage.stands(&book, request.id), ("dismissed", left), "{point}");
        }
        stage.kinds();
    }
}

/// A process that lives is left alone, whoever looks.
#[test]
fn what_is_being_signed_is_left_alone() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    let id = request.id.to_string();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["spend::crash_tests::held", "--exact", "--quiet"])
        .env(HOME, stage.root())
        .env(REQUEST, &id)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "signed\n");
    let listed = requests(&stage.spends(&book), true, &stage.wallet).unwrap();
    assert_eq!(listed[0].state.status(), "signing");
    assert!(stage.approve(&book, request.id).unwrap_err().to_string().contains("is signing"));
    assert!(dismiss(&stage.spends(&book), &id).unwrap_err().to_string().contains("is signing"));
    let settled = super::settle::check_free(&stage.spends(&book), request.id);
    assert!(settled.unwrap_err().to_string().contains("is being executed now"));
    assert_eq!(stage.kinds(), ["granted", "filed", "signing"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = requests(&stage.spends(&book), true, &stage.wallet).unwrap();
    assert_eq!(listed[0].state.status(), "unresolved");
}

/// Runs in the process that is held in the middle; does nothing otherwise.
#[test]
fn held() {
    let Some(home) = std::env::var_os(HOME).map(PathBuf::from) else { return };
    let hold = |point: &str| {
        if point == "after signing" {
            std::io::stderr().write_all(b"signed\n").unwrap();
            // Nothing comes: it is killed here.
            let _ = std::io::stdin().read(&mut [0]);
        }
    };
    let stage = Stage::at(&home, hold);
    let id = std::env::var(REQUEST).unwrap().parse().unwrap();
    stage.approve(&stage.book(), id).unwrap();
}

/// The lock file of an approval that was cut off stays until it is settled.
#[test]
fn a_tick_keeps_what_tells_that_an_approval_was_cut_off() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let request = stage.file(&book, &token, "a", 1_000).unwrap();
    drop(book);
    dies(stage.root(), &request.id.to_string(), "after saving");
    let book = stage.book();
    crate::decision::tick::tick(&book).unwrap();
    let listed = requests(&stage.spends(&book), true, &stage.wallet).unwrap();
    assert_eq!(listed[0].state.status(), "broadcast_pending");
    crate::decision::tick::tick(&book).unwrap();
    let acts = std::fs::read_dir(stage.root().join("home/acts")).unwrap().count();
    assert_eq!(acts, 0);
}
