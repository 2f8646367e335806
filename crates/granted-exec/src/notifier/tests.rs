use std::fs;
use std::path::PathBuf;

use super::*;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn sh(&self, script: &str) -> Notifier {
        let argv = ["sh", "-c", script, "sh"].map(OsString::from);
        let env = [("BASE".into(), "base".into()), ("GIVEN".into(), "base".into())];
        Notifier::prepare(&argv, self.0.path(), OsStr::new(PATH), &env).unwrap()
    }

    /// Runs a script; how it ended, and what it left in `seen`.
    fn runs(&self, script: &str, timeout: u64) -> (Result<(), String>, String) {
        let env = [("GIVEN".into(), "run".into())];
        let ended = self.sh(script).run("a text", &env, Duration::from_secs(timeout));
        (ended, self.seen("seen"))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "a test looks at what was written")]
    fn seen(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }
}

/// Text as the last argument, only the environment that it was given, nothing to read, output that
/// goes nowhere, a session and a directory of its own, three descriptors.
#[test]
fn it_is_given_this_and_nothing_else() {
    let desk = Desk::new();
    let (ended, seen) = desk.runs(
        "{ echo \"$#: $1\"; tr '\\0' '\\n' < /proc/$$/environ | sort; pwd; \
         for fd in /proc/$$/fd/*; do echo ${fd##*/} $(readlink $fd); done; \
         cut -d' ' -f6 /proc/$$/stat; echo $$; } > seen",
        20,
    );
    assert_eq!(ended, Ok(()));
    let lines: Vec<&str> = seen.lines().collect();
    let here = desk.0.path().to_str().unwrap();
    assert_eq!(lines[..4], ["1: a text", "BASE=base", "GIVEN=run", here]);
    assert_eq!(lines[4], "0 /dev/null");
    // The shell keeps the two that the braces replace elsewhere, beyond the first ten.
    assert!(lines.contains(&"2 /dev/null"), "{seen}");
    let [.., session, process] = lines[..] else { panic!("{seen}") };
    assert_eq!(session, process);
}

#[test]
fn how_it_ended_is_said() {
    let desk = Desk::new();
    let said = |script| desk.runs(script, 20).0.unwrap_err();
    assert_eq!(said("exit 3"), "it exited with 3");
    assert_eq!(said("kill -9 $$"), "signal 9 ended it");
    let missing = |argv: &[&str]| {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        Notifier::prepare(&argv, Path::new("/"), OsStr::new(PATH), &[]).err().unwrap().to_string()
    };
    assert_eq!(missing(&["no-such"]), format!("no program `no-such` in `{PATH}`"));
    assert_eq!(missing(&["/etc/passwd"]), "the program `/etc/passwd` is not executable");
    assert_eq!(missing(&[]), "no program is named: the command is empty");
    let no_format = desk.at("no-format");
    #[expect(clippy::disallowed_methods, reason = "a test makes a program that is none")]
    fs::write(&no_format, "exit 0\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&no_format, mode).unwrap();
    let argv = [no_format.into_os_string()];
    let notifier = Notifier::prepare(&argv, Path::new("/"), OsStr::new(PATH), &[]).unwrap();
    let why = notifier.run("", &[], Duration::from_secs(20)).unwrap_err();
    assert!(why.contains("could not be started"), "{why}");
    assert!(notifier.run("a\0b", &[], Duration::from_secs(20)).unwrap_err().contains("NUL"));
}

/// One that hangs, and hears nothing, is over with all of its group.
#[test]
fn one_that_hangs_is_ended() {
    let desk = Desk::new();
    let (ended, pids) = desk.runs("trap '' TERM; sleep 1000 & echo $! $$ > seen; wait; wait", 1);
    assert!(ended.unwrap_err().starts_with("stopped after 1s, and killed 1s later"));
    for pid in pids.split_whitespace() {
        let stat = desk.seen(&format!("/proc/{pid}/stat"));
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}

/// Output without end holds nothing up, nor does a daemon that keeps it open.
#[test]
fn output_and_daemons_hold_nothing_up() {
    let desk = Desk::new();
    let script = "head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2; \
                  setsid sleep 1000 & echo $! > seen";
    let (ended, daemon) = desk.runs(script, 100);
    assert_eq!(ended, Ok(()));
    let pid = rustix::process::Pid::from_raw(daemon.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
