//! Bad input to every verb: a documented exit code, one clear line, and nothing made.

use serde_json::Value;

use crate::home::{Home, Run};

const ID: &str = "01K6BXZ0000000000000000000";

/// A usage error: exit 2, said on stderr in one line that begins so, and in JSON as one value.
#[track_caller]
fn assert_usage(home: &Home, args: &[&str]) -> Run {
    let run = home.run(args).exits(2);
    assert_eq!(run.stdout, "", "{args:?}");
    let first = run.stderr.lines().next().unwrap_or_default();
    assert!(first.starts_with("error: ") || first.starts_with("granted: "), "{args:?}: {run:?}");
    let json = home.run(args.iter().chain(&["--json"])).exits(2);
    let error: Value =
        serde_json::from_str(&json.stderr).unwrap_or_else(|e| panic!("{e}: {json:?}"));
    let message = error["error"]["message"].as_str().unwrap();
    assert!(error["error"]["kind"] == "usage" && !message.is_empty(), "{args:?}: {json:?}");
    assert_eq!((json.stdout.as_str(), json.stderr.lines().count()), ("", 1));
    run
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Nothing was made at all.
fn assert_untouched(home: &Home) {
    assert!(!home.root().exists());
}

#[test]
fn flags_that_are_missing_twice_or_unknown_are_usage_errors() {
    let home = Home::new();
    for line in [
        "frobnicate",
        "mint",
        "status",
        "discharge",
        "show",
        "resolve",
        "revoke",
        "result",
        "ledger accept",
        "ledger frobnicate",
        "mint --type report --id x --by me",
        "mint --type report --id x --for 1h",
        "mint --type report --by me --for 1h",
        "mint --id x --by me --for 1h",
        "mint --type report --id x --by me --for 1h --not-after 2999-01-01T00:00:00Z",
        "mint --type report --id x --by me --for 1h --decision APPROVE_ALWAYS",
        "mint --type report --id x --by me --for 1h --from a.json",
        "mint --from a.json --sheet b.jsonl",
        "mint --from a.json --by me",
        "status --type report",
        "status --id x",
        "status --type report --id",
        "discharge --type report --id x",
        "discharge --type report --exec true",
        "discharge --type report --id x --exec true --executor e",
        "discharge --type report --id x --executor e\u{202e}",
        "revoke --type report",
        "revoke --id x",
        "resolve --happened",
        "ledger accept --by me",
        "ledger accept --reason r",
        "ledger --kind nonsense",
        "ledger verify --tail 3",
        "result --ok --failed",
        "lag one two",
        "show one two",
        "tick now",
    ] {
        assert_usage(&home, &words(line));
    }
    for line in [
        format!("resolve {ID} --by me"),
        format!("resolve {ID} --happened"),
        format!("resolve {ID} --happened --did-not-happen --by me"),
        format!("revoke {ID} --type report --id x"),
    ] {
        assert_usage(&home, &words(&line));
    }
    for verb in [
        "mint",
        "status",
        "list",
        "show",
        "discharge",
        "result",
        "resolve",
        "revoke",
        "tick",
        "ledger",
        "ledger verify",
        "ledger accept",
        "lag",
        "executors",
    ] {
        assert_usage(&home, &[words(verb), vec!["--frobnicate"]].concat());
        assert_usage(&home, &[words(verb), vec!["-x"]].concat());
    }
    let whole = "mint --type report --id x --by me --for 1h --scope s --executor e --agent a --not-before 2026-01-01T00:00:00Z --decision APPROVE_ONCE";
    for flag in words(whole)[1..].chunks(2) {
        assert_usage(&home, &[words(whole), flag.to_vec()].concat());
    }
    let whole =
        "discharge --type report --id x --exec true --action a --agent a --timeout 1s --key k";
    for flag in words(whole)[1..].chunks(2) {
        assert_usage(&home, &[words(whole), flag.to_vec()].concat());
    }
    assert_untouched(&home);
}

#[test]
fn values_out_of_bounds_are_usage_errors() {
    let home = Home::new();
    let mint = words("mint --type report --id x --by me");
    let with = |flag: &'static str, value: &str| format!("{flag}={value}");
    let naive = "2999-10-01T00:00:00";
    let said = assert_usage(&home, &[mint.clone(), vec!["--not-after", naive]].concat());
    assert!(said.stderr.contains("it has no zone: end it with `Z` or an offset"), "{said:?}");
    for time in [
        "",
        "now",
        "2999",
        "2999-10-01",
        "2999-10-01T00:00Z",
        "2999-10-01 00:00:00Z",
        "2999-13-01T00:00:00Z",
        "2999-02-30T00:00:00Z",
        "2999-10-01T24:00:00Z",
        "2999-10-01T00:00:60Z",
        "10000-01-01T00:00:00Z",
        "-0001-01-01T00:00:00Z",
        "2999-10-01T00:00:00.1234567Z",
        "2999-10-01T00:00:00+25:00",
        "2999-10-01T00:00:00Zulu",
        "32503680000",
        "２999-10-01T00:00:00Z",
        "2001-01-01T00:00:00Z",
    ] {
        for flag in ["--not-after", "--not-before"] {
            // A beginning that is past is fine.
            if flag == "--not-after" || time != "2001-01-01T00:00:00Z" {
                let value = with(flag, time);
                let end: &[&str] = if flag == "--not-after" { &[] } else { &["--for=1h"] };
                assert_usage(&home, &[&mint, end, &[value.as_str()]].concat());
            }
        }
        if time != "2001-01-01T00:00:00Z" {
            assert_usage(&home, &["ledger", &with("--since", time)]);
        }
    }
    let discharge = words("discharge --type report --id x --exec true");
    for span in [
        "",
        "h",
        "1.5h",
        "-1h",
        "+1h",
        "1w",
        "1 h",
        "1hh",
        "1H",
        "0x1h",
        "１h",
        "99999999999999999999h",
    ] {
        assert_usage(&home, &[&mint[..], &[&with("--for", span)]].concat());
        assert_usage(&home, &[&discharge[..], &[&with("--timeout", span)]].concat());
    }
    // Seconds alone are a timeout and no length of a window.
    assert_usage(&home, &[&mint[..], &["--for=1"]].concat());
    assert_usage(&home, &[&mint[..], &["--for=0s"]].concat());
    assert_usage(
        &home,
        &[&mint[..], &["--for=1h", "--not-before=9999-12-31T23:59:59.999999Z"]].concat(),
    );
    assert_usage(&home, &[&discharge[..], &["--timeout=25h"]].concat());
    let (name, note) = ("n".repeat(65), "n".repeat(1025));
    for bad in ["", &name, "a\nb", "a\u{202e}"] {
        for flag in ["--allow", "--executor", "--agent"] {
            assert_usage(&home, &[&mint[..], &["--for=1h", &with(flag, bad)]].concat());
        }
        for flag in ["--action", "--agent", "--key"] {
            assert_usage(&home, &[&discharge[..], &[&with(flag, bad)]].concat());
        }
    }
    for flag in ["--scope", "--not-scope"] {
        assert_usage(&home, &[&mint[..], &["--for=1h", &with(flag, &note)]].concat());
    }
    assert_usage(&home, &["mint", "--type=report", "--id=x", "--for=1h", &with("--by", &note)]);
    assert_usage(&home, &["mint", "--type=report", "--id=x", "--for=1h", "--by="]);
    for id in [
        "",
        "x",
        "..",
        "01K6BXZ00000000000000000",
        "01K6BXZ000000000000000000U",
        "81K6BXZ0000000000000000000",
        "../../etc/passwd",
    ] {
        assert_usage(&home, &["show", id]);
        assert_usage(&home, &["revoke", id]);
        assert_usage(&home, &["resolve", id, "--happened", "--by=me"]);
        assert_usage(&home, &["ledger", &with("--grant", id)]);
    }
    for tail in ["-1", "x", "1.5", "99999999999999999999999"] {
        assert_usage(&home, &["ledger", &with("--tail", tail)]);
    }
    assert_untouched(&home);
}

#[test]
fn what_is_not_there_is_an_error() {
    let home = Home::new();
    for line in [
        format!("show {ID}"),
        format!("revoke {ID}"),
        format!("resolve {ID} --happened --by me"),
        "revoke --type report --id x".into(),
        "lag nowhere".into(),
        "lag .".into(),
        "mint --from nowhere".into(),
        "mint --from .".into(),
        "mint --sheet nowhere --by me --for 1h".into(),
        "mint --type report --id x --by me --for 1h --bind nowhere".into(),
        "mint --type report --id x --by me --for 1h --bind .".into(),
    ] {
        let run = home.say(&line).exits(1);
        assert!(run.stderr.starts_with("granted: "), "{run:?}");
        assert_eq!(run.stdout, "");
    }
    assert_untouched(&home);
    home.say("status --type report --id x").exits(3);
    for line in [
        "list",
        "ledger",
        "ledger --tail 0",
        "ledger verify",
        "executors",
        "lag",
        "--help",
        "mint --help",
        "--version",
    ] {
        home.say(line).ok();
    }
    assert_untouched(&home);
}

#[test]
fn an_environment_without_a_home_or_with_a_database_is_an_error() {
    let home = Home::new();
    for line in ["list", "tick", "discharge --type report --id x --exec true"] {
        let run: Run = home.command(words(line)).env_remove("HOME").output().unwrap().into();
        assert_eq!(run.exits(1).stderr, "granted: there is no home: set GRANTED_HOME, or HOME\n");
        let store = "postgres://me:secret@host/db";
        let run = home.command(words(line)).env("GRANTED_STORE", store).output().unwrap();
        let run = Run::from(run).exits(1);
        assert!(run.stderr.starts_with("granted: GRANTED_STORE names a database"), "{run:?}");
        assert!(!run.stderr.contains("secret"), "{run:?}");
    }
    assert_untouched(&home);
    let run: Run = home.command(["tick"]).env("GRANTED_HOME", "").output().unwrap().into();
    run.ok();
}

#[test]
fn bad_sheets_and_documents_mint_nothing() {
    let home = Home::new();
    let good = r#"{"object":{"type":"report","id":"x"}}"#;
    for bad in [
        "",
        "\n\n",
        "nonsense",
        "[]",
        "null",
        "{}",
        r#"{"object":{"type":"report"}}"#,
        r#"{"object":{"type":"report","id":"y"},"colour":1}"#,
        r#"{"object":{"type":"report","id":"y","id":"z"}}"#,
        r#"{"object":{"type":"report","id":"y"},"scope":"a","scope":"b"}"#,
        r#"{"object":{"type":"re port","id":"y"}}"#,
        r#"{"object":{"type":"report","id":"y\u202e"}}"#,
        r#"{"object":{"type":"report","id":"y"},"consumed":true}"#,
        r#"{"object":{"type":"report","id":"y"},"receipt":{}}"#,
        r#"{"object":{"type":"report","id":"y"},"minted_at":"2026-01-01T00:00:00Z"}"#,
        r#"{"object":{"type":"report","id":"y"},"not_after":"2999-01-01T00:00:00"}"#,
        r#"{"object":{"type":"report","id":"y"},"not_after":"2001-01-01T00:00:00Z"}"#,
        r#"{"object":{"type":"report","id":"y"},"for":"1x"}"#,
        r#"{"object":{"type":"report","id":"y"},"for":1.5}"#,
        r#"{"object":{"type":"report","id":"y"},"decision":"APPROVE_SESSION"}"#,
        r#"{"object":{"type":"report","id":"y"},"kind":"granted/2"}"#,
        good,
    ] {
        let lone = bad.trim().is_empty();
        home.write("sheet", if lone { bad.to_owned() } else { format!("{good}\n\n{bad}\n") });
        let run = assert_usage(&home, &words("mint --sheet sheet --by me --for 1h"));
        assert!(lone || run.stderr.contains("`sheet` line 3: "), "{bad}: {run:?}");
        home.write("document", bad);
        assert_usage(&home, &["mint", "--from", "document"]);
    }
    home.write("sheet", b"\xff\xfe\n");
    assert_usage(&home, &words("mint --sheet sheet --by me --for 1h"));
    let long = format!("{good}{}", " ".repeat(70_000));
    home.write("document", long);
    home.say("mint --from document").exits(1);
    assert!(!home.root().join("grants").exists());
    if home.ledger().exists() {
        assert_eq!(home.rows_of("decision.minted").len(), 0);
    }
}

#[test]
fn bad_receipts_are_refused_within_the_act_and_outside() {
    let home = Home::new();
    let large = format!("\"{}\"", "x".repeat(4096));
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let bad = [
        "",
        "nonsense",
        "1.5",
        "1e3",
        "-0.0",
        "9007199254740992",
        "-9007199254740992",
        "{\"a\":1,\"a\":1}",
        "[1,",
        "{\"a\":{\"b\":1,\"b\":2}}",
        "NaN",
        "'x'",
        "1 2",
        &large,
        &deep,
    ];
    for receipt in bad {
        assert_usage(&home, &["result", "--ok", "--receipt", receipt]);
    }
    assert_usage(&home, &["result", "--ok"]);
    assert_untouched(&home);

    home.mint("x", "");
    for (number, receipt) in bad.iter().enumerate() {
        home.write(&format!("bad/{number}"), receipt);
    }
    let g = env!("CARGO_BIN_EXE_granted");
    let exec = format!(
        "for f in bad/*; do {g} result --ok --receipt \"$(cat $f)\" 2>/dev/null; echo $? >> codes; done; \
         GRANTED_RESULT_TOKEN=wrong {g} result --ok; echo $? >> codes; \
         GRANTED_DISCHARGE_ID={ID} {g} result --ok; echo $? >> codes; \
         GRANTED_DISCHARGE_ID=x {g} result --ok; echo $? >> codes; \
         {g} result --ok --receipt '{{\"b\":9007199254740991,\"a\":\"\u{202e}\"}}'; echo $? >> codes; \
         {g} result --failed; echo $? >> codes; \
         {g} mint --type report --id y --by me --for 1h; echo $? >> codes"
    );
    let report = home.discharge("x", &exec, &[]);
    assert_eq!(report["outcome"], "discharged", "{report}");
    let codes = std::fs::read_to_string(home.dir().join("codes")).unwrap();
    assert_eq!(
        codes.split_whitespace().collect::<Vec<_>>(),
        [&["2"; 15][..], &["1", "1", "2", "0", "1", "1"]].concat()
    );
    assert_eq!(home.rows_of("decision.result").len(), 2, "its own, and the wrapper's");
    assert_eq!(home.rows_of("decision.minted").len(), 1);
    home.verify();
}
