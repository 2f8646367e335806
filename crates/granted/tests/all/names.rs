//! Object ids and types of every shape: what is taken means itself, what is not leaves no trace.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::home::{Home, Run};

/// Everything below a folder, by its path from there.
fn listing(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path.clone());
            }
            found.insert(path.strip_prefix(folder).unwrap().to_owned());
        }
    }
    found
}

fn flags(verb: &str, r#type: &str, id: &str) -> Vec<OsString> {
    [verb.into(), format!("--type={type}"), format!("--id={id}")].map(OsString::from).into()
}

fn mint(home: &Home, r#type: &str, id: &str) -> Run {
    let more = ["--by", "me", "--for", "1h"].map(OsString::from);
    home.run(flags("mint", r#type, id).into_iter().chain(more))
}

fn discharge(home: &Home, r#type: &str, id: &str, exec: &str) -> Run {
    let more = ["--exec", exec].map(OsString::from);
    home.run(flags("discharge", r#type, id).into_iter().chain(more))
}

/// Mints, looks at and discharges an object; the executor is told exactly its id.
fn ride(home: &Home, r#type: &str, id: &str) {
    mint(home, r#type, id).ok();
    home.run(flags("status", r#type, id)).ok();
    let exec = r#"printf %s "$GRANTED_OBJECT_TYPE/$GRANTED_OBJECT_ID" > told"#;
    let report = discharge(home, r#type, id, exec).ok();
    let confirmed = format!("discharged: confirmed ({type}/{id}) -- result row line ");
    assert!(report.stdout.starts_with(&confirmed), "{report:?}");
    let told = std::fs::read_to_string(home.dir().join("told")).unwrap();
    assert_eq!(told, format!("{type}/{id}"));
    home.run(flags("status", r#type, id)).exits(3);
}

/// What may lie in the folder of the test: the home with one document an object, and `told`.
fn assert_kept_inside(home: &Home, types: usize, objects: usize) {
    let outside = ["told", ".granted"].map(PathBuf::from);
    let mut documents = 0;
    let mut folders = 0;
    for path in listing(home.dir()) {
        let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
        match parts.as_slice() {
            [_] => assert!(outside.contains(&path), "{path:?}"),
            [".granted", "grants", _folder, _file] => documents += 1,
            [".granted", "grants", _folder] => folders += 1,
            [".granted", "ledger.jsonl" | "grants" | "acts"] => {}
            _ => panic!("{path:?}"),
        }
    }
    assert_eq!((folders, documents), (types, objects));
}

#[test]
fn ids_of_every_shape_mean_themselves_and_stay_in_the_home() {
    let home = Home::new();
    let long = ["x".repeat(256), "é".repeat(256), "😀".repeat(256), "/".repeat(256)];
    let alike = ["é".repeat(255) + "a", "é".repeat(255) + "b"];
    let nested = format!("..{}/told", home.dir().display());
    let plain = [
        "a/b",
        "..",
        ".",
        "../..",
        "../../../../../../told",
        "/",
        "/etc/passwd",
        ".hidden",
        "a b",
        " before",
        "after ",
        "it's",
        "say \"so\"",
        "back\\slash",
        "a%2Fb",
        "%2E%2E",
        "~",
        "a~b",
        "a~",
        "-",
        "--help",
        "--json",
        "$(touch pwned)",
        "`touch pwned`",
        "; touch pwned",
        "*",
        "é",
        "e\u{301}",
        "日本語",
        "😀",
        "{}",
        "\\u{202e}",
        "null",
        "a.json",
        "a.lock",
    ];
    let ids = plain.into_iter().chain(long.iter().chain(&alike).map(String::as_str));
    let ids: Vec<&str> = ids.chain([nested.as_str()]).collect();
    for id in &ids {
        ride(&home, "report", id);
    }
    assert_eq!(home.rows_of("decision.minted").len(), ids.len());
    let minted: Vec<_> = home
        .rows_of("decision.minted")
        .iter()
        .map(|row| row["body"]["grant"]["object"]["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(minted, ids);
    home.verify();
    assert_kept_inside(&home, 1, ids.len());
}

#[test]
fn types_of_every_shape_stay_in_the_home() {
    let home = Home::new();
    let long = "T".repeat(64);
    let types = [".", "..", "...", ".x", "-", "--json", "_", "a.b-c_d", "grants", "A", "a", &long];
    for r#type in types {
        ride(&home, r#type, "1");
    }
    home.verify();
    assert_kept_inside(&home, types.len(), types.len());
}

#[test]
fn ids_that_look_alike_are_two_objects() {
    let home = Home::new();
    for (one, other) in [("é", "e\u{301}"), ("a", "а"), ("x", "X"), ("a/b", "a%2Fb")] {
        mint(&home, "report", one).ok();
        home.run(flags("status", "report", other)).exits(3);
        mint(&home, "report", other).ok();
        discharge(&home, "report", one, "true").ok();
        home.run(flags("status", "report", one)).exits(3);
        home.run(flags("status", "report", other)).ok();
    }
}

#[test]
fn bad_ids_and_types_are_told_and_leave_nothing() {
    let home = Home::new();
    let (long, wide) = ("x".repeat(257), "é".repeat(257));
    let ids = [
        "",
        &long,
        &wide,
        "a\u{202e}b",
        "a\nb",
        "a\tb",
        "\u{1b}[2J",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{e000}",
        "\u{2066}x",
    ];
    let types =
        ["", " ", "a b", "a/b", "../x", "é", "a\u{202e}", "a\n", "a~b", "a%2Fb", &"t".repeat(65)];
    let bad = ids.map(|id| ("report", id)).into_iter().chain(types.map(|r#type| (r#type, "1")));
    for (r#type, id) in bad {
        for verb in ["status", "revoke"] {
            clear(home.run(flags(verb, r#type, id)), id);
        }
        clear(mint(&home, r#type, id), id);
        clear(discharge(&home, r#type, id, "touch ran"), id);
    }
    let raw = OsString::from_vec(b"--id=\xff\xfe".to_vec());
    home.run(["status".into(), "--type=report".into(), raw]).exits(2);
    assert!(listing(home.dir()).is_empty());
}

/// A usage error that shows none of the characters that an id may not hold.
fn clear(run: Run, id: &str) {
    let run = run.exits(2);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.starts_with("granted: "), "{id:?}: {run:?}");
    let hidden =
        |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{200b}\u{2028}".contains(c));
    assert!(!run.stderr.contains(hidden), "{id:?}: {run:?}");
}

#[test]
fn paths_that_are_too_long_are_told() {
    let home = Home::new();
    let deep = home.dir().join("x".repeat(200) + "/").to_str().unwrap().repeat(25);
    for (name, value) in [
        ("GRANTED_HOME", deep.clone()),
        ("GRANTED_HOME", format!("{}/{}", home.dir().display(), "x".repeat(256))),
        ("GRANTED_LEDGER", deep),
    ] {
        let run = |args: &[&str]| -> Run {
            home.command(args).env(name, &value).output().unwrap().into()
        };
        run(&["status", "--type", "report", "--id", "1"]).exits(1);
        run(&["mint", "--type", "report", "--id", "1", "--by", "me", "--for", "1h"]).exits(1);
        let args = ["discharge", "--type", "report", "--id", "1", "--exec", "touch ran"];
        let code = run(&args).code;
        assert!(code == 1 || code == 3, "{code}");
        assert_eq!(home.count("ran"), 0);
    }
    assert!(listing(home.dir()).iter().all(|path| path.starts_with(".granted")));
}
