//! What an attacker would try who may run the agent's verbs, or write the files of the home.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::home::{Home, Run};

const TABLE: &str = include_str!("../../../../docs/threats.md");
const GRANTED: &str = env!("CARGO_BIN_EXE_granted");

/// The reason of an attempt on `report/ID` that would leave the file `ran`.
fn attempt(home: &Home, id: &str) -> Value {
    home.discharge(id, "touch ran", &[])["reason"].take()
}

fn has_run(home: &Home) -> bool {
    home.dir().join("ran").exists()
}

/// Replaces a text in a file, in which it must stand.
fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn an_executor_uses_no_verb_of_the_person() {
    let home = Home::new();
    let grant = home.mint("1", "");
    home.mint("2", "");
    let discharge = &home.discharge("2", "exit 0", &[])["discharge_id"];
    let more = "--type report --by me";
    for verb in [
        format!("mint {more} --id 3 --for 1h"),
        format!("revoke {grant} --by me"),
        format!("resolve {} --happened --by me", discharge.as_str().unwrap()),
        "ledger accept --by me --reason none".to_owned(),
        "key new mine".to_owned(),
        "key trust mine.pub".to_owned(),
        "key untrust ada".to_owned(),
        "key passwd ada".to_owned(),
        "trust mode open".to_owned(),
        "timer install".to_owned(),
        "timer remove".to_owned(),
    ] {
        let rows = home.rows().len();
        let id = format!("v{rows}");
        home.mint(&id, "");
        let exec = format!("{GRANTED} {verb} 2>error; echo $? >code");
        assert_eq!(home.discharge(&id, &exec, &[])["reason"], "confirmed");
        let read = |name: &str| std::fs::read_to_string(home.dir().join(name)).unwrap();
        assert_eq!(read("code"), "1\n", "{verb}");
        assert!(read("error").contains("is a person's verb"), "{verb}: {}", read("error"));
        // Its own mint, and the three rows of the attempt.
        assert_eq!(home.rows().len(), rows + 4, "{verb}");
    }
    assert_eq!(home.status("1"), "live");
}

#[test]
fn a_result_needs_the_token_and_a_running_act() {
    let home = Home::new();
    home.mint("1", "");
    let wrong = "0".repeat(64);
    let exec = format!(
        "env >env; GRANTED_RESULT_TOKEN={wrong} {GRANTED} result --ok; test $? = 1 || exit 9"
    );
    assert_eq!(home.discharge("1", &exec, &[])["reason"], "confirmed");
    assert_eq!(home.rows_of("decision.result").len(), 1);
    // The true token, after the act.
    let env = std::fs::read_to_string(home.dir().join("env")).unwrap();
    let ours = env.lines().filter_map(|line| line.split_once('='));
    let ours = ours.filter(|(name, _)| name.starts_with("GRANTED_"));
    let late: Run = home.command(["result", "--failed"]).envs(ours).output().unwrap().into();
    assert!(late.exits(1).stderr.contains("has ended"));
    assert_eq!(home.rows_of("decision.result").len(), 1);
}

#[test]
fn an_executor_gets_only_what_it_is_to_have() {
    let home = Home::new();
    home.mint("1", "");
    let mut command = home.command("discharge --type report --id 1 --exec".split(' '));
    command.arg("env >env").env("API_KEY", "secret");
    Run::from(command.output().unwrap()).ok();
    let env = std::fs::read_to_string(home.dir().join("env")).unwrap();
    let allowed = |line: &str| {
        let name = line.split_once('=').unwrap().0;
        // The shell adds the last two.
        name.starts_with("GRANTED_") || ["HOME", "PATH", "PWD", "_"].contains(&name)
    };
    assert!(env.lines().all(allowed), "{env}");
    assert!(!env.contains("secret"));
}

#[test]
fn an_edited_document_stops_its_grant() {
    for (from, to) in [
        ("\"allowed_actions\": [\"read\"]", "\"allowed_actions\": []"),
        ("APPROVE_ONCE", "APPROVE_SESSION"),
        ("\"not_before\": null", "\"not_before\": \"2020-01-01T00:00:00Z\""),
        ("\"id\":\"1\"", "\"id\":\"2\""),
        ("\"minted_by\": \"me\"", "\"minted_by\": \"you\""),
    ] {
        let home = Home::new();
        home.mint("1", "--allow read");
        edit(&home.document("1"), from, to);
        let report = home.discharge("1", "touch ran", &["--action", "read"]);
        assert_eq!(report["reason"], "unreadable", "{to}");
        assert!(!has_run(&home));
    }
}

