//! The ledger replaced, extended, cut and deleted by somebody else, also while a book is open.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;

use granted::{
    Book, Door, Home as Places, Json, Object, Report, Request, Status, Verdict, discharge, status,
};

use crate::home::{Home, Run};

const STATUS: &str = "status --type report --id x";
const MINT: &str = "mint --type report --id y --by me --for 1h";

fn attempt(home: &Home) -> Run {
    home.run(["discharge", "--type", "report", "--id", "x", "--exec", "echo ran >> ran"])
}

/// Reading says that it cannot, deciding refuses, and nothing is left behind.
fn assert_useless(home: &Home, what: &str) {
    for verb in [STATUS, "list", "ledger", "ledger verify", "tick", MINT] {
        let run = home.say(verb).exits(1);
        assert!(run.stderr.contains(what), "{verb}: {run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    let run = attempt(home).exits(3);
    assert!(run.stdout.starts_with("refused: ledger_unwritable (report/x) -- "), "{run:?}");
    assert!(run.stdout.contains(what), "{run:?}");
    assert_eq!(home.count("ran"), 0);
    assert_eq!(fs::read_dir(home.root().join("grants/report")).unwrap().count(), 1);
}

#[test]
fn a_ledger_that_is_no_plain_file_is_neither_read_nor_written() {
    let home = Home::new();
    home.mint("x", "");
    let (ledger, kept) = (home.ledger(), home.dir().join("kept.jsonl"));
    fs::rename(&ledger, &kept).unwrap();
    let before = fs::read(&kept).unwrap();

    fs::create_dir(&ledger).unwrap();
    assert_useless(&home, "is a directory");
    fs::remove_dir(&ledger).unwrap();

    assert!(home.other("mkfifo").arg(&ledger).status().unwrap().success());
    assert_useless(&home, "is a FIFO");
    fs::remove_file(&ledger).unwrap();

    let _socket = std::os::unix::net::UnixListener::bind(&ledger).unwrap();
    assert_useless(&home, "is a socket");
    fs::remove_file(&ledger).unwrap();

    for target in [kept.as_path(), Path::new("/dev/full"), Path::new("nowhere")] {
        symlink(target, &ledger).unwrap();
        assert_useless(&home, "is a symbolic link");
        fs::remove_file(&ledger).unwrap();
    }

    assert_eq!(fs::read(&kept).unwrap(), before);
    fs::rename(&kept, &ledger).unwrap();
    attempt(&home).ok();
    home.verify();
}

#[test]
fn a_device_as_ledger_is_refused_and_nothing_is_made_beside_it() {
    let home = Home::new();
    let had_acts = Path::new("/dev/acts").exists();
    let run = |args: &str| -> Run {
        let mut command = home.command(args.split(' '));
        command.env("GRANTED_LEDGER", "/dev/full").output().unwrap().into()
    };
    run(STATUS).exits(1);
    run(MINT).exits(1);
    let refused = run("discharge --type report --id x --exec true").exits(3);
    assert!(refused.stdout.contains("refused: ledger_unwritable"), "{refused:?}");
    assert!(refused.stdout.contains("is a device"), "{refused:?}");
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    assert_eq!(Path::new("/dev/acts").exists(), had_acts);
    assert!(!home.root().join("grants").exists());
}

#[test]
fn without_a_place_for_its_lock_nothing_acts() {
    let home = Home::new();
    home.mint("x", "");
    let acts = home.root().join("acts");
    let before = home.bytes();
    fs::write(&acts, "no folder").unwrap();
    attempt(&home).exits(3);
    fs::remove_file(&acts).unwrap();
    symlink("nowhere", &acts).unwrap();
    let refused = attempt(&home).exits(3);
    assert!(refused.stdout.starts_with("refused: ledger_unwritable (report/x)"), "{refused:?}");
    assert_eq!(home.status("x"), "live");
    assert_eq!((home.bytes(), home.count("ran")), (before, 0));
    fs::remove_file(&acts).unwrap();
    attempt(&home).ok();
}

/// Puts these bytes where line `after + 1` begins.
fn insert(home: &Home, after: usize, bytes: &[u8]) {
    let ledger = home.bytes();
    let mut lines: Vec<&[u8]> = ledger.split_inclusive(|byte| *byte == b'\n').collect();
    lines.insert(after, bytes);
    fs::write(home.ledger(), lines.concat()).unwrap();
}

/// Deciding refuses and names the line; reading works; accepting moves the tail aside.
fn assert_damaged_at(home: &Home, line: usize) {
    let damaged = home.bytes();
    let rows = damaged.iter().filter(|byte| **byte == b'\n').count();
    let named = format!("at line {line} (byte ");
    let refused = attempt(home).exits(3);
    assert!(refused.stdout.contains("refused: "), "{refused:?}");
    let minted = home.say(MINT).exits(1);
    assert!(minted.stderr.contains(&named), "{minted:?}");
    let verified = home.say("ledger verify").exits(1);
    assert!(verified.stdout.contains(&format!("damaged: line {line} (byte ")), "{verified:?}");
    let shown = home.say("ledger --tail 1000").ok();
    assert_eq!(shown.stdout.lines().count(), rows, "{shown:?}");
    assert_eq!(home.bytes(), damaged, "nothing was written");

    home.say("ledger accept --by me --reason looked").ok();
    home.verify();
    let torn = fs::read_dir(home.root()).unwrap().map(|entry| entry.unwrap().path());
    let torn = torn.filter(|path| path.to_str().unwrap().contains("ledger.torn-"));
    let moved = torn.map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    assert_eq!(moved.len(), 1);
    let start: usize =
        damaged.split_inclusive(|b| *b == b'\n').take(line - 1).map(<[u8]>::len).sum();
    assert_eq!(moved[0], damaged[start..], "every byte is kept");
    let what = &home.rows_of("ledger.accepted")[0]["body"]["what"];
    assert!(what.to_string().contains("damage"), "{what}");
}

#[test]
fn a_foreign_line_at_the_end_stops_deciding_until_it_is_accepted() {
    for number in 0..7 {
        let home = Home::new();
        home.mint("x", "");
        let ledger = home.bytes();
        let mut lines = ledger.split_inclusive(|byte| *byte == b'\n');
        let bytes = match number {
            0 => b"hello\n".to_vec(),
            1 => b"\n".to_vec(),
            2 => b"{\"a\":1}\n".to_vec(),
            3 => b"\xff\xfe\n".to_vec(),
            4 => [b"x".repeat(100_000), b"\n".to_vec()].concat(),
            5 => lines.next().unwrap().to_vec(),
            _ => lines.next_back().unwrap().to_vec(),
        };
        let mut file = fs::OpenOptions::new().append(true).open(home.ledger()).unwrap();
        file.write_all(&bytes).unwrap();
        assert_eq!(home.status("x"), "live", "{number}");
        assert_damaged_at(&home, 3);
        // The last of them is a row that moves the grant, and whatever it was before the damage,
        // accepting revives nothing.
        let (status, code) = if number == 6 { ("consumed", 3) } else { ("live", 0) };
        assert_eq!(home.status("x"), status, "{bytes:?}");
        attempt(&home).exits(code);
        home.verify();
    }
}

#[test]
fn a_foreign_line_in_the_middle_closes_the_grants_used_behind_it() {
    let home = Home::new();
    for id in ["x", "kept", "revoked", "declined"] {
        home.mint(id, "");
    }
    attempt(&home).ok();
    home.say("revoke --type report --id revoked").ok();
    home.discharge("declined", "exit 75", &[]);
    home.mint("behind", "");
    home.mint("late", "");
    home.discharge("late", "true", &[]);
    insert(&home, 5, b"hello\n");
    assert_eq!(home.status("x"), "consumed");
    assert_damaged_at(&home, 6);
    // What was claimed or revoked in what was moved stays closed; what was not is as it was.
    for (id, is) in [
        ("x", "consumed"),
        ("revoked", "consumed"),
        ("declined", "consumed"),
        ("kept", "live"),
        ("behind", "none"),
        ("late", "none"),
    ] {
        assert_eq!(home.status(id), is, "{id}");
    }
    attempt(&home).exits(3);
    assert_eq!(home.count("ran"), 1);
    assert_eq!(home.discharge("kept", "true", &[])["outcome"], "discharged");
    let ticked = home.say("tick").ok();
    let orphans: Vec<_> = ticked.stdout.lines().map(|line| line.starts_with("orphan ")).collect();
    assert_eq!(orphans, [true, true], "{ticked:?}");
    assert!(ticked.stdout.contains(" report/behind~"), "{ticked:?}");
    assert!(ticked.stdout.contains(" report/late~"), "{ticked:?}");
    home.verify();
}

#[test]
fn a_row_changed_in_place_is_found() {
    let home = Home::new();
    home.mint("x", "");
    home.mint("z", "");
    let changed = String::from_utf8(home.bytes()).unwrap().replacen("report/x", "report/w", 1);
    fs::write(home.ledger(), changed).unwrap();
    assert!(home.say("ledger verify").exits(1).stdout.contains("damaged: line "));
    attempt(&home).exits(3);
    assert_eq!(home.count("ran"), 0);
    home.say(MINT).exits(1);
}

fn book(home: &Home) -> Book {
    Book::open(Places::at(home.root()), Door::Library)
}

fn object() -> Object {
    Object { id: "x".parse().unwrap(), r#type: "report".parse().unwrap() }
}

fn act(book: &Book, id: &str, during: impl FnOnce()) -> Report {
    let request = Request::new("report", id, "closure").unwrap();
    discharge(book, &request, |_, act| {
        during();
        act.result(true, Some(Json::Bool(true)));
        Verdict::Done
    })
}

fn never() {
    panic!("nothing may be carried out");
}

#[test]
fn an_open_book_sees_another_ledger_at_once_and_leaves_the_old_one_alone() {
    let (home, other) = (Home::new(), Home::new());
    home.mint("x", "");
    home.mint("first", "");
    other.mint("y", "");
    let book = book(&home);
    // It has read, locked and appended before.
    assert_eq!(act(&book, "first", || ()).reason.as_str(), "confirmed");
    assert_eq!(status(&book, &object()).unwrap().status, Status::Live);

    let old = home.dir().join("old.jsonl");
    fs::hard_link(home.ledger(), &old).unwrap();
    let before = fs::read(&old).unwrap();
    fs::rename(other.ledger(), home.ledger()).unwrap();
    assert_eq!(status(&book, &object()).unwrap().status, Status::None);
    assert_eq!(act(&book, "x", never).reason.as_str(), "none");
    assert_eq!(fs::read(&old).unwrap(), before);
    assert_eq!(home.rows().len(), 3);
    assert_eq!(home.rows_of("decision.outcome")[0]["body"]["about"]["object"]["id"], "x");
    home.verify();

    fs::rename(&old, home.ledger()).unwrap();
    assert_eq!(act(&book, "x", || ()).reason.as_str(), "confirmed");
    home.verify();
}

#[test]
fn a_ledger_replaced_during_the_act_confirms_nothing() {
    let (home, other) = (Home::new(), Home::new());
    home.mint("x", "");
    other.mint("y", "");
    let theirs = other.bytes();
    let book = book(&home);
    let old = home.dir().join("old.jsonl");
    let report = act(&book, "x", || {
        fs::hard_link(home.ledger(), &old).unwrap();
        fs::rename(other.ledger(), home.ledger()).unwrap();
    });
    assert_eq!(report.reason.as_str(), "no_result_row", "{report}");
    assert_eq!(home.bytes(), theirs, "the other ledger is not written");
    drop(book);
    // The old one still holds the claim: interrupted, and spent.
    fs::rename(&old, home.ledger()).unwrap();
    assert_eq!(home.status("x"), "consumed");
    assert!(home.say("tick").ok().stdout.starts_with("interrupted report/x"));
    home.verify();
}

#[test]
fn a_ledger_deleted_under_an_open_book_is_no_clean_slate() {
    let home = Home::new();
    home.mint("x", "");
    home.mint("first", "");
    let book = book(&home);
    assert_eq!(act(&book, "first", || ()).reason.as_str(), "confirmed");
    let (opened, ledger) = (home.rows()[0].clone(), home.bytes());
    fs::remove_file(home.ledger()).unwrap();
    assert_eq!(status(&book, &object()).unwrap().status, Status::None);
    // Its documents tell that there was one.
    assert_eq!(act(&book, "x", never).reason.as_str(), "ledger_rolled_back");
    let minted = home.say(MINT).exits(1);
    assert!(minted.stderr.contains("put the ledger back"), "{minted:?}");
    assert!(!home.ledger().exists());
    fs::write(home.ledger(), ledger).unwrap();
    assert_eq!(act(&book, "x", || ()).reason.as_str(), "confirmed");
    // Moved away with the ledger, they leave a new book.
    fs::rename(home.root().join("grants"), home.dir().join("old")).unwrap();
    fs::remove_file(home.ledger()).unwrap();
    home.mint("y", "");
    assert_ne!(home.rows()[0]["body"]["book"], opened["body"]["book"]);
    home.verify();
}

#[test]
fn a_ledger_deleted_during_the_act_confirms_nothing() {
    let home = Home::new();
    home.mint("x", "");
    let book = book(&home);
    let report = act(&book, "x", || fs::remove_file(home.ledger()).unwrap());
    assert_eq!(report.reason.as_str(), "no_result_row", "{report}");
    assert!(!home.ledger().exists());
}
