//! Checkpoints and proofs: what they show to others, and what the files beside the ledger may do.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use granted_core::ledger::checkpoint::BookKey;
use serde_json::Value;

use crate::home::{Home, Run};

const GOLDEN: &str = include_str!("../../../granted-core/tests/golden/ledger.jsonl");
const FORMAT: &str = include_str!("../../../../docs/format.md");

/// How many of the frozen rows the documentation's example has.
const ROWS: usize = 27;

/// The home of the beginning of the frozen ledger, with the key of the documentation's example.
fn golden() -> Home {
    let home = Home::new();
    let lines: String = GOLDEN.split_inclusive('\n').take(ROWS).collect();
    home.write(".granted/ledger.jsonl", &lines);
    let book = home.rows()[0]["body"]["book"].as_str().unwrap().parse().unwrap();
    let key = BookKey::new(book, &[7; 32]).unwrap();
    home.write(".granted/book.key", key.to_pem().as_bytes());
    home
}

/// What the independent check says of each of these proofs.
fn judged(home: &Home, proofs: &[String]) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/checkpoint/check.py");
    let mut python = home.other("python3");
    python.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    let lines: String = proofs.iter().map(|proof| format!("{}\n", proof.trim())).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let said: Run = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 0);
    let said: Vec<String> = said.stdout.lines().map(str::to_owned).collect();
    assert_eq!(said.len(), proofs.len());
    said
}

fn prove(home: &Home, row: usize) -> String {
    home.say(&format!("ledger prove {row}")).ok().stdout
}

#[test]
fn a_proof_holds_for_somebody_with_neither_the_ledger_nor_granted() {
    let home = golden();
    let note = home.say("ledger checkpoint").ok().stdout;
    let proofs: Vec<String> = (1..=ROWS).map(|row| prove(&home, row)).collect();
    assert!(judged(&home, &proofs).iter().all(|said| said == "holds"));

    let good: Value = serde_json::from_str(&proofs[5]).unwrap();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut proof = good.clone();
        change(&mut proof);
        assert_ne!(proof, good);
        proof.to_string()
    };
    let text = |field: &'static str, from: &'static str, to: &'static str| {
        changed(&|proof| proof[field] = proof[field].as_str().unwrap().replace(from, to).into())
    };
    let bad = [
        text("row", "confirmed", "confirmeD"),
        text("row", "discharged", "uncertain"),
        text("checkpoint", "\n27\n", "\n28\n"),
        text("checkpoint", "head ", "head  "),
        text("key", "+A", "+B"),
        changed(&|proof| proof["index"] = 6.into()),
        changed(&|proof| drop(proof["proof"].as_array_mut().unwrap().pop())),
        changed(&|proof| proof["proof"][1] = proof["proof"][0].clone()),
        changed(&|proof| proof["kind"] = "granted-row-proof/2".into()),
    ];
    for (said, proof) in judged(&home, &bad).iter().zip(&bad) {
        assert!(said.starts_with("does not hold"), "{proof}");
    }

    // The documentation shows these two.
    assert!(FORMAT.contains(&format!("```text\n{note}```")), "{note}");
    assert!(FORMAT.contains(proofs[2].trim()), "{}", proofs[2]);
}

