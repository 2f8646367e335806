//! Index runs deleted, damaged, cut, foreign, missing one, and ahead of the ledger.

use std::fs;
use std::path::PathBuf;

use granted::{Book, Door, Request, discharge};

use crate::home::Home;

fn runs(home: &Home) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.root().join("index")).into_iter().flatten();
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    runs.sort();
    runs
}

/// A home whose index covers a use, a revocation, and grants that are live.
fn indexed() -> Home {
    let home = Home::new();
    home.mint("used", "");
    home.mint("revoked", "");
    home.discharge("used", "echo ran >> ran", &[]);
    home.say("revoke --type report --id revoked").ok();
    home.mint_sheet(0..700);
    assert_eq!(runs(&home).len(), 1);
    home
}

/// What every object of [`indexed`] is, whatever the index looks like.
#[track_caller]
fn assert_right(home: &Home, what: &str) {
    let expected = [
        ("used", "consumed"),
        ("revoked", "revoked"),
        ("0", "live"),
        ("699", "live"),
        ("700", "none"),
    ];
    for (id, is) in expected {
        assert_eq!(home.status(id), is, "{id}: {what}");
    }
    let again = home.discharge("used", "echo ran >> ran", &[]);
    assert_eq!(again["reason"], "consumed", "{what}");
    assert_eq!(home.count("ran"), 1, "{what}");
}

#[test]
fn a_deleted_index_is_written_anew() {
    let home = indexed();
    assert_right(&home, "whole");
    fs::remove_dir_all(home.root().join("index")).unwrap();
    assert_right(&home, "deleted");
    assert_eq!(runs(&home).len(), 1, "the next appender covers the ledger again");
    fs::remove_file(&runs(&home)[0]).unwrap();
    assert_eq!(home.discharge("3", "true", &[])["outcome"], "discharged");
    assert_right(&home, "deleted twice");
    fs::remove_dir_all(home.root().join("index")).unwrap();
    fs::write(home.root().join("index"), "no folder").unwrap();
    assert_right(&home, "a file");
    home.verify();
}

#[test]
fn a_damaged_or_cut_run_is_not_there() {
    let home = indexed();
    let run = runs(&home).remove(0);
    let whole = fs::read(&run).unwrap();
    // A fixed sequence of places and bits (Knuth's MMIX generator).
    let mut seed: u64 = 11;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut damages: Vec<(String, Vec<u8>)> = Vec::new();
    // The last 152 bytes are the footer.
    let places = [whole.len() - 1, whole.len() - 100, whole.len() - 152, whole.len() - 170, 0];
    let places: Vec<usize> = places.into_iter().chain((0..12).map(|_| next(whole.len()))).collect();
    for place in places {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << next(8);
        damages.push((format!("byte {place}"), bytes));
    }
    for length in [0, 1, 24, whole.len() / 2, whole.len() - 152, whole.len() - 1] {
        damages.push((format!("cut to {length}"), whole[..length].to_vec()));
    }
    damages.push(("longer".into(), [whole.clone(), vec![0; 24]].concat()));
    damages.push(("zeroes".into(), vec![0; whole.len()]));
    damages.push(("text".into(), b"not a run".to_vec()));
    for (what, bytes) in damages {
        for path in runs(&home) {
            fs::remove_file(path).unwrap();
        }
        fs::write(&run, bytes).unwrap();
        assert_right(&home, &what);
    }
    home.verify();
}

#[test]
fn a_run_that_is_no_file_is_not_there() {
    let home = indexed();
    let run = runs(&home).remove(0);
    let kept = home.dir().join("kept");
    fs::rename(&run, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &run).unwrap();
    assert_right(&home, "a link");
    fs::remove_file(&run).unwrap();
    assert!(home.other("mkfifo").arg(&run).status().unwrap().success());
    assert_right(&home, "a FIFO");
    fs::remove_file(&run).unwrap();
    fs::create_dir(&run).unwrap();
    assert_right(&home, "a directory");
    home.verify();
}

#[test]
fn a_run_of_another_ledger_is_not_there() {
    let (home, other) = (indexed(), indexed());
    let (ours, theirs) = (runs(&home).remove(0), runs(&other).remove(0));
    fs::copy(&theirs, &ours).unwrap();
    assert_right(&home, "under our run's name");
    fs::copy(&theirs, ours.with_file_name("0000000000000000-ffffffffffffffff.run")).unwrap();
    assert_right(&home, "beside ours, as the widest");
    home.verify();
}

