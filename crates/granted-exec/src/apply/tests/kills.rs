//! The process is killed, at each step and at any microsecond.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process};

use super::*;
use crate::boot;

/// Starts this test binary once more, to apply the change set in the project; it dies at that step.
fn start(project: &Project, dies_at: usize, recovers: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["apply::tests::kills::child", "--exact", "--nocapture"])
        .current_dir(project.dir.path())
        .env("TEST_DIES_AT", dies_at.to_string())
        .env("TEST_RECOVERS", if recovers { "yes" } else { "" })
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the other process does; nothing when it is run as a test.
#[test]
fn child() {
    let Ok(dies_at) = std::env::var("TEST_DIES_AT") else { return };
    let dies_at: usize = dies_at.parse().unwrap();
    let source = source(|step, _| {
        if step == dies_at {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        Ok(())
    });
    let tree = Tree::open(Path::new(".")).unwrap();
    io::Write::write_all(&mut io::stdout(), b"\nready\n").unwrap();
    io::Write::flush(&mut io::stdout()).unwrap();
    match std::env::var("TEST_RECOVERS").unwrap().is_empty() {
        true => assert_eq!(apply(&order(), &tree, &source), Applied::Done),
        false => drop(recover(&order(), &tree, &source).unwrap()),
    }
}

/// Waits for it to begin.
fn ready(child: &mut Child) {
    let out = child.stdout.as_mut().unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"\nready\n") {
        let mut byte = [0];
        out.read_exact(&mut byte).unwrap();
        said.push(byte[0]);
    }
}

/// Looks at what a dead process left: all old or all new, and nothing else. Whether it is new.
fn recovered(project: &Project) -> bool {
    let recovered = recover(&order(), &project.tree, &quiet()).unwrap();
    match recovered {
        Recovered::Old => assert_eq!(project.state(), "old"),
        Recovered::New => {
            assert_eq!(project.state(), "new");
            assert_eq!((mode(&project.at("run.sh")), mode(&project.at("made"))), (0o755, 0o640));
        }
        Recovered::Unresolved { .. } => panic!("{recovered:?} {}", project.state()),
    }
    recovered == Recovered::New
}

#[test]
fn killed_at_each_step_it_is_all_old_or_all_new() {
    let project = Project::new();
    let (mut old, mut new) = (0, 0);
    for step in 0.. {
        if start(&project, step, false).wait().unwrap().success() {
            assert_eq!(project.state(), "new");
            break;
        }
        // Recovery dies too, ever later.
        for step in [0, 1, 2, 3, 5, 8, 13, 21] {
            if start(&project, step, true).wait().unwrap().success() {
                break;
            }
        }
        match recovered(&project) {
            true => new += 1,
            false => old += 1,
        }
        project.reset();
    }
    assert!(old > 20 && new > 10, "{old} {new}");
}

#[test]
fn killed_500_times_at_any_moment_it_is_all_old_or_all_new() {
    let project = Project::new();
    let timer = boot::Timer::new().unwrap();
    // How long it takes from the word on, here and now.
    let mut child = start(&project, usize::MAX, false);
    ready(&mut child);
    let began = boot::now();
    assert!(child.wait().unwrap().success());
    let whole = (boot::now() - began).as_micros() as u64;
    project.reset();
    let (mut old, mut new) = (0, 0);
    // Moments that are as good as random, and the same in each run.
    let mut random = 1_u64;
    for _ in 0..500 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = start(&project, usize::MAX, false);
        ready(&mut child);
        timer.set(Duration::from_micros((random >> 33) % whole)).unwrap();
        poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        match recovered(&project) {
            true => new += 1,
            false => old += 1,
        }
        project.reset();
    }
    assert!(old > 0 && new > 0, "{old} {new}");
}
