//! Notifiers that are missing, fail, hang, flood, hide or come back in by the front door.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::{mint_due, notify_by, told};
use crate::home::{GRANTED, Home, Run};

/// An attempt that ends uncertain.
fn doubtful(home: &Home) -> Run {
    home.mint("a", "");
    home.say("discharge --type report --id a --executor doubt --json")
}

/// The outcome without what is new in every home.
fn outcome(home: &Home) -> serde_json::Value {
    home.rows_of("decision.outcome")[0]["body"]["reason"].clone()
}

/// The script, further lines of the config, and what stderr says.
const BAD: &[(&str, &str, &str)] = &[
    ("#!/bin/sh\nexit 3\n", "", "note: the notifier failed: it exited with 3\n"),
    ("#!/bin/sh\nkill -9 $$\n", "", "note: the notifier failed: signal 9 ended it\n"),
    (
        "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1000; done\n",
        "timeout = \"1s\"\n",
        "note: the notifier failed: stopped after 1s, and killed 1s later\n",
    ),
    ("#!/bin/sh\nhead -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2\n", "", ""),
    (
        "#!/bin/sh\nhead -c 50000000 /dev/zero\nexit 1\n",
        "",
        "note: the notifier failed: it exited with 1\n",
    ),
    ("#!/no/such/shell\n", "", "could not be started"),
    ("#!/bin/sh\nread word; test -z \"$word\"\n", "", ""),
];

#[test]
fn one_that_misbehaves_changes_nothing_but_a_line_on_stderr() {
    for (script, more, said) in BAD {
        let home = Home::new();
        notify_by(&home, script, more);
        let run = doubtful(&home).exits(4);
        assert_eq!(run.json()["reason"], "not_confirmed", "{script}");
        assert_eq!(outcome(&home), "not_confirmed", "{script}");
        assert!(run.stderr.lines().count() <= 1, "{script}: {run:?}");
        assert!(
            run.stderr.ends_with(said) || run.stderr.contains(said) && !said.is_empty(),
            "{script}: {run:?}"
        );
        assert_eq!(run.stderr.is_empty(), said.is_empty(), "{script}: {run:?}");
        // It is not tried again.
        assert_eq!(home.say("tick").ok().stderr, "", "{script}");
        home.verify();
    }
}

/// One that is not there leaves no mark: what is found again, such as a deadline, is told once there
/// is one.
#[test]
fn a_missing_one_is_said_and_leaves_no_mark() {
    let home = Home::new();
    notify_by(&home, "#!/bin/sh\n", "");
    std::fs::remove_file(home.dir().join("tell.sh")).unwrap();
    let run = doubtful(&home).exits(4);
    assert!(run.stderr.starts_with("note: no notice was given: the program `"), "{run:?}");
    assert!(run.stderr.ends_with("/tell.sh` does not exist\n"), "{run:?}");
    assert!(!home.root().join("notices").exists());
}

#[test]
fn a_broken_config_is_said_and_changes_nothing() {
    let home = Home::new();
    let script = format!("#!/bin/sh\necho \"$1\" >> {}/told\n", home.dir().display());
    notify_by(&home, &script, "");
    let good = std::fs::read_to_string(home.root().join("config.toml")).unwrap();
    mint_due(&home, "due");
    home.mint("a", "");
    super::cut_off(&home, "b");
    for broken in ["nonsense\n", "[notify]\n", "[notify]\ncommand = \"notify-send\"\n"] {
        home.write(".granted/config.toml", broken);
        let run = home.say("tick").ok();
        assert!(run.stdout.contains("due "), "{run:?}");
        assert!(run.stderr.starts_with("note: no notice was given: `"), "{run:?}");
        assert!(run.stderr.contains("config.toml`: line "), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    let exec = ["discharge", "--type", "report", "--id", "a", "--timeout", "1s", "--exec"];
    let run = home.run(exec.iter().chain(&["exec sleep 1000"])).exits(4);
    assert_eq!(run.stderr.matches("note: ").count(), 1, "{run:?}");
    home.mint("c", "");
    assert_eq!(home.say("revoke --type report --id c").ok().stderr, "");
    assert_eq!(told(&home).len(), 0);
    home.write(".granted/config.toml", good);
    home.say("tick").ok();
    assert_eq!(told(&home).len(), 1);
}

/// The answer is out before the notifier has ended, and it is an error just as well.
#[test]
fn the_answer_does_not_wait() {
    for verb in ["discharge --type report --id a --executor doubt", "revoke --type report --id a"] {
        let home = Home::new();
        let here = home.dir().display();
        assert!(Command::new("mkfifo").arg(home.dir().join("go")).status().unwrap().success());
        notify_by(
            &home,
            &format!("#!/bin/sh\nread word < {here}/go; echo $word > {here}/told\n"),
            "timeout = \"60s\"\n",
        );
        if verb.starts_with("revoke") {
            super::cut_off(&home, "a");
        } else {
            home.mint("a", "");
        }
        let mut command = home.command(verb.split(' '));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        if verb.starts_with("revoke") {
            BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.starts_with("granted: "), "{line}");
        } else {
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.starts_with("uncertain: not_confirmed"), "{line}");
        }
        // The notifier waits for this.
        std::fs::write(home.dir().join("go"), "on\n").unwrap();
        child.wait().unwrap();
        assert_eq!(told(&home), ["on"], "{verb}");
    }
}

