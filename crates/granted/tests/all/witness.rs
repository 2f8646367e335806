//! A checkpoint elsewhere, against a ledger that somebody put back, cut or wrote anew.

use std::io::Write as _;
use std::path::PathBuf;

use granted::{Book, Door, Request, Verdict, discharge};
use granted_core::digest::Digest;
use serde_json::{Value, json};

use crate::client::Client;
use crate::home::{Home, Run};

/// A home whose config names a witness, which holds a checkpoint; two grants, of which one is spent.
fn witnessed(more: &str) -> (Home, PathBuf) {
    let home = Home::new();
    let path = home.dir().join("stick/granted.checkpoint");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    home.write(".granted/config.toml", format!("witness = [{path:?}]\n{more}"));
    home.say("ledger checkpoint").ok();
    home.mint("spent", "");
    home.mint("open", "");
    assert_eq!(home.discharge("spent", "true", &[])["reason"], "confirmed");
    (home, path)
}

/// A server asks before each call, not when it starts.
#[test]
fn a_server_asks_and_tells_the_witness() {
    let (home, path) = witnessed("");
    let before = home.bytes();
    let mut client = Client::legacy(&home, &["--executor", "run=echo ran >> ran"]);
    let call = |client: &mut Client, id: &str| {
        let object = json!({"type": "report", "id": id, "executor": "run"});
        client.call("grant_discharge", object)["reason"].take()
    };
    assert_eq!(call(&mut client, "open"), "confirmed");
    let note = std::fs::read_to_string(&path).unwrap();
    assert_eq!(note.lines().nth(1), Some("9"));
    let document = std::fs::read_to_string(home.document("open")).unwrap();
    std::fs::write(home.ledger(), before).unwrap();
    std::fs::write(home.document("open"), document.replace("true", "false")).unwrap();
    assert_eq!(call(&mut client, "open"), "ledger_rolled_back");
    assert_eq!(home.count("ran"), 1);
    // What a person accepts meanwhile counts for it too, though the ledger has fewer rows now.
    home.say("ledger accept --by me --reason restored").ok();
    home.mint("next", "");
    assert_eq!(call(&mut client, "next"), "confirmed");
    assert!(home.say("ledger verify").ok().stdout.ends_with("witnessed up to the last row\n"));
    client.end();
}