#[test]
fn an_old_copy_of_a_document_revives_nothing() {
    let home = Home::new();
    let id = home.mint("1", "");
    let document = home.document("1");
    let unspent = std::fs::read(&document).unwrap();
    assert_eq!(home.discharge("1", "true", &[])["reason"], "confirmed");
    std::fs::write(&document, &unspent).unwrap();
    assert_eq!(attempt(&home, "1"), "consumed");
    // A refusal moves its own attempt only: it can neither touch the grant nor burden it.
    let refused = home.rows().pop().unwrap();
    assert_eq!(refused["refs"].as_array().unwrap().len(), 1);
    assert!(!refused["refs"].to_string().contains(&id));

    let id = home.mint("2", "");
    let document = home.document("2");
    let unspent = std::fs::read(&document).unwrap();
    std::fs::remove_file(&document).unwrap();
    assert_eq!(attempt(&home, "2"), "none");
    home.say(&format!("revoke {id}")).ok();
    std::fs::write(&document, &unspent).unwrap();
    assert_eq!(attempt(&home, "2"), "revoked");
    assert!(!has_run(&home));
}

#[test]
fn a_document_with_no_row_is_no_grant() {
    let home = Home::new();
    let id = home.mint("1", "");
    let text = std::fs::read_to_string(home.document("1")).unwrap();
    let forged =
        text.replace(&id, "01M3RN7R72000KRVQKEBZ99Y1A").replace("\"id\":\"1\"", "\"id\":\"2\"");
    home.write(".granted/grants/report/2~01M3RN7R72000KRVQKEBZ99Y1A.json", forged);
    assert_eq!(attempt(&home, "2"), "none");
    assert!(!has_run(&home));
}

#[test]
fn a_link_in_a_documents_place_is_not_followed() {
    let home = Home::new();
    home.mint("1", "");
    let document = home.document("1");
    let copy = home.dir().join("copy.json");
    std::fs::rename(&document, &copy).unwrap();
    std::os::unix::fs::symlink(&copy, &document).unwrap();
    assert_eq!(attempt(&home, "1"), "unreadable");
    assert!(!has_run(&home));
}

#[test]
fn an_id_leads_out_of_no_folder() {
    let home = Home::new();
    let folder = home.root().join("grants/report");
    for id in ["../../../out", "..", ".", "/etc/passwd", "a/b", "%2E%2E", "-rf"] {
        let args = ["mint", "--type", "report", "--by", "me", "--for", "1h"];
        let id = format!("--id={id}");
        let path = PathBuf::from(home.run(args.iter().chain([&id.as_str()])).ok().stdout.trim());
        assert_eq!(path.parent().unwrap(), folder, "{id}");
        assert!(path.symlink_metadata().unwrap().is_file());
    }
    assert!(!home.dir().join("out").exists());
    home.say("mint --type .. --id 1 --by me --for 1h").ok();
    assert!(home.root().join("grants/%2E.").is_dir());
    let hidden = ["mint", "--type", "report", "--id", "a\u{202e}b", "--by", "me", "--for", "1h"];
    home.run(hidden).exits(2);
}

#[test]
fn an_agent_names_no_program_of_its_own() {
    let home = Home::new();
    let evil = home.write("evil.sh", "#!/bin/sh\ntouch ran\n");
    home.write(".granted/config.toml", "[executors.good]\nargv = [\"true\"]\n");
    home.mint("1", "--executor good");
    assert_eq!(attempt(&home, "1"), "action_not_allowed");
    let named =
        |name: &str| home.run(["discharge", "--type", "report", "--id", "1", "--executor", name]);
    for name in [evil.to_str().unwrap(), "./evil.sh", "other", "exec"] {
        assert!(named(name).exits(3).stdout.contains("unknown_executor"), "{name}");
    }
    assert!(!has_run(&home));
    named("good").ok();
}

#[test]
fn a_bound_file_that_changed_stops_its_grant() {
    let home = Home::new();
    let draft = home.write("draft.txt", "what was read");
    home.mint("1", "--bind draft.txt");
    std::fs::write(&draft, "something else").unwrap();
    assert_eq!(attempt(&home, "1"), "binding_changed");
    assert!(!has_run(&home));
    std::fs::write(&draft, "what was read").unwrap();
    assert_eq!(attempt(&home, "1"), "confirmed");
}