/// A daemon that the notifier starts outlives it, and holds nothing up.
#[test]
fn a_daemon_is_left_alone() {
    let home = Home::new();
    let here = home.dir().display();
    notify_by(&home, &format!("#!/bin/sh\nsetsid sleep 1000 &\necho $! > {here}/daemon\n"), "");
    let run = doubtful(&home).exits(4);
    assert_eq!(run.stderr, "");
    let pid = std::fs::read_to_string(home.dir().join("daemon")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// It may run granted: what is everybody's works, what is a person's refuses, and what it finds is
/// told by the same rules.
#[test]
fn a_notifier_may_run_granted_and_is_no_person() {
    let home = Home::new();
    let here = home.dir().display();
    let person = [
        "mint --type report --id z --by me --for 1h",
        "revoke --type report --id b --by me",
        "resolve $GRANTED_NOTICE_DISCHARGE_ID --happened --by me",
        "ledger accept --by me --reason because",
    ];
    let mut script = format!("#!/bin/sh\nexec >> {here}/told 2>&1\n");
    for verb in person {
        script.push_str(&format!("{GRANTED} {verb}; echo code=$?\n"));
    }
    script.push_str(&format!(
        "{GRANTED} result --ok; echo result=$?\n\
         {GRANTED} ledger verify && {GRANTED} tick && {GRANTED} show $GRANTED_NOTICE_GRANT_ID && echo read\n\
         {GRANTED} discharge --type report --id b --executor ok && echo tried\n"
    ));
    notify_by(&home, &script, "");
    home.mint("b", "");
    let rows = home.rows().len();
    let run = doubtful(&home).exits(4);
    assert_eq!(run.stderr, "");
    let said = std::fs::read_to_string(home.dir().join("told")).unwrap();
    assert_eq!(said.matches("code=1\n").count(), 4, "{said}");
    assert_eq!(said.matches("is a person's verb, and this is a notifier").count(), 4, "{said}");
    assert!(
        said.contains("result=2") && said.contains("read\n") && said.contains("tried\n"),
        "{said}"
    );
    // The mint of `a`, its attempt, and the attempt on `b`.
    assert_eq!(home.rows().len(), rows + 1 + 3 + 3, "{said}");
    home.verify();
}

/// Text of an agent or of a file's name is one escaped line in its variables and its argument.
#[test]
fn hostile_text_stays_text() {
    let home = Home::new();
    let here = home.dir().display();
    notify_by(
        &home,
        &format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" \"$GRANTED_NOTICE_TEXT\" \"$GRANTED_NOTICE_OBJECT_ID\" >> {here}/told\n"
        ),
        "",
    );
    let id = "$(touch owned) `touch owned` ; touch owned ' \" \\ %s -d @/etc/passwd";
    let bound = home.write("a\u{1b}[2J\u{202e}\nb", "before");
    let bound_by = bound.to_str().unwrap();
    let mint =
        ["mint", "--type", "report", "--id", id, "--by", "me", "--for", "1h", "--bind", bound_by];
    home.run(mint).ok();
    std::fs::write(bound, "after").unwrap();
    home.run(["discharge", "--type", "report", "--id", id, "--executor", "ok"]).exits(3);
    let lines = told(&home);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with(&format!("refused: binding_changed (report/{id}) -- ")),
        "{lines:?}"
    );
    assert_eq!((&lines[0], lines[2].as_str()), (&lines[1], id));
    assert!(lines[0].contains("a\\u{1b}[2J\\u{202e}\\u{a}b"), "{lines:?}");
    assert!(!home.dir().join("owned").exists());
}
