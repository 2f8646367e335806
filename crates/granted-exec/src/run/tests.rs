mod sealed;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;

use granted_core::text::Name;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::*;
use crate::boot::{self, Timer};
use crate::program::Definition;

const MS: Duration = Duration::from_millis(1);
const QUICK: Times = Times {
    timeout: Duration::from_secs(20),
    grace: Duration::from_millis(300),
    linger: Duration::from_secs(1),
    leaves: true,
};

fn definition(cwd: &Path, argv: &[&str]) -> Definition {
    let path = "/usr/local/bin:/usr/bin:/bin";
    Definition {
        name: Name::new("test").unwrap(),
        argv: argv.iter().map(OsString::from).collect(),
        cwd: cwd.to_owned(),
        path: path.into(),
        env: vec![("PATH".into(), path.into()), ("BASE".into(), "base".into())],
        asks: Vec::new(),
        files: Vec::new(),
        confirm: None,
    }
}

fn program(cwd: &Path, argv: &[&str]) -> Program {
    Program::prepare(definition(cwd, argv)).unwrap()
}

fn with(argv: &[&str], times: Times, stop: &Stop, echo: Option<Echo>) -> Run {
    let program = program(Path::new("/"), argv);
    command(&program, program.command(), &[], times, stop, echo)
}

fn argv(argv: &[&str]) -> Run {
    with(argv, QUICK, &Stop::new().unwrap(), None)
}

fn sh(script: &str) -> Run {
    argv(&["/bin/sh", "-c", script])
}

fn sh_within(script: &str, timeout: Duration) -> Run {
    let times = Times { timeout, ..QUICK };
    with(&["/bin/sh", "-c", script], times, &Stop::new().unwrap(), None)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = boot::now();
    let made = work();
    (made, boot::now() - began)
}

fn pause(time: Duration) {
    let timer = Timer::new().unwrap();
    timer.set(time).unwrap();
    poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
}

fn read_all(file: OwnedFd) -> Vec<u8> {
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut std::fs::File::from(file), &mut all).unwrap();
    all
}

fn proc_self(name: &str) -> String {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(CWD, format!("/proc/self/{name}"), flags, Mode::empty()).unwrap();
    String::from_utf8(read_all(file)).unwrap()
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let value = line.split_ascii_whitespace().nth(1).unwrap();
    if name.starts_with("Sig") { u64::from_str_radix(value, 16) } else { value.parse() }.unwrap()
}

