//! The format of rows is frozen: a ledger with every kind of row, byte for byte.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::disallowed_methods)]

use std::collections::BTreeSet;

use granted_core::ledger::{Door, Event, Row};
use granted_testkit::story;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/ledger.jsonl");
const FORMAT: &str = include_str!("../../../docs/format.md");

/// The frozen lines. With `GRANTED_BLESS=1` they are written anew first.
fn golden() -> Vec<String> {
    let written: Vec<String> = story::every_kind()
        .into_iter()
        .map(|line| String::from_utf8(line.bytes).unwrap() + "\n")
        .collect();
    if std::env::var_os("GRANTED_BLESS").is_some() {
        std::fs::write(FILE, written.concat()).unwrap();
    }
    let frozen = std::fs::read_to_string(FILE).unwrap();
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
