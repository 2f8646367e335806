//! Asking a program of the system for something. No grant is discharged by it.

use std::io;
use std::process::{Command, Stdio};

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
/// English and shows times in UTC.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn ask(program: &str, args: &[&str]) -> io::Result<Answer> {
    let mut command = Command::new(program);
    command.args(args).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null());
    let output = command.output()?;
    Ok(Answer {
        ok: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_all_that_it_said_and_whether_it_went_well() {
        let script = "echo $TZ; echo no >&2; read line || exit 3";
        let answer = ask("sh", &["-c", script]).unwrap();
        assert_eq!(answer, Answer { ok: false, stdout: "UTC\n".into(), stderr: "no\n".into() });
        assert!(ask("true", &[]).unwrap().ok);
        assert_eq!(ask("no-such-program", &[]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
