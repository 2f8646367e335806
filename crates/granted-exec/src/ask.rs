//! Asking a program of the system for something. No grant is discharged by it.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// What a program answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it exited with 0.
    pub ok: bool,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

/// Runs a program that the caller's `PATH` finds, in the caller's environment, to its end. It speaks
/// English and shows times in UTC. One that is not done within `limit` is killed, and the error is
/// [`io::ErrorKind::TimedOut`].
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn ask(program: &str, args: &[&str], limit: Duration) -> io::Result<Answer> {
    let mut command = Command::new(program);
    command.args(args).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let (done, end) = mpsc::channel();
    std::thread::Builder::new().spawn(move || done.send(child.wait_with_output()))?;
    let Ok(output) = end.recv_timeout(limit) else {
        // It may have ended just now. What it left behind may hold its pipes: the thread is left too.
        let _ = pidfd_send_signal(&pidfd, Signal::KILL);
        return Err(io::ErrorKind::TimedOut.into());
    };
    Ok(answer(output?))
}

/// Runs the program at this path to its end, in the caller's environment without some variables and with
/// others, and hands it these bytes as stdin. It may ask the person at the terminal, for as long as that
/// takes.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn hand(
    program: &Path,
    args: &[&OsStr],
    input: &[u8],
    without: &[&str],
    with: &[(&str, &str)],
) -> io::Result<Answer> {
    let mut command = Command::new(program);
    command.args(args).envs(with.iter().copied());
    without.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends without reading says why on stderr.
        let _ = stdin.write_all(input);
    }
    Ok(answer(child.wait_with_output()?))
}

fn answer(output: Output) -> Answer {
    Answer {
        ok: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn an_answer_is_all_that_it_said_and_whether_it_went_well() {
        let script = "echo $TZ; echo no >&2; read line || exit 3";
        let answer = ask("sh", &["-c", script], LONG).unwrap();
        assert_eq!(answer, Answer { ok: false, stdout: "UTC\n".into(), stderr: "no\n".into() });
        assert!(ask("true", &[], LONG).unwrap().ok);
        let none = ask("no-such-program", &[], LONG).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_is_handed_over_is_its_stdin() {
        let script = "cat; echo $HOME$HANDED";
        let args = ["-c", script].map(OsStr::new);
        let answer = hand(Path::new("/bin/sh"), &args, b"x\n", &["HOME"], &[("HANDED", "y")]);
        let expected = Answer { ok: true, stdout: "x\ny\n".into(), stderr: String::new() };
        assert_eq!(answer.unwrap(), expected);
        // Nor does it matter that nobody reads it.
        let much = vec![b'x'; 1 << 20];
        let answer = hand(Path::new("/bin/sh"), &["-c", "exit 3"].map(OsStr::new), &much, &[], &[]);
        assert!(!answer.unwrap().ok);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at what was written")]
    fn one_that_does_not_answer_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = format!("echo $$ >{}; exec sleep 100000", pid.display());
        let mut limit = Duration::from_millis(100);
        let text = loop {
            let error = ask("sh", &["-c", &script], limit).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            // On a busy machine it may not have begun.
            match std::fs::read_to_string(&pid) {
                Ok(text) if text.ends_with('\n') => break text,
                _ => limit *= 2,
            }
        };
        while Path::new("/proc").join(text.trim()).exists() {
            std::thread::yield_now();
        }
    }
}