#[test]
fn a_row_put_in_by_hand_stops_everything_until_a_person_looks() {
    let home = Home::new();
    home.mint("1", "");
    home.mint("other", "");
    let good = std::fs::read_to_string(home.ledger()).unwrap();
    let last = good.lines().last().unwrap().replace("\"seq\":3", "\"seq\":4");
    std::fs::write(home.ledger(), format!("{good}{last}\n")).unwrap();
    assert_eq!(attempt(&home, "1"), "ledger_unwritable");
    // It says that the row before it was another one, and nobody can tell which of them is wrong.
    assert!(home.say("ledger verify").exits(1).stdout.starts_with("damaged: line 3"));
    home.say("mint --type report --id 2 --by me --for 1h").exits(1);
    assert!(!has_run(&home));
    home.say("ledger accept --by me --reason forged").ok();
    // The grant that they name is gone, the other is as it was.
    assert_eq!(attempt(&home, "other"), "none");
    assert!(!has_run(&home));
    assert_eq!(attempt(&home, "1"), "confirmed");
    home.verify();
}

#[test]
fn a_changed_row_is_found() {
    let home = Home::new();
    home.mint("1", "--allow read");
    home.mint("2", "");
    edit(&home.ledger(), "[\"read\"]", "[\"send\"]");
    assert!(home.say("ledger verify").exits(1).stdout.starts_with("damaged: line 2"));
}

#[test]
fn rows_cut_off_leave_a_spent_grant_spent() {
    let home = Home::new();
    home.mint("1", "");
    let before = std::fs::read(home.ledger()).unwrap();
    assert_eq!(home.discharge("1", "true", &[])["reason"], "confirmed");
    std::fs::write(home.ledger(), before).unwrap();
    // The rows that spent it are gone; its document still says so.
    assert_eq!(attempt(&home, "1"), "consumed");
    assert!(!has_run(&home));
}

#[test]
fn a_ledger_behind_its_index_uses_no_grant() {
    let home = Home::new();
    home.mint("1", "");
    let before = std::fs::read(home.ledger()).unwrap();
    let unspent = std::fs::read(home.document("1")).unwrap();
    assert_eq!(home.discharge("1", "true", &[])["reason"], "confirmed");
    let object = |n: u32| format!("{{\"object\":{{\"type\":\"other\",\"id\":\"{n}\"}}}}\n");
    home.write("sheet.jsonl", (0..600).map(object).collect::<String>());
    home.say("mint --sheet sheet.jsonl --by me --for 1h").ok();
    // The ledger and the document, both as they were; not the index.
    std::fs::write(home.ledger(), before).unwrap();
    std::fs::write(home.document("1"), unspent).unwrap();
    assert_eq!(attempt(&home, "1"), "ledger_rolled_back");
    home.say("mint --type report --id 2 --by me --for 1h").exits(1);
    assert!(!has_run(&home));
}

#[test]
fn with_no_ledger_to_write_nothing_runs() {
    for what in ["a directory", "a link", "a file of something else"] {
        let home = Home::new();
        home.mint("1", "");
        let moved = home.dir().join("moved");
        std::fs::rename(home.ledger(), &moved).unwrap();
        match what {
            "a directory" => std::fs::create_dir(home.ledger()).unwrap(),
            "a link" => std::os::unix::fs::symlink(&moved, home.ledger()).unwrap(),
            _ => std::fs::write(home.ledger(), "not a row\n").unwrap(),
        }
        // Where no row is good, the documents tell that there was another ledger.
        let lost = what.starts_with("a file");
        let expected = if lost { "ledger_rolled_back" } else { "ledger_unwritable" };
        let report = home.discharge("1", "touch ran", &[]);
        assert_eq!(report["reason"], expected, "{what}");
        assert!(report["detail"].as_str().unwrap().contains("ledger.jsonl"), "{report}");
        assert!(!has_run(&home), "{what}");
    }
}

#[test]
fn what_others_wrote_is_shown_escaped() {
    let home = Home::new();
    let args =
        ["mint", "--type", "report", "--id", "1", "--for", "1h", "--by", "me\u{1b}[2J\u{202e}"];
    home.run(args).ok();
    home.discharge("1", "printf 'a\\033]0;x\\007' >&2; exit 1", &[]);
    let grant = home.run(["status", "--type", "report", "--id", "1", "--json"]).json();
    let id = grant["grant"]["id"].as_str().unwrap().to_owned();
    for line in ["ledger".to_owned(), "status --type report --id 1".into(), format!("show {id}")] {
        let run = home.say(&line);
        assert!(!run.stdout.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{run:?}");
    }
    assert!(home.say("ledger").stdout.contains("\\u{1b}"));
}

/// The tests that the table names, as `FILE::NAME`.
fn named(row: &str) -> Vec<(&str, &str)> {
    let cell = row.trim_end_matches('|').rsplit_once('|').unwrap().1;
    let names = cell.split('`').skip(1).step_by(2);
    names.map(|name| name.split_once("::").unwrap_or_else(|| panic!("{name}"))).collect()
}

/// Whether this source has a test of this name.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = format!("fn {name}(");
    let begins = |line: &&str| line.strip_prefix("async ").unwrap_or(line).starts_with(&begins);
    let at = lines.iter().position(begins);
    at.is_some_and(|at| {
        let mut above = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
        above.any(|line| *line == "#[test]" || line.starts_with("#[tokio::test"))
    })
}