/// Ends a process whose id the program printed.
fn end(run: &Run) {
    let pid = Pid::from_raw(run.stdout.tail.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Runs an ignored test in a process of its own, since it measures the whole process.
fn alone(test: &str) {
    let us = std::env::current_exe().unwrap();
    let test = format!("run::tests::{test}");
    let run = argv(&[us.to_str().unwrap(), "--ignored", "--exact", &test]);
    assert_eq!(run.ended, Ended::Exit(0), "{}", run.stdout.tail);
    assert!(run.stdout.tail.contains("1 passed"), "{}", run.stdout.tail);
}

#[test]
fn exit_codes() {
    for code in [0, 1, 75, 255] {
        let run = sh(&format!("exit {code}"));
        assert_eq!((run.ended, &*run.detail), (Ended::Exit(code), ""));
        assert_eq!((run.stdout.bytes, run.stderr.bytes, run.left_behind), (0, 0, 0));
    }
}

#[test]
fn any_deadline_will_do() {
    assert_eq!(sh_within("sleep 0.1", Duration::MAX).ended, Ended::Exit(0));
    assert_eq!(sh_within("sleep 1", Duration::from_nanos(1)).ended, Ended::TimedOut);
}

#[test]
fn signals_of_others() {
    assert_eq!(sh("kill -KILL $$").ended, Ended::Signal(9));
    assert_eq!(sh("kill -TERM $$").ended, Ended::Signal(15));
}

#[test]
fn both_streams() {
    let run = sh("echo out; echo error >&2; printf '\\377\\376!'");
    assert_eq!((run.stdout.bytes, &*run.stdout.tail), (7, "out\n\u{fffd}\u{fffd}!"));
    assert_eq!((run.stderr.bytes, &*run.stderr.tail), (6, "error\n"));
}

#[test]
fn a_closed_stream_is_no_end() {
    let run = sh("exec >&- 2>&-; sleep 0.2; exit 3");
    assert_eq!(run.ended, Ended::Exit(3));
}

#[test]
fn a_grandchild_that_holds_the_pipes() {
    let (run, time) = timed(|| sh("sleep 30 & echo $!"));
    assert_eq!((run.ended, run.left_behind), (Ended::Exit(0), 1));
    assert_eq!(run.detail, "it left 1 process behind");
    assert!(time > 900 * MS && time < 1500 * MS, "{time:?}");
    assert!(run.spent < 500 * MS);
    end(&run);
}

#[test]
fn a_grandchild_that_floods_the_pipes() {
    let (run, time) = timed(|| sh("yes >&2 & echo $!"));
    assert_eq!((run.ended, run.left_behind), (Ended::Exit(0), 1));
    assert!(time < 1500 * MS, "{time:?}");
}

#[test]
fn a_grandchild_without_the_pipes() {
    let (run, time) = timed(|| sh("sleep 30 >/dev/null 2>&1 & sleep 30 >/dev/null 2>&1 & echo $!"));
    assert_eq!((run.ended, run.left_behind), (Ended::Exit(0), 2));
    assert_eq!(run.detail, "it left 2 processes behind");
    assert!(time < 700 * MS, "{time:?}");
    end(&run);
}

#[test]
fn a_grandchild_in_a_session_of_its_own() {
    let (run, time) = timed(|| sh("setsid sleep 30 & echo $!"));
    assert_eq!((run.ended, run.left_behind), (Ended::Exit(0), 1));
    assert!(time > 900 * MS && time < 1500 * MS, "{time:?}");
    end(&run);
}

#[test]
fn much_output_in_little_memory() {
    alone("with_little_memory");
}

#[test]
#[ignore = "run alone by the test above"]
fn with_little_memory() {
    argv(&["head", "-c", "1000000", "/dev/zero"]);
    let before = field(&proc_self("status"), "VmHWM");
    let (run, time) = timed(|| argv(&["head", "-c", "268435456", "/dev/zero"]));
    assert_eq!((run.ended, run.stdout.bytes), (Ended::Exit(0), 268_435_456));
    assert_eq!(&*run.stdout.tail, "\0".repeat(4096));
    let grown = field(&proc_self("status"), "VmHWM") - before;
    assert!(grown < 4096, "{grown} KiB");
    assert!(time < Duration::from_secs(5), "{time:?}");
}

#[test]
fn the_deadline() {
    let (run, time) = timed(|| sh_within("echo begun; exec sleep 30", 200 * MS));
    assert_eq!((run.ended, &*run.detail), (Ended::TimedOut, "stopped after 200ms"));
    assert_eq!(&*run.stdout.tail, "begun\n");
    assert!(time > 190 * MS && time < 450 * MS, "{time:?}");
}

#[test]
fn the_deadline_of_one_that_ignores_it() {
    let script = "trap '' TERM; while :; do sleep 0.05; done";
    let (run, time) = timed(|| sh_within(script, 200 * MS));
    assert_eq!((run.ended, run.left_behind), (Ended::TimedOut, 0));
    assert_eq!(run.detail, "stopped after 200ms, and killed 300ms later");
    assert!(time > 490 * MS && time < 900 * MS, "{time:?}");
}

#[test]
fn the_deadline_of_one_that_tidies_up() {
    let script = "trap 'echo tidy; exit 0' TERM; while :; do sleep 0.02; done";
    let run = sh_within(script, 200 * MS);
    assert_eq!(run.ended, Ended::TimedOut);
    assert_eq!(run.detail, "stopped after 200ms; it then ended with status 0");
    assert_eq!(&*run.stdout.tail, "tidy\n");
}

#[test]
fn the_deadline_of_the_rest_of_the_group() {
    let script = "(trap '' TERM; exec sleep 30) >/dev/null 2>&1 & echo $!; sleep 30";
    let (run, time) = timed(|| sh_within(script, 200 * MS));
    assert_eq!((run.ended, run.left_behind), (Ended::TimedOut, 0));
    assert!(time > 490 * MS && time < 900 * MS, "{time:?}");
    let pid = Pid::from_raw(run.stdout.tail.trim().parse().unwrap()).unwrap();
    // A killed orphan stays until whoever adopted it looks.
    assert!(test_kill_process(pid).is_err() || super::left::in_group(pid) == Some(0));
}

#[test]
fn a_stopped_one_is_killed() {
    let run = sh_within("kill -STOP $$", 200 * MS);
    assert_eq!(run.ended, Ended::TimedOut);
}

#[test]
fn the_word_in_mid_act() {
    let stop = Stop::new().unwrap();
    let given = stop.clone();
    let giver = thread::spawn(move || {
        pause(200 * MS);
        given.stop();
    });
    let (run, time) = timed(|| with(&["sleep", "30"], QUICK, &stop, None));
    giver.join().unwrap();
    assert_eq!((run.ended, &*run.detail), (Ended::Stopped, "stopped when told to"));
    assert!(time < 450 * MS, "{time:?}");
}

#[test]
fn nothing_starts_after_the_word_or_without_time() {
    let home = tempfile::tempdir().unwrap();
    let mark = home.path().join("mark");
    let touch = ["touch", mark.to_str().unwrap()];
    let stop = Stop::new().unwrap();
    let run = with(&touch, Times { timeout: Duration::ZERO, ..QUICK }, &stop, None);
    assert_eq!(run.ended, Ended::TimedOut);
    stop.stop();
    let run = with(&touch, QUICK, &stop, None);
    assert_eq!((run.ended, &*run.detail), (Ended::NotStarted, "told to stop before that"));
    assert!(!mark.exists());
}

#[test]
fn what_the_kernel_refuses_did_not_start() {
    let home = tempfile::tempdir().unwrap();
    for (text, why) in [("echo hi\n", "Exec format"), ("#!/no/such\n", "No such file")] {
        let path = home.path().join("script");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = openat(CWD, &path, flags, Mode::RWXU).unwrap();
        rustix::io::write(&file, text.as_bytes()).unwrap();
        drop(file);
        let run = argv(&[path.to_str().unwrap()]);
        assert_eq!((run.ended, run.stdout.bytes), (Ended::NotStarted, 0));
        assert!(run.detail.contains(why), "{}", run.detail);
    }
    let prepared = program(home.path(), &["true"]);
    drop(home);
    let stop = Stop::new().unwrap();
    let run = command(&prepared, prepared.command(), &[], QUICK, &stop, None);
    assert_eq!(run.ended, Ended::NotStarted);
}

#[test]
fn directory_and_environment_are_as_given() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let run = |argv: &[&str], extra: &[(OsString, OsString)]| {
        let program = program(&home, argv);
        command(&program, program.command(), extra, QUICK, &Stop::new().unwrap(), None)
    };
    assert_eq!(run(&["/bin/pwd"], &[]).stdout.tail.trim_end(), home.to_str().unwrap());
    let extra = [("BASE".into(), "mine".into()), ("MORE".into(), "a=b".into())];
    let path = "PATH=/usr/local/bin:/usr/bin:/bin\n";
    assert_eq!(&*run(&["env"], &[]).stdout.tail, format!("{path}BASE=base\n"));
    assert_eq!(&*run(&["env"], &extra).stdout.tail, format!("{path}BASE=mine\nMORE=a=b\n"));
    let bad = run(&["env"], &[("A\0".into(), "".into())]);
    assert_eq!(bad.ended, Ended::NotStarted);
}

#[test]
fn descriptors_are_three() {
    assert_eq!(&*argv(&["readlink", "/proc/self/fd/0"]).stdout.tail, "/dev/null\n");
    // The fourth is that of `ls` itself.
    assert_eq!(&*argv(&["ls", "/proc/self/fd"]).stdout.tail, "0\n1\n2\n3\n");
}

#[test]
fn signals_are_at_their_defaults() {
    // Rust ignores SIGPIPE.
    assert_ne!(field(&proc_self("status"), "SigIgn"), 0);
    let run = argv(&["cat", "/proc/self/status"]);
    // The C library keeps 32 and 33 to itself.
    assert_eq!(field(&run.stdout.tail, "SigIgn") & !(0b11 << 31), 0);
    assert_eq!(field(&run.stdout.tail, "SigBlk"), 0);
}

#[test]
fn statuses_are_kept_where_they_were_ignored() {
    let us = std::env::current_exe().unwrap();
    let again = "trap '' CHLD XFSZ; exec \"$0\" --exact run::tests::exit_codes \
                 run::tests::signals_are_at_their_defaults";
    let run = argv(&["/bin/sh", "-c", again, us.to_str().unwrap()]);
    assert_eq!(run.ended, Ended::Exit(0), "{}", run.stdout.tail);
    assert!(run.stdout.tail.contains("2 passed"), "{}", run.stdout.tail);
}

#[test]
fn a_session_of_its_own() {
    let run = argv(&["cat", "/proc/self/stat"]);
    let fields: Vec<&str> = run.stdout.tail.split_ascii_whitespace().collect();
    assert_eq!((fields[0], fields[0]), (fields[4], fields[5]));
}

#[test]
fn nothing_stays_of_it() {
    alone("with_descriptors_counted");
}

#[test]
#[ignore = "run alone by the test above"]
fn with_descriptors_counted() {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let stop = Stop::new().unwrap();
    sh("exit 0");
    let before = descriptors();
    for script in ["echo $$", "echo $$; kill -KILL $$", "echo $$; exec sleep 30"] {
        let times = Times { timeout: 200 * MS, ..QUICK };
        let run = with(&["/bin/sh", "-c", script], times, &stop, None);
        let pid = run.stdout.tail.trim();
        assert!(!Path::new("/proc").join(pid).exists(), "{script}");
    }
    assert_eq!(descriptors(), before);
}

#[test]
fn many_at_once() {
    thread::scope(|scope| {
        for number in 0..8_u8 {
            scope.spawn(move || {
                for turn in 0..25 {
                    let run = sh(&format!("echo {number}.{turn}; exit {number}"));
                    assert_eq!(run.ended, Ended::Exit(number));
                    assert_eq!(&*run.stdout.tail, format!("{number}.{turn}\n"));
                    assert_eq!((run.left_behind, &*run.detail), (0, ""));
                }
            });
        }
    });
}

#[test]
fn an_echo_shows_everything() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let shown = thread::spawn(|| read_all(reader));
    let stop = Stop::new().unwrap();
    let run = with(&["seq", "1", "20000"], QUICK, &stop, Some(Echo::to(writer)));
    let shown = shown.join().unwrap();
    assert_eq!(shown.len() as u64, run.stdout.bytes);
    assert!(shown.starts_with(b"1\n2\n") && shown.ends_with(b"\n20000\n"));
}