/// The same rows are proven whatever lies in the place of the nodes that are kept.
#[test]
fn nodes_that_are_missing_damaged_or_wrong_are_made_anew() {
    let home = Home::new();
    home.mint_sheet(0..700);
    home.say("ledger checkpoint").ok();
    let nodes = home.root().join("index/rows.tree");
    let good = std::fs::read(&nodes).unwrap();
    let rows = [1, 2, 255, 256, 257, 512, 513, 600, 701];
    let proofs = || -> Vec<String> { rows.iter().map(|row| prove(&home, *row)).collect() };
    let expected = proofs();
    assert!(judged(&home, &expected).iter().all(|said| said == "holds"));
    let mut damaged = good.clone();
    damaged[60] ^= 1;
    // As somebody would leave them who knows the form.
    let mut forged = good.clone();
    forged[60] ^= 1;
    let end = forged.len() - 32;
    let digest = granted_core::digest::Digest::of(&forged[..end]);
    forged[end..].copy_from_slice(&digest.0);
    for bytes in [None, Some(damaged), Some(forged)] {
        match &bytes {
            None => std::fs::remove_file(&nodes).unwrap(),
            Some(bytes) => std::fs::write(&nodes, bytes).unwrap(),
        }
        assert_eq!(proofs(), expected);
        assert_eq!(std::fs::read(&nodes).unwrap(), good);
    }
    // Those of another ledger, as long.
    let other = Home::new();
    other.mint_sheet(0..700);
    other.say("ledger checkpoint").ok();
    std::fs::copy(other.root().join("index/rows.tree"), &nodes).unwrap();
    assert_eq!(proofs(), expected);
    // A wrong node is not signed either.
    std::fs::copy(other.root().join("index/rows.tree"), &nodes).unwrap();
    home.mint_sheet(700..1_000);
    home.say("ledger checkpoint").ok();
    home.verify();
    assert_eq!(judged(&home, &proofs()), vec!["holds"; rows.len()]);
}

#[test]
fn rows_behind_the_newest_checkpoint_wait_for_the_next() {
    let home = Home::new();
    home.mint("1", "");
    assert!(home.say("ledger prove 1").exits(1).stderr.contains("no checkpoint yet"));
    home.say("ledger checkpoint").ok();
    home.mint("2", "");
    for row in ["0", "3", "9007199254740993"] {
        let refused = home.say(&format!("ledger prove {row}")).exits(1);
        assert!(refused.stderr.contains("covers rows 1 to 2"), "{refused:?}");
    }
    home.say("ledger prove two").exits(2);
    home.say("ledger checkpoint").ok();
    assert_eq!(judged(&home, &[prove(&home, 3)]), ["holds"]);
}

#[test]
fn the_books_key_is_made_once_for_its_owner_only() {
    let home = Home::new();
    home.mint("1", "");
    let path = home.root().join("book.key");
    assert!(!path.exists());
    let begin = || home.command(["ledger", "checkpoint"]).stdout(Stdio::piped()).spawn().unwrap();
    let racers: Vec<_> = (0..8).map(|_| begin()).collect();
    let notes: Vec<Run> =
        racers.into_iter().map(|racer| racer.wait_with_output().unwrap().into()).collect();
    assert!(notes.iter().all(|run| run.code == 0 && run.stdout == notes[0].stdout), "{notes:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let key = std::fs::read(&path).unwrap();
    home.mint("2", "");
    home.say("ledger checkpoint").ok();
    assert_eq!(std::fs::read(&path).unwrap(), key);
    // Other programs read it.
    let shown = home.other("openssl").args(["pkey", "-noout", "-in"]).arg(&path).status().unwrap();
    assert!(shown.success());
    // One that cannot be read is named, and left alone.
    for bad in ["", "no key"] {
        std::fs::write(&path, bad).unwrap();
        let refused = home.say("ledger checkpoint").exits(1);
        assert!(refused.stderr.contains("book.key"), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
    }
}

#[test]
fn nothing_is_signed_that_contradicts_the_newest_checkpoint() {
    let home = Home::new();
    home.mint("1", "");
    let old = home.bytes();
    home.mint("2", "");
    let note = home.say("ledger checkpoint").ok().stdout;
    let newest = home.root().join("checkpoint");
    let signed = std::fs::read_to_string(&newest).unwrap();
    assert_eq!(signed, note);
    let rewritten =
        crate::witness::rechained(&home, 2, "\"minted_by\":\"me\"", "\"minted_by\":\"ed\"");
    for other in [old, rewritten] {
        std::fs::write(home.ledger(), other).unwrap();
        let refused = home.say("ledger checkpoint --json").exits(1);
        assert!(refused.stderr.contains("ledger_rolled_back"), "{refused:?}");
        home.say("ledger prove 1").exits(1);
        assert!(home.say("ledger verify").exits(1).stdout.contains("does not go on from"));
        assert_eq!(std::fs::read_to_string(&newest).unwrap(), signed);
    }
}