/// The ledger with a text in a row replaced, and the chain of all rows behind it made to fit.
pub fn rechained(home: &Home, row: usize, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(home.bytes()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines[row - 1].contains(from), "{}", lines[row - 1]);
    lines[row - 1] = lines[row - 1].replace(from, to);
    for at in row..lines.len() {
        let (head, rest) = lines[at].split_once("\"prev\":\"").unwrap();
        let prev = Digest::of(lines[at - 1].as_bytes());
        lines[at] = format!("{head}\"prev\":\"{prev}{}", &rest[64..]);
    }
    lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

fn error(run: &Run) -> Value {
    serde_json::from_str::<Value>(run.stderr.lines().last().unwrap()).unwrap()["error"].take()
}

/// Nobody uses or widens authority, and the answer says this.
#[track_caller]
fn refuses(home: &Home, says: &str) {
    let minted = home.say("mint --type report --id new --by me --for 1h --json").exits(1);
    let minted = error(&minted);
    assert_eq!(minted["kind"], "ledger_rolled_back", "{minted}");
    assert!(minted["message"].as_str().unwrap().contains(says), "{minted}");
    let report = home.discharge("open", "touch ran", &[]);
    assert_eq!(report["reason"], "ledger_rolled_back", "{report}");
    assert!(report["detail"].as_str().unwrap().contains(says), "{report}");
    let book = Book::open(granted::Home::at(home.root()), Door::Library);
    let request = Request::new("report", "open", "closure").unwrap();
    let report = discharge(&book, &request, |_, _| Verdict::Done);
    assert_eq!(report.reason.as_str(), "ledger_rolled_back", "{report}");
    assert!(!home.dir().join("ran").exists());
}

#[test]
fn what_ends_an_act_or_a_grant_is_told_to_the_witness() {
    let (home, path) = witnessed("");
    let rows = || {
        let note = std::fs::read_to_string(&path).unwrap();
        note.lines().nth(1).unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(rows(), home.rows().len());
    assert_eq!(
        std::fs::read_to_string(home.root().join("checkpoint")).unwrap(),
        std::fs::read_to_string(&path).unwrap()
    );
    let verified = home.say("ledger verify").ok().stdout;
    assert!(verified.ends_with("witnessed up to the last row\n"), "{verified}");
    // Neither a mint nor a refusal takes anything away.
    let before = rows();
    home.mint("more", "");
    assert_eq!(home.discharge("spent", "true", &[])["reason"], "consumed");
    assert_eq!(rows(), before);
    let verified = home.say("ledger verify --json").ok().json();
    assert_eq!(verified["witnessed"], before);
    assert_eq!(verified["rows"], before + 2);
    home.say("revoke --type report --id more").ok();
    assert_eq!(rows(), before + 3);
    assert_eq!(home.discharge("open", "exit 75", &[])["reason"], "executor_declined");
    assert_eq!(rows(), home.rows().len());
}

#[test]
fn a_tail_that_was_cut_off_is_missed() {
    let (home, path) = witnessed("");
    let document = std::fs::read(home.document("open")).unwrap();
    let before = home.bytes();
    assert_eq!(home.discharge("open", "true", &[])["reason"], "confirmed");
    let note = std::fs::read(&path).unwrap();
    std::fs::write(home.ledger(), before).unwrap();
    std::fs::write(home.document("open"), document).unwrap();
    refuses(&home, "the ledger has 6");
    // Also when it has as many rows again; and what only narrows goes on.
    home.say("revoke --type report --id open").ok();
    home.say("tick").ok();
    for _ in 0..3 {
        home.discharge("open", "true", &[]);
    }
    refuses(&home, "the ledger has others");
    assert_eq!(std::fs::read(&path).unwrap(), note, "the evidence stays");
    let verified = home.say("ledger verify").exits(1);
    assert!(verified.stdout.contains("at least one of the rows 1 to 9 is another"), "{verified:?}");
}

#[test]
fn an_older_ledger_with_its_own_checkpoint_is_not_the_newest() {
    let (home, _) = witnessed("");
    home.say("ledger checkpoint").ok();
    let old = home.dir().join("old");
    let copy = |from: PathBuf, to: PathBuf| {
        Run::from(home.other("cp").arg("-a").args([from, to]).output().unwrap()).ok();
    };
    copy(home.root(), old.clone());
    assert_eq!(home.discharge("open", "true", &[])["reason"], "confirmed");
    std::fs::remove_dir_all(home.root()).unwrap();
    copy(old, home.root());
    // By itself it is whole.
    let verified = home.say("ledger verify").exits(1);
    assert!(verified.stdout.contains("6 rows are whole"), "{verified:?}");
    assert!(verified.stdout.contains("it is of 9 rows and there are 6"), "{verified:?}");
    refuses(&home, "has a checkpoint of 9 rows");
}

#[test]
fn a_middle_that_was_written_anew_with_its_chain_is_another() {
    let (home, path) = witnessed("");
    let saved = home.dir().join("saved");
    std::fs::copy(&path, &saved).unwrap();
    let forged = rechained(&home, 3, "\"minted_by\":\"me\"", "\"minted_by\":\"ed\"");
    let document = home.document("open");
    let text = std::fs::read_to_string(&document).unwrap();
    std::fs::write(&document, text.replace("\"me\"", "\"ed\"")).unwrap();
    std::fs::write(home.ledger(), forged).unwrap();
    std::fs::remove_file(home.root().join("checkpoint")).unwrap();
    refuses(&home, "the ledger has others");
    // Without the witness nothing tells, but for whoever kept a checkpoint.
    home.write(".granted/config.toml", "");
    assert!(home.say("ledger verify").ok().stdout.contains("unwitnessed since row 1"));
    let verified = home.say("ledger verify --checkpoint saved").exits(1);
    assert!(verified.stdout.contains("at least one of the rows 1 to 6 is another"), "{verified:?}");
}

#[test]
fn two_ledgers_in_one_are_none() {
    let (home, _) = witnessed("");
    let (other, theirs) = witnessed("");
    let merged = [home.bytes(), other.bytes()].concat();
    let ours = home.bytes();
    std::fs::write(home.ledger(), &merged).unwrap();
    let verified = home.say("ledger verify").exits(1);
    assert!(verified.stdout.contains("damaged: line 7 "), "{verified:?}");
    assert_eq!(home.discharge("open", "touch ran", &[])["reason"], "ledger_unwritable");
    assert!(!home.dir().join("ran").exists());
    // The other book's checkpoint says whose it is.
    std::fs::write(home.ledger(), ours).unwrap();
    let verified = home.run(["ledger", "verify", "--checkpoint", theirs.to_str().unwrap()]);
    assert!(verified.exits(1).stdout.contains("it is of another book"));
}

#[test]
fn a_witness_of_another_book_is_named_and_left_alone() {
    let (home, _) = witnessed("");
    let (_other, theirs) = witnessed("");
    let note = std::fs::read(&theirs).unwrap();
    home.write(".granted/config.toml", format!("witness = [{theirs:?}]\n"));
    refuses(&home, "is of another book");
    home.say("ledger checkpoint").exits(1);
    home.say("revoke --type report --id open").ok();
    assert!(home.say("ledger accept --by me --reason none").ok().stdout.contains("nothing"));
    assert_eq!(std::fs::read(&theirs).unwrap(), note);
}

#[test]
fn a_home_that_is_gone_is_not_begun_anew() {
    let (home, _) = witnessed("");
    for what in ["ledger.jsonl", "book.key", "checkpoint"] {
        std::fs::remove_file(home.root().join(what)).unwrap();
    }
    std::fs::remove_dir_all(home.root().join("grants")).unwrap();
    refuses(&home, "the ledger holds none");
    home.say("ledger checkpoint").exits(1);
    assert!(!home.ledger().exists());
}

#[test]
fn without_its_key_a_witness_says_nothing_that_counts() {
    let (home, _) = witnessed("");
    std::fs::remove_file(home.root().join("book.key")).unwrap();
    refuses(&home, "`book.key`, is gone");
    // Another key does not help.
    home.write(".granted/config.toml", "");
    home.say("ledger checkpoint").ok();
    let path = home.dir().join("stick/granted.checkpoint");
    home.write(".granted/config.toml", format!("witness = [{path:?}]\n"));
    refuses(&home, "it is not signed by");
}

#[test]
fn accepting_closes_what_could_be_revived_and_moves_the_witness_on() {
    let (home, path) = witnessed("");
    let document = std::fs::read(home.document("open")).unwrap();
    let before = home.bytes();
    assert_eq!(home.discharge("open", "true", &[])["reason"], "confirmed");
    std::fs::write(home.ledger(), before).unwrap();
    std::fs::write(home.document("open"), document).unwrap();
    refuses(&home, "has a checkpoint of 9 rows");
    let accepted = home.say("ledger accept --by me --reason restored --json").ok().json();
    assert_eq!(accepted["accepted"][0]["rollback"]["rows"], 9);
    assert_eq!(accepted["closed"].as_array().unwrap().len(), 1, "{accepted}");
    assert_eq!(home.discharge("open", "touch ran", &[])["reason"], "consumed");
    assert!(!home.dir().join("ran").exists());
    home.mint("next", "");
    assert_eq!(home.discharge("next", "true", &[])["reason"], "confirmed");
    let verified = home.say("ledger verify").ok().stdout;
    assert!(verified.ends_with("witnessed up to the last row\n"), "{verified}");
    // There is nothing left to accept, and a checkpoint that covers damage goes with it.
    assert!(home.say("ledger accept --by me --reason x").ok().stdout.contains("nothing"));
    let text = String::from_utf8(home.bytes()).unwrap();
    let last = text.lines().last().unwrap();
    std::fs::write(home.ledger(), text.replace(last, &last.replace("\"v\":1", "\"v\":01")))
        .unwrap();
    home.say("ledger accept --by me --reason edited").ok();
    home.mint("last", "");
    home.verify();
    let note = std::fs::read_to_string(&path).unwrap();
    assert_eq!(note, std::fs::read_to_string(home.root().join("checkpoint")).unwrap());
}

#[test]
fn a_witness_that_cannot_be_used_is_a_word_or_a_refusal() {
    for (what, says) in [
        ("missing", "is missing"),
        ("no note", "it is no signed note"),
        ("a directory", "is a directory"),
        ("no folder", "is missing"),
    ] {
        for required in [false, true] {
            let (home, path) = witnessed(&format!("witness_required = {required}\n"));
            std::fs::remove_file(&path).unwrap();
            match what {
                "no note" => std::fs::write(&path, "half a no").unwrap(),
                "a directory" => std::fs::create_dir(&path).unwrap(),
                "no folder" => std::fs::remove_dir(path.parent().unwrap()).unwrap(),
                _ => {}
            }
            let mut args = vec!["discharge", "--type", "report", "--id", "open"];
            args.extend(["--exec", "echo ran >> ran"]);
            let run = home.run(args);
            let told = if required { &run.stdout } else { &run.stderr };
            assert_eq!(run.code, if required { 3 } else { 0 }, "{what}: {run:?}");
            assert!(told.contains("the witness `") && told.contains(says), "{what}: {run:?}");
            assert_eq!(home.count("ran"), usize::from(!required));
            let minted = home.say("mint --type report --id b --by me --for 1h --json");
            assert_eq!(minted.code, i32::from(required), "{minted:?}");
            if required {
                assert_eq!(error(&minted)["kind"], "ledger_unwritable");
            }
            // It is not begun by itself.
            assert_eq!(path.is_file(), what == "no note");
            // And what only narrows does not ask it.
            home.say("revoke --type report --id b").exits(i32::from(required));
            if what == "missing" {
                home.say("ledger checkpoint").ok();
                assert!(home.mint("c", "").len() == 26);
            }
        }
    }
}

/// A required witness that could not be written afterwards is found before anything runs.
#[test]
fn a_required_witness_must_be_writable_beforehand() {
    let (home, path) = witnessed("witness_required = true\n");
    let folder = path.parent().unwrap();
    // In a mount namespace of its own, where the folder is read-only; there a user is root, too.
    let script = format!(
        "mount --bind {0} {0} && mount -o remount,ro,bind {0} && \
         exec granted discharge --type report --id open --exec 'touch ran'",
        folder.display()
    );
    let run =
        home.other("unshare").args(["--mount", "--map-root-user", "sh", "-c", &script]).output();
    let run = Run::from(run.unwrap());
    if run.stderr.starts_with("unshare: ") {
        let _ = writeln!(std::io::stderr(), "not tested: mounting is not permitted here");
        return;
    }
    assert_eq!(run.code, 3, "{run:?}");
    assert!(
        run.stdout.contains("ledger_unwritable") && run.stdout.contains("cannot be written"),
        "{run:?}"
    );
    assert!(!home.dir().join("ran").exists());
}

#[test]
fn a_config_with_a_mistake_stops_authority_and_nothing_else() {
    let (home, _) = witnessed("");
    let rows = home.rows().len();
    home.write(".granted/config.toml", "witness = [\"not/absolute\"]\n");
    for line in [
        "mint --type report --id b --by me --for 1h --json",
        "discharge --type report --id open --json --exec true",
        "ledger verify --json",
        "ledger checkpoint --json",
    ] {
        assert_eq!(error(&home.say(line).exits(1))["kind"], "config", "{line}");
    }
    assert_eq!(home.rows().len(), rows);
    home.say("status --type report --id open").ok();
    let revoked = home.say("revoke --type report --id open").ok();
    assert!(revoked.stderr.contains("no witness was told"), "{revoked:?}");
}

#[test]
fn several_witnesses_are_each_asked_and_told() {
    let (home, first) = witnessed("");
    let second = home.dir().join("second");
    home.write(".granted/config.toml", format!("witness = [{first:?}, {second:?}]\n"));
    home.say("ledger checkpoint").ok();
    let old = std::fs::read(&first).unwrap();
    assert_eq!(home.discharge("open", "true", &[])["reason"], "confirmed");
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    // One that lags is no evidence against the ledger, and catches up.
    std::fs::write(&first, old).unwrap();
    home.mint("b", "");
    assert_eq!(home.discharge("b", "true", &[])["reason"], "confirmed");
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
}
