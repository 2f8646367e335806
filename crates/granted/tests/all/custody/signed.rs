//! What checkpoints rest on: the book's key, and the nodes of the tree.

use std::fs;
use std::path::Path;

use granted_core::digest::Digest;

use super::{UNFIT, mend, spoil};
use crate::home::Home;

#[test]
fn a_key_that_somebody_else_could_have_written_signs_and_shows_nothing() {
    let home = Home::new();
    let witness = home.dir().join("stick");
    home.write(".granted/config.toml", format!("witness = [{witness:?}]\n"));
    home.say("ledger checkpoint").ok();
    home.mint("x", "");
    for (how, said) in UNFIT {
        if !spoil(&home.root().join("book.key"), how) {
            continue;
        }
        let said = format!("book.key` {said}");
        for line in [
            "ledger checkpoint",
            "ledger prove 1",
            "ledger verify",
            "mint --type report --id y --by me --for 1h",
        ] {
            let run = home.say(line).exits(1);
            assert!(run.stderr.contains(&said), "{run:?}");
        }
        let refused = home.discharge("x", "touch ran", &[]);
        assert_eq!(refused["reason"], "ledger_unwritable", "{refused}");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(&said), "{detail}");
        mend(&home, detail.rsplit_once("; to mend it: ").unwrap().1);
    }
    assert!(!home.dir().join("ran").exists());
    assert_eq!(home.discharge("x", "true", &[])["reason"], "confirmed");
    home.verify();
}

/// Changes a node, and the file's own digest with it.
fn forge(nodes: &Path) {
    let mut bytes = fs::read(nodes).unwrap();
    bytes[60] ^= 1;
    let end = bytes.len() - 32;
    let digest = Digest::of(&bytes[..end]);
    bytes[end..].copy_from_slice(&digest.0);
    fs::write(nodes, bytes).unwrap();
}

#[test]
fn nodes_that_somebody_else_could_have_written_are_not_signed() {
    let home = Home::new();
    home.mint_sheet(0..600);
    home.say("ledger checkpoint").ok();
    let index = home.root().join("index");
    let nodes = index.join("rows.tree");
    // The first checkpoint has none before it that would show a wrong node.
    let first = || {
        fs::remove_file(home.root().join("checkpoint")).unwrap();
        home.say("ledger checkpoint --out saved").ok();
        home.say("ledger verify --checkpoint saved").code
    };
    for path in [&index, &nodes] {
        for (how, _) in UNFIT {
            forge(&nodes);
            if spoil(path, how) {
                assert_eq!(first(), 0, "{how} {}", path.display());
            }
            // As others cannot: they belong to this user, with modes of its own.
            fs::remove_dir_all(&index).unwrap();
            home.say("ledger checkpoint").ok();
        }
    }
    forge(&nodes);
    assert_eq!(first(), 1, "whoever may write the nodes is believed");
}

/// Nothing is signed that others could have written.
#[test]
fn rows_that_somebody_else_could_have_written_are_not_signed() {
    let home = Home::new();
    home.mint("x", "");
    home.say("ledger checkpoint").ok();
    let before = fs::read(home.root().join("checkpoint")).unwrap();
    for (how, said) in UNFIT {
        if !spoil(&home.ledger(), how) {
            continue;
        }
        let refused = home.say("ledger checkpoint").exits(1);
        assert!(refused.stderr.contains(&format!("ledger.jsonl` {said}")), "{refused:?}");
        assert_eq!(fs::read(home.root().join("checkpoint")).unwrap(), before);
        mend(&home, super::hint(&refused));
    }
    home.say("ledger checkpoint").ok();
}