#[test]
fn a_gap_between_runs_is_searched() {
    let home = indexed();
    home.mint_sheet(1000..1700);
    home.mint_sheet(2000..2700);
    let all = runs(&home);
    assert_eq!(all.len(), 3);
    home.say("revoke --type report --id 1005").ok();
    let copies: Vec<_> = all.iter().map(|path| (path, fs::read(path).unwrap())).collect();
    for missing in &all {
        for (path, bytes) in &copies {
            fs::write(path, bytes).unwrap();
        }
        fs::remove_file(missing).unwrap();
        for (id, is) in
            [("1004", "live"), ("1005", "revoked"), ("2600", "live"), ("used", "consumed")]
        {
            assert_eq!(home.status(id), is, "{id} without {missing:?}");
        }
        assert_right(&home, "a gap");
    }
    home.say("tick").ok();
    assert_right(&home, "merged");
    home.verify();
}

/// Cuts the ledger behind its first `rows` rows.
fn cut(home: &Home, rows: usize) {
    let bytes = home.bytes();
    let length: usize = bytes.split_inclusive(|b| *b == b'\n').take(rows).map(<[u8]>::len).sum();
    fs::write(home.ledger(), &bytes[..length]).unwrap();
}

#[test]
fn a_ledger_behind_its_index_is_rolled_back_until_the_person_accepts() {
    let home = Home::new();
    let grant = home.mint("a", "");
    home.mint("b", "");
    home.mint_sheet(0..700);
    assert_eq!(runs(&home).len(), 1);
    cut(&home, 3);
    assert_eq!(home.status("a"), "live");
    assert_eq!(home.status("5"), "none");

    let refused = home.discharge("a", "echo ran >> ran", &[]);
    assert_eq!(refused["reason"], "ledger_rolled_back", "{refused}");
    assert_eq!(refused["grant_id"], grant.as_str());
    assert_eq!(home.rows().last().unwrap()["body"]["reason"], "ledger_rolled_back");
    let minted = home.say("mint --type report --id c --by me --for 1h --json").exits(1);
    let error: serde_json::Value = serde_json::from_str(&minted.stderr).unwrap();
    assert_eq!(error["error"]["kind"], "ledger_rolled_back");
    home.say("mint --type report --id c --by me --for 1h").exits(1);
    assert_eq!(home.count("ran"), 0);

    // Narrowing goes on, also when there are more rows than before; so does the evidence.
    home.say("revoke --type report --id b").ok();
    assert_eq!(home.status("b"), "revoked");
    home.say("tick").ok();
    assert_eq!(home.discharge("a", "echo ran >> ran", &[])["reason"], "ledger_rolled_back");
    home.verify();

    let accepted = home.say("ledger accept --by me --reason restored --json").ok().json();
    assert!(accepted["accepted"].to_string().contains("rollback"), "{accepted}");
    assert_eq!(
        home.say("ledger accept --by me --reason again").ok().stdout,
        "there is nothing to accept\n"
    );
    assert_eq!(home.discharge("a", "echo ran >> ran", &[])["outcome"], "discharged");
    assert_eq!(home.status("b"), "revoked");
    home.mint("c", "");
    home.verify();
}

#[test]
fn a_rollback_is_seen_however_many_rows_follow_it() {
    let home = Home::new();
    home.mint("a", "");
    home.mint_sheet(0..500);
    cut(&home, 2);
    let run = runs(&home).remove(0);
    let before = fs::read(&run).unwrap();
    let name = run.file_stem().unwrap().to_str().unwrap();
    let covered = u64::from_str_radix(name.split_once('-').unwrap().1, 16).unwrap();
    // Refusals, which use no authority, until the ledger is longer than it ever was.
    let book = Book::open(granted::Home::at(home.root()), Door::Library);
    let request = Request::new("report", &"😀".repeat(256), "closure").unwrap();
    while fs::metadata(home.ledger()).unwrap().len() <= covered {
        discharge(&book, &request, |_, _| panic!("there is no grant"));
    }
    assert_eq!(home.discharge("a", "echo ran >> ran", &[])["reason"], "ledger_rolled_back");
    assert_eq!(fs::read(&run).unwrap(), before);
    home.verify();
}
