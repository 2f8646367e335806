//! What executors are given, and nothing else.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::stdout;
use crate::home::{Home, Run};

/// What every executor is passed where the caller has it.
const ALWAYS: [&str; 17] = [
    "GRANTED_ACTION",
    "GRANTED_DISCHARGE_ID",
    "GRANTED_GRANT_PATH",
    "GRANTED_HOME",
    "GRANTED_LEDGER",
    "GRANTED_NOT_AFTER",
    "GRANTED_OBJECT_ID",
    "GRANTED_OBJECT_TYPE",
    "GRANTED_RESULT_TOKEN",
    "GRANTED_STORE",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_TIME",
    "PATH",
    "TMPDIR",
    "TZ",
];

/// An attempt by a caller who has secrets and who claims to be an executor; the environment that
/// its own executor printed.
fn environment(home: &Home, more: &[&str], cwd: &Path) -> BTreeMap<String, String> {
    let object = ["discharge", "--type", "report", "--id", "a"];
    let mut command: Command = home.command(object.iter().chain(more));
    command.current_dir(cwd).envs([
        ("LANG", "C.UTF-8"),
        ("LC_ALL", "C"),
        ("LC_TIME", "C"),
        ("TZ", "UTC"),
        ("TMPDIR", "/tmp"),
        ("PATH", "/usr/bin:/bin:/caller"),
        ("USER", "ada"),
        ("AWS_SECRET_ACCESS_KEY", "hush"),
        ("GITHUB_TOKEN", "hush"),
        ("LD_PRELOAD", ""),
        ("GRANTED_ACTION", "forged"),
        ("GRANTED_DISCHARGE_ID", "forged"),
        ("GRANTED_RESULT_TOKEN", "forged"),
        ("GRANTED_WHATEVER", "forged"),
        ("MAIL_KEY", "named"),
    ]);
    Run::from(command.output().unwrap()).ok();
    let printed = stdout(home);
    let pairs = printed.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn names(environment: &BTreeMap<String, String>) -> Vec<&str> {
    environment.keys().map(String::as_str).collect()
}

/// A registered executor gets exactly the documented variables and those that its entry names, the
/// default search path, and the person's home as directory.
#[test]
fn a_registered_executor_is_passed_what_is_documented() {
    let home = Home::new();
    let text = "#!/bin/sh\nenv -u PWD; echo cwd=$PWD; echo stdin=$(readlink /proc/self/fd/0)\n";
    home.script("show.sh", text);
    home.write(
        ".granted/config.toml",
        "[executors.e]\nargv = [\"./show.sh\"]\nenv = [\"MAIL_KEY\", \"NOT_SET\", \"PATH\"]\n",
    );
    let grant = home.mint("a", "");
    let elsewhere = home.write("elsewhere/x", "").parent().unwrap().to_owned();
    let found = environment(&home, &["--executor", "e", "--action", "send"], &elsewhere);
    let mut expected = [&ALWAYS[..], &["MAIL_KEY", "cwd", "stdin"]].concat();
    expected.sort_unstable();
    assert_eq!(names(&found), expected);
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    for (name, value) in [
        ("GRANTED_ACTION", "send".to_owned()),
        ("GRANTED_GRANT_PATH", path(&home.document("a"))),
        ("GRANTED_HOME", path(&home.root())),
        ("GRANTED_LEDGER", path(&home.ledger())),
        ("GRANTED_OBJECT_ID", "a".to_owned()),
        ("GRANTED_OBJECT_TYPE", "report".to_owned()),
        ("GRANTED_STORE", path(&home.root().join("grants"))),
        ("HOME", path(home.dir())),
        ("MAIL_KEY", "named".to_owned()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("cwd", path(home.dir())),
        ("stdin", "/dev/null".to_owned()),
    ] {
        assert_eq!(found[name], value, "{name}");
    }
    let outcome = &home.rows_of("decision.outcome")[0];
    let minted = &home.rows_of("decision.minted")[0]["body"]["grant"];
    assert_eq!(minted["id"], grant.as_str());
    assert_eq!(found["GRANTED_NOT_AFTER"], minted["not_after"]);
    assert_eq!(format!("discharge:{}", found["GRANTED_DISCHARGE_ID"]), outcome["refs"][0][0]);
}

/// `--exec` runs where the caller is, with the caller's search path; without an action there is no
/// variable for one, whatever the caller's environment says.
#[test]
fn a_command_is_run_where_the_caller_is() {
    let home = Home::new();
    home.mint("a", "");
    let elsewhere = home.write("elsewhere/x", "").parent().unwrap().to_owned();
    let command = "tr '\\0' '\\n' < /proc/$$/environ; echo cwd=$PWD; \
                   echo stdin=$(readlink /proc/self/fd/0)";
    let found = environment(&home, &["--exec", command], &elsewhere);
    let mut expected: Vec<&str> = [&ALWAYS[1..], &["cwd", "stdin"]].concat();
    expected.sort_unstable();
    assert_eq!(names(&found), expected);
    assert_eq!(found["PATH"], "/usr/bin:/bin:/caller");
    assert_eq!(found["cwd"], elsewhere.to_str().unwrap());
    assert_eq!(found["stdin"], "/dev/null");
    assert_ne!(found["GRANTED_RESULT_TOKEN"], "forged");
}

/// The token of an act is nowhere but in its executor's environment: its digest is in the ledger.
#[test]
fn the_token_is_not_written_down() {
    let home = Home::new();
    home.mint("a", "");
    let report = home.discharge("a", "printf %s \"$GRANTED_RESULT_TOKEN\" > token", &[]);
    assert_eq!(report["reason"], "confirmed");
    let token = std::fs::read_to_string(home.dir().join("token")).unwrap();
    assert!(token.len() >= 32, "{token}");
    assert!(!std::fs::read_to_string(home.ledger()).unwrap().contains(&token));
    let digest = &home.rows_of("decision.intent")[0]["body"]["result_token_sha256"];
    let expected = granted_core::digest::Digest::of(token.as_bytes()).to_string();
    assert_eq!(digest, expected.as_str());
}