#[test]
fn every_row_of_the_table_names_tests_that_exist() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let rows =
        TABLE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack "));
    let rows: Vec<&str> = rows.filter(|line| !line.starts_with("| ---")).collect();
    assert!(rows.len() >= 25, "{}", rows.len());
    for row in rows {
        let tests = named(row);
        assert!(!tests.is_empty(), "no test: {row}");
        for (file, name) in tests {
            let source = std::fs::read_to_string(crates.join(file));
            let source = source.unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(has_test(&source, name), "there is no test `{name}` in {file}");
        }
    }
}

#[test]
fn a_test_is_more_than_its_name() {
    assert!(has_test("#[test]\n#[ignore]\nfn a() {", "a"));
    for source in ["fn a() {", "#[test]\nfn ab() {", "// fn a()", "#[test]\nfn b() {}\nfn a() {"] {
        assert!(!has_test(source, "a"), "{source}");
    }
}

#[test]
fn a_claim_that_its_executor_takes_back_leaves_the_grant_spent() {
    for exec in [
        "echo ran >> ran; cp copy .granted/ledger.jsonl",
        "echo ran >> ran; cp copy other; mv other .granted/ledger.jsonl",
        "echo ran >> ran; cp copy .granted/ledger.jsonl; exit 75",
    ] {
        let home = Home::new();
        home.mint("x", "");
        home.write("copy", home.bytes());
        let report = home.discharge("x", exec, &[]);
        assert_eq!(report["reason"], "no_result_row", "{report}");
        assert_eq!(home.status("x"), "consumed");
        assert_eq!(home.discharge("x", "echo ran >> ran", &[])["reason"], "consumed");
        assert_eq!(home.count("ran"), 1);
        home.verify();
    }
}

/// Of the same length and in the same file, so that only reading it again shows it.
#[test]
fn a_claim_that_its_executor_changes_in_place_leaves_the_grant_spent() {
    let other_grant = r#"3s/\["grant:01/["grant:02/"#;
    for (before, edit) in
        [("granted result --ok", other_grant), (":", other_grant), (":", "3s/^{\"at\"/XXXXX/")]
    {
        let home = Home::new();
        home.mint("x", "");
        let ledger = home.ledger();
        let ledger = ledger.display();
        let exec =
            format!("echo ran >> ran; {before}; sed '{edit}' {ledger} > copy; cat copy > {ledger}");
        let report = home.discharge("x", &exec, &[]);
        let reason = report["reason"].as_str().unwrap();
        assert!(["no_result_row", "receipt_mismatch"].contains(&reason), "{edit}: {report}");
        home.say("ledger accept --by me --reason looked");
        assert_eq!(home.status("x"), "consumed", "{edit}");
        home.discharge("x", "echo ran >> ran", &[]);
        assert_eq!(home.count("ran"), 1, "{edit}");
    }
}

/// The part of a ledger that the index covers is not followed line by line.
#[test]
fn a_changed_row_that_the_index_covers_revives_nothing() {
    let home = Home::new();
    let grant = home.mint("x", "");
    let document = std::fs::read(home.document("x")).unwrap();
    assert_eq!(home.discharge("x", "exit 1", &[])["reason"], "executor_failed");
    home.mint_sheet(0..600);
    home.say("tick").ok();
    assert!(home.root().join("index").exists());
    let good = home.bytes();
    let other = format!("{}{}", &grant[..25], if grant.ends_with('0') { '1' } else { '0' });
    let (from, to) = (format!("[\"grant:{grant}\","), format!("[\"grant:{other}\","));
    let text = String::from_utf8(good).unwrap();
    // Its claim is another grant's; its failure was a decline.
    let head = text.find("decision.intent").unwrap();
    let claim = format!("{}{}", &text[..head], text[head..].replace(&from, &to));
    let failed = "\"reason\":\"executor_failed\"";
    let declined = text.replace(failed, "\"reason\":\"executor_declined\"");
    let declined = declined.replace("it exited with", "it exited wi");
    for changed in [claim, declined] {
        assert_eq!(changed.len(), text.len(), "its rows lie where they did");
        std::fs::write(home.ledger(), changed).unwrap();
        std::fs::write(home.document("x"), &document).unwrap();
        assert_eq!(home.discharge("x", "touch ran", &[])["reason"], "ledger_unwritable");
        assert!(!has_run(&home));
        home.say("ledger verify").exits(1);
    }
}
