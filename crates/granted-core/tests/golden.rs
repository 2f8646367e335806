//! The format of rows is frozen: two ledgers with every kind of row between them, byte for byte.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use std::collections::BTreeSet;

use granted_core::ledger::{Door, Event, Line, Row};
use granted_core::trust::{Purpose, Statement};
use granted_core::write::Refusal;
use granted_testkit::{story, writes};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/ledger.jsonl");
const WRITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/writes.jsonl");
const FORMAT: &str = include_str!("../../../docs/format.md");

/// The frozen lines of both ledgers.
fn golden() -> Vec<String> {
    [frozen(FILE, story::every_kind()), frozen(WRITES, writes::every_kind())].concat()
}

/// The frozen lines of one. With `GRANTED_BLESS=1` they are written anew first.
fn frozen(file: &str, lines: Vec<Line>) -> Vec<String> {
    let written: Vec<String> =
        lines.into_iter().map(|line| String::from_utf8(line.bytes).unwrap() + "\n").collect();
    if std::env::var_os("GRANTED_BLESS").is_some() {
        std::fs::write(file, written.concat()).unwrap();
    }
    let frozen = std::fs::read_to_string(file).unwrap();
    assert!(
        written.concat() == frozen,
        "the format of rows has changed: ledgers that exist must stay readable. \
         If it is only the example, run `GRANTED_BLESS=1 cargo test -p granted-core --test golden`"
    );
    frozen.lines().map(str::to_owned).collect()
}

#[test]
fn every_kind_is_frozen_and_canonical() {
    let mut kinds = BTreeSet::new();
    for line in golden() {
        let row = Row::parse(line.as_bytes()).unwrap();
        assert_eq!(row.line(), line.as_bytes());
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), line);
        kinds.insert(row.event.kind());
    }
    assert_eq!(kinds, Event::KINDS.iter().copied().collect());
}

#[test]
fn the_documentation_shows_a_frozen_line_of_every_kind() {
    let golden = golden();
    for kind in Event::KINDS {
        let of_kind = |line: &&String| line.contains(&format!("\"kind\":\"{kind}\""));
        let shown = golden.iter().filter(of_kind).any(|line| FORMAT.contains(line.as_str()));
        assert!(shown, "docs/format.md shows no frozen line of `{kind}`");
    }
    for line in FORMAT.lines().filter(|line| line.starts_with("{\"at\":")) {
        assert!(golden.iter().any(|frozen| frozen == line), "not frozen: {line}");
    }
}

#[test]
fn the_doors_are_frozen() {
    let line = golden().remove(0);
    for (door, word) in [(Door::Cli, "cli"), (Door::Library, "library"), (Door::Mcp, "mcp")] {
        let line = line.replace("\"door\":\"cli\"", &format!("\"door\":\"{word}\""));
        assert_eq!(Row::parse(line.as_bytes()).unwrap().by.door, door);
        assert!(FORMAT.contains(&format!("`{word}`")), "docs/format.md does not name `{word}`");
    }
    let line = line.replace("\"door\":\"cli\"", "\"door\":\"http\"");
    assert!(Row::parse(line.as_bytes()).is_err());
}

/// The example of signed bytes in the documentation is what the frozen row was signed over.
#[test]
fn the_documentation_shows_what_is_signed() {
    let row = |seq: usize| Row::parse(golden()[seq - 1].as_bytes()).unwrap();
    let Event::Opened(opened) = row(1).event else { panic!("a book is opened first") };
    let (Event::KeyTrusted(ada), Event::KeyTrusted(laptop)) = (row(23).event, row(24).event) else {
        panic!("two keys are trusted")
    };
    let statement = Statement::trust(opened.book, 23, &laptop.key, &laptop.name);
    assert_eq!(laptop.signature.unwrap().verify(&ada.key, &statement), Ok(()));
    let bytes = String::from_utf8(statement.bytes()).unwrap();
    let shown = format!("signed, {} of them:\n\n```text\n{bytes}\n```\n", bytes.len());
    assert!(FORMAT.contains(&shown), "{shown}");
    assert!(FORMAT.contains(&format!("is\n`{}`.", statement.digest())), "{}", statement.digest());
}

/// The example of a direct grant in the documentation is what its frozen row was signed over: whoever
/// builds these bytes otherwise cannot check one.
#[test]
fn the_documentation_shows_what_is_signed_of_a_direct_grant() {
    let rows = golden().into_iter().map(|line| Row::parse(line.as_bytes()).unwrap().event);
    let (mut ada, mut granted) = (None, None);
    for event in rows {
        match event {
            Event::KeyTrusted(trusted) if trusted.signature.is_none() => ada = Some(trusted.key),
            Event::DirectGranted(body) => granted = Some(body),
            _ => {}
        }
    }
    let (ada, granted) = (ada.unwrap(), granted.unwrap());
    let statement = Statement::direct(&granted.grant);
    assert_eq!(granted.signature.verify(&ada, &statement), Ok(()));
    let bytes = statement.bytes();
    assert_eq!(Statement::read_direct(&bytes).as_ref(), Some(&granted.grant));
    let bytes = String::from_utf8(bytes).unwrap();
    assert!(FORMAT.contains(&format!("these bytes:\n\n```text\n{bytes}\n```\n")), "{bytes}");
    assert!(FORMAT.contains(&format!("is\n`{}`.", statement.digest())), "{}", statement.digest());
}

#[test]
fn the_documentation_names_every_reason_for_which_a_change_set_is_refused() {
    let (_, rest) = FORMAT.split_once("### `write.refused`").unwrap();
    let (section, _) = rest.split_once("```json").unwrap();
    for reason in Refusal::ALL {
        assert!(section.contains(&format!("`{reason}`")), "{reason}");
    }
}

/// Every purpose is in the documentation, with its payload type and its namespace.
#[test]
fn the_documentation_names_every_purpose() {
    for purpose in Purpose::ALL {
        let row = format!("| `{}` | `{}` | ", purpose.payload_type(), purpose.namespace());
        assert!(FORMAT.contains(&row), "{row}");
    }
}