#[test]
fn an_echo_that_is_slow_says_what_it_left_out() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let shown = thread::spawn(|| {
        pause(500 * MS);
        read_all(reader)
    });
    let stop = Stop::new().unwrap();
    let run = with(&["head", "-c", "33554432", "/dev/zero"], QUICK, &stop, Some(Echo::to(writer)));
    assert_eq!(run.stdout.bytes, 33_554_432);
    let shown = shown.join().unwrap();
    let zeros = shown.iter().filter(|byte| **byte == 0).count();
    let note = String::from_utf8_lossy(&shown[zeros..]).into_owned();
    let left_out = 33_554_432 - zeros;
    assert_eq!(note, format!("\ngranted: {left_out} bytes of output were not shown\n"));
}

#[test]
fn an_echo_that_is_stuck_or_broken_holds_nothing_up() {
    let flood = ["head", "-c", "33554432", "/dev/zero"];
    let stop = Stop::new().unwrap();
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let (run, time) = timed(|| with(&flood, QUICK, &stop, Some(Echo::to(writer))));
    assert_eq!((run.ended, run.stdout.bytes), (Ended::Exit(0), 33_554_432));
    assert!(time < Duration::from_secs(2), "{time:?}");
    // The thread lets go of the pipe, so that it ends.
    assert_eq!(read_all(reader).len(), 64 << 10);

    let (reader, writer) = rustix::pipe::pipe().unwrap();
    drop(reader);
    let (run, time) = timed(|| with(&flood, QUICK, &stop, Some(Echo::to(writer))));
    assert_eq!((run.ended, run.stdout.bytes), (Ended::Exit(0), 33_554_432));
    assert!(time < 900 * MS, "{time:?}");
}

