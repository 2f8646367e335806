//! Which events are told, and what of each.

use std::collections::BTreeMap;

use super::{cut_off, mint_drifted, mint_due, mint_expired, notify_by, told, told_home};
use crate::home::Home;

fn damage(home: &Home, text: &str) {
    let good = std::fs::read_to_string(home.ledger()).unwrap();
    std::fs::write(home.ledger(), good + text).unwrap();
}

/// Puts the book's opening into the year 2099.
fn from_the_future(home: &Home) {
    let first = home.rows().remove(0);
    let mut row = first.clone();
    row["at"] = "2099-01-01T00:00:00.000000Z".into();
    std::fs::write(home.ledger(), format!("{row}\n")).unwrap();
}

type Event = (&'static str, fn(&Home), &'static str);

/// What happens, the verb that finds it, and what is told, however often the verb is repeated.
const TOLD: &[(Event, &str)] = &[
    (("due", |home| mint_due(home, "a"), "tick"), "due  a"),
    (("expired", |home| mint_expired(home, "a"), "tick"), "expired  a"),
    (
        ("expired, found by an attempt", |home| mint_expired(home, "a"), "discharge a ok"),
        "expired expired a",
    ),
    (
        ("uncertain", |home| drop(home.mint("a", "")), "discharge a doubt"),
        "uncertain not_confirmed a",
    ),
    (("cut off", |home| cut_off(home, "a"), "tick"), "uncertain interrupted a"),
    (
        ("cut off, then tried", |home| cut_off(home, "a"), "discharge a ok"),
        "uncertain interrupted a",
    ),
    (
        ("cut off, then revoked", |home| cut_off(home, "a"), "revoke --type report --id a"),
        "uncertain interrupted a",
    ),
    (
        ("a'bound file changed", |home| mint_drifted(home, "a"), "discharge a ok"),
        "refused binding_changed a",
    ),
    (
        (
            "unreadable",
            |home| {
                home.mint("a", "");
                std::fs::write(home.document("a"), "no document").unwrap();
            },
            "discharge a ok",
        ),
        "refused unreadable a",
    ),
    (
        (
            "rolled back",
            |home| {
                home.mint("a", "");
                std::fs::write(home.ledger(), "").unwrap();
            },
            "discharge a ok",
        ),
        "refused ledger_rolled_back a",
    ),
    (
        (
            "unwritable",
            |home| {
                home.mint("a", "");
                damage(home, "no row\n");
            },
            "discharge a ok",
        ),
        "refused ledger_unwritable a",
    ),
    (
        (
            "clock behind",
            |home| {
                home.mint("a", "");
                from_the_future(home);
            },
            "discharge a ok",
        ),
        "refused clock_behind a",
    ),
];

/// A verb; `discharge ID EXECUTOR` for short.
fn say(home: &Home, verb: &str) {
    let words: Vec<&str> = verb.split(' ').collect();
    let run = match words[..] {
        ["discharge", id, executor] => {
            home.say(&format!("discharge --type report --id {id} --executor {executor}"))
        }
        _ => home.say(verb),
    };
    assert_eq!(run.stderr.matches("note:").count(), 0, "{run:?}");
}

#[test]
fn each_is_told_once_however_often_it_is_found() {
    for ((name, happens, verb), expected) in TOLD {
        let home = told_home();
        happens(&home);
        assert_eq!(told(&home), Vec::<String>::new(), "{name}: too early");
        for _ in 0..3 {
            say(&home, verb);
            assert_eq!(told(&home), [*expected], "{name}");
        }
        // Another verb finds it no more either.
        say(&home, "tick");
        say(&home, "discharge a ok");
        let of_the_event = |line: &&String| line.starts_with(expected.split(' ').next().unwrap());
        assert_eq!(told(&home).iter().filter(of_the_event).count(), 1, "{name}: {:?}", told(&home));
    }
}

/// The person resolves what no row has settled yet: that it was uncertain is told first.
#[test]
fn what_resolve_finds_cut_off_is_told() {
    let home = told_home();
    cut_off(&home, "a");
    let attempt = home.rows_of("decision.intent")[0]["refs"][0][0].as_str().unwrap().to_owned();
    let attempt = attempt.trim_start_matches("discharge:");
    home.say(&format!("resolve {attempt} --happened --by me")).ok();
    assert_eq!(told(&home), ["uncertain interrupted a"]);
}