fn quickest(count: usize, mut work: impl FnMut()) -> Duration {
    (0..count).map(|_| timed(&mut work).1).min().unwrap()
}

#[test]
fn starting_does_not_copy_us() {
    let stop = Stop::new().unwrap();
    let program = program(Path::new("/"), &["/bin/true"]);
    let mut run = || {
        command(&program, program.command(), &[], QUICK, &stop, None);
    };
    let small = quickest(50, &mut run);
    let mut room = vec![1_u8; 500 << 20];
    let large = quickest(50, &mut run);
    room[7] = 2;
    // A copy of that many pages takes some 20 ms.
    assert!(large < 2 * small + 2 * MS, "{small:?} and {large:?} with {} bytes", room.len());
}

#[test]
fn a_lack_of_descriptors_is_no_start() {
    alone("with_few_descriptors");
}

#[test]
#[ignore = "run alone by the test above"]
fn with_few_descriptors() {
    let stop = Stop::new().unwrap();
    let program = program(Path::new("/"), &["/bin/true"]);
    let highest = std::os::fd::AsRawFd::as_raw_fd(&stop.writer().unwrap());
    let mut starts = 0;
    for more in 0..10 {
        let current = u64::try_from(highest).unwrap() + more;
        let limit = rustix::process::Rlimit { current: Some(current), maximum: Some(1024) };
        rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
        let run = command(&program, program.command(), &[], QUICK, &stop, None);
        match run.ended {
            Ended::Exit(0) => starts += 1,
            other => assert_eq!((other, starts), (Ended::NotStarted, 0), "{}", run.detail),
        }
    }
    assert!(starts > 0 && starts < 10);
}

#[test]
fn the_confirming_program_is_another() {
    let stop = Stop::new().unwrap();
    let mut definition = definition(Path::new("/"), &["true"]);
    assert!(!Program::prepare(definition.clone()).unwrap().has_confirm());
    definition.confirm = Some(["sh", "-c", "echo $BASE; exit 4"].map(OsString::from).to_vec());
    let program = Program::prepare(definition).unwrap();
    let confirm = program.confirm().unwrap();
    let run = command(&program, confirm, &[], QUICK, &stop, None);
    assert_eq!((run.ended, &*run.stdout.tail), (Ended::Exit(4), "base\n"));
}