#[test]
fn nothing_else_is_told() {
    let home = told_home();
    for (id, executor) in
        [("done", "ok"), ("failed", "fails"), ("declined", "declines"), ("unknown", "nobody")]
    {
        home.mint(id, "");
        say(&home, &format!("discharge {id} {executor}"));
    }
    say(&home, "discharge done ok");
    say(&home, "discharge never-minted ok");
    home.say("revoke --type report --id declined").ok();
    say(&home, "discharge declined ok");
    say(&home, "tick");
    assert_eq!(home.rows_of("decision.outcome").len(), 7);
    assert_eq!(told(&home), Vec::<String>::new());
    assert!(!home.root().join("notices").exists());
    // Whoever only looks tells nobody.
    mint_due(&home, "due");
    mint_expired(&home, "expired");
    cut_off(&home, "cut-off");
    for verb in ["list", "list --all", "status --type report --id due", "ledger", "ledger verify"] {
        say(&home, verb);
    }
    assert!(!home.root().join("notices").exists());
    // The same key is answered with an old outcome, which was told when it was new.
    home.mint("keyed", "");
    let keyed = "discharge --type report --id keyed --executor doubt --key k";
    home.say(keyed).exits(4);
    std::fs::remove_dir_all(home.root().join("notices")).unwrap();
    home.say(keyed).exits(4);
    assert_eq!(told(&home), ["uncertain not_confirmed keyed"]);
}

/// For a new grant of the object everything begins anew, and each attempt is told for itself.
#[test]
fn a_new_grant_begins_anew() {
    let home = told_home();
    for round in 1..=3 {
        home.mint("a", "");
        say(&home, "discharge a doubt");
        assert_eq!(told(&home).len(), round, "{:?}", told(&home));
    }
}

/// What a notifier is given: the variables of the manual, the text also as its last argument, and
/// nothing of the caller's but what its entry names.
#[test]
fn what_a_notifier_is_given() {
    let home = Home::new();
    let here = home.dir().display();
    let script = format!(
        "#!/bin/sh\n{{ tr '\\0' '\\n' < /proc/$$/environ; echo \"args=$*\"; echo cwd=$PWD; \
         echo stdin=$(readlink /proc/self/fd/0); }} > {here}/given\n"
    );
    notify_by(&home, &script, "env = [\"BUS\", \"NOT_SET\"]\npath = \"/usr/bin:/bin\"\n");
    let grant = home.mint("a'b", "");
    let mut command = home.command(["discharge", "--type", "report", "--id", "a'b", "--json"]);
    command.args(["--executor", "doubt"]).envs([
        ("BUS", "named"),
        ("API_KEY", "hush"),
        ("TZ", "UTC"),
        ("GRANTED_NOTICE_WHATEVER", "forged"),
    ]);
    let report = crate::home::Run::from(command.output().unwrap()).exits(4).json();
    let given = std::fs::read_to_string(home.dir().join("given")).unwrap();
    let given: BTreeMap<&str, &str> =
        given.lines().map(|line| line.split_once('=').unwrap()).collect();
    let discharge = report["discharge_id"].as_str().unwrap();
    let text = format!(
        "uncertain: not_confirmed (report/a'b) -- {}; look, then say what you found: granted resolve {discharge}",
        report["detail"].as_str().unwrap()
    );
    let path = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    let mut expected: BTreeMap<&str, String> = BTreeMap::from([
        ("BUS", "named".into()),
        ("GRANTED_HOME", path(home.root())),
        ("GRANTED_LEDGER", path(home.ledger())),
        ("GRANTED_NOTICE_DISCHARGE_ID", discharge.into()),
        ("GRANTED_NOTICE_EVENT", "uncertain".into()),
        ("GRANTED_NOTICE_GRANT_ID", grant),
        ("GRANTED_NOTICE_OBJECT_ID", "a'b".into()),
        ("GRANTED_NOTICE_OBJECT_TYPE", "report".into()),
        ("GRANTED_NOTICE_REASON", "not_confirmed".into()),
        ("GRANTED_NOTICE_TEXT", text.clone()),
        ("GRANTED_STORE", path(home.root().join("grants"))),
        ("HOME", path(home.dir().into())),
        ("PATH", "/usr/bin:/bin".into()),
        ("TZ", "UTC".into()),
        ("args", text),
        ("cwd", path(home.dir().into())),
        ("stdin", "/dev/null".into()),
    ]);
    let manual = include_str!("../../../../../docs/cli.md");
    for name in expected.keys().filter(|name| name.starts_with("GRANTED_")) {
        assert!(manual.contains(&format!("`{name}`")), "docs/cli.md says nothing of {name}");
    }
    let given: BTreeMap<&str, String> =
        given.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    assert_eq!(given, expected);
    // Of a grant that is due there is no attempt and no reason.
    mint_due(&home, "a'b");
    home.say("tick").ok();
    let given = std::fs::read_to_string(home.dir().join("given")).unwrap();
    let names: Vec<&str> = given.lines().map(|line| line.split_once('=').unwrap().0).collect();
    for gone in ["BUS", "TZ", "GRANTED_NOTICE_DISCHARGE_ID", "GRANTED_NOTICE_REASON"] {
        expected.remove(gone);
    }
    let mut names: Vec<&str> = names;
    names.sort_unstable();
    let expected: Vec<&str> = expected.into_keys().collect();
    assert_eq!(names, expected);
}
