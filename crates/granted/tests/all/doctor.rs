//! The doctor: it names each thing that is wrong, and its commands mend it; it writes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::custody::{UNFIT, mend, spoil};
use crate::home::{Home, Run};

/// A home with everything in it that is looked at, and nothing wrong.
fn furnished() -> Home {
    let home = Home::new();
    home.script("send", "#!/bin/sh\n");
    let witness = home.dir().join("stick/witness");
    fs::create_dir(witness.parent().unwrap()).unwrap();
    let config = "[executors.send]\nargv = [\"./send\"]\n\n[notify]\ncommand = [\"./send\"]\n";
    home.write(".granted/config.toml", format!("witness = [{witness:?}]\n\n{config}"));
    home.mint("x", "");
    home.mint_sheet(0..600);
    home.say("ledger checkpoint").ok();
    home.discharge_in_doubt("x");
    for name in ["index", "acts", "notices"] {
        assert!(home.root().join(name).is_dir(), "{name}");
    }
    home
}

/// What is wrong, by name, with the command that mends it; the exit code must say so too.
#[track_caller]
fn wrong(home: &Home) -> BTreeMap<String, (String, Option<String>)> {
    let run = home.say("doctor --json");
    let checks = run.json()["checks"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let bad = checks.iter().filter(|check| check["ok"] == false);
    let bad: BTreeMap<_, _> = bad
        .map(|check| {
            let problem = text(&check["problem"]).unwrap();
            (text(&check["name"]).unwrap(), (problem, text(&check["mend"])))
        })
        .collect();
    assert_eq!(run.code, i32::from(!bad.is_empty()), "{run:?}");
    bad
}

/// Exactly this is wrong, and said so; the command mends it.
#[track_caller]
fn assert_mended(home: &Home, name: &str, said: &str) {
    let bad = wrong(home);
    assert_eq!(bad.keys().collect::<Vec<_>>(), [name], "{bad:?}");
    let (problem, command) = &bad[name];
    assert!(problem.contains(said), "{problem}");
    mend(home, command.as_deref().unwrap());
    assert_eq!(wrong(home), BTreeMap::new());
}

#[test]
fn each_path_that_somebody_else_could_write_is_named() {
    let home = furnished();
    assert_eq!(wrong(&home), BTreeMap::new());
    for (name, path) in [
        ("home", ""),
        ("config", "config.toml"),
        ("ledger", "ledger.jsonl"),
        ("index", "index"),
        ("tree", "index/rows.tree"),
        ("book.key", "book.key"),
        ("acts", "acts"),
        ("notices", "notices"),
        ("grants", "grants"),
        ("grants/report", "grants/report"),
    ] {
        for (how, said) in UNFIT {
            if spoil(&home.root().join(path), how) {
                assert_mended(&home, name, said);
            }
        }
    }
    for (how, said) in UNFIT {
        if spoil(&home.document("x"), how) {
            assert_mended(&home, "grants/report", said);
        }
        // Both run it.
        if spoil(&home.dir().join("send"), how) {
            let bad = wrong(&home);
            assert_eq!(bad.keys().collect::<Vec<_>>(), ["executor send", "notifier"], "{bad:?}");
            mend(&home, bad["notifier"].1.as_deref().unwrap());
        }
        if spoil(home.dir(), how) {
            let bad = wrong(&home);
            assert!(bad["executor send"].0.contains(said), "{bad:?}");
            mend(&home, bad["executor send"].1.as_deref().unwrap());
        }
    }
    assert_eq!(wrong(&home), BTreeMap::new());
}

#[test]
fn what_lies_in_a_files_place_is_named() {
    for (name, path) in [("config", "config.toml"), ("acts", "acts"), ("notices", "notices")] {
        let home = furnished();
        let (path, kept) = (home.root().join(path), home.dir().join("kept"));
        fs::rename(&path, &kept).unwrap();
        symlink(&kept, &path).unwrap();
        assert_mended(&home, name, "is a symbolic link, not a ");
        assert!(home.other("mkfifo").arg(&path).status().unwrap().success());
        assert_mended(&home, name, "is a FIFO, not a ");
    }
    let home = furnished();
    let (document, kept) = (home.document("x"), home.dir().join("kept"));
    fs::rename(&document, &kept).unwrap();
    symlink(&kept, &document).unwrap();
    assert_mended(&home, "grants/report", "is a symbolic link");
    fs::File::create(&document).unwrap().set_len(70_000).unwrap();
    assert!(wrong(&home)["grants/report"].0.contains("has over 65536 bytes"));
}

#[test]
fn what_is_wrong_with_the_ledger_and_its_index_is_named() {
    let home = furnished();
    let (whole, index) = (home.bytes(), home.root().join("index"));
    // A row that is torn off counts as never written: that is in order.
    fs::write(home.ledger(), [&whole[..], b"{\"at\":"].concat()).unwrap();
    assert_eq!(wrong(&home), BTreeMap::new());
    let found = home.say("doctor").ok().stdout;
    assert!(found.contains("and 6 bytes of an append that was never finished"), "{found}");
    fs::write(home.ledger(), [&whole[..], b"nonsense\n"].concat()).unwrap();
    assert_mended(&home, "rows", "is damaged");
    let whole = home.bytes();
    // Cut back to its first row.
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    fs::write(home.ledger(), &whole[..=first]).unwrap();
    assert!(wrong(&home)["rows"].0.contains("is shorter than it was"));
    fs::remove_file(home.ledger()).unwrap();
    assert!(wrong(&home)["rows"].0.contains("no row, but there are grants"));
    fs::write(home.ledger(), &whole).unwrap();
    fs::write(index.join("x.run"), "nonsense").unwrap();
    assert_mended(&home, "runs", "1 of its files are damaged");
    let mut files = fs::read_dir(&index).unwrap().map(|file| file.unwrap().path());
    let run = files.find(|path| path.extension().is_some_and(|end| end == "run")).unwrap();
    let mut bytes = fs::read(&run).unwrap();
    bytes[0] ^= 1;
    fs::write(&run, bytes).unwrap();
    assert_mended(&home, "runs", "1 of its files are damaged");
}

#[test]
fn what_is_wrong_with_checkpoints_and_what_they_rest_on_is_named() {
    let home = furnished();
    let at = |name: &str| home.root().join(name);
    // The key is a secret.
    fs::set_permissions(at("book.key"), PermissionsExt::from_mode(0o644)).unwrap();
    assert_mended(&home, "book.key", "may be read by others (mode 0644)");
    let key = fs::read(at("book.key")).unwrap();
    fs::write(at("book.key"), "no key").unwrap();
    assert!(wrong(&home).contains_key("book.key"));
    fs::remove_file(at("book.key")).unwrap();
    let bad = wrong(&home);
    assert_eq!(bad.keys().collect::<Vec<_>>(), ["book.key", "newest", "witness"], "{bad:?}");
    fs::write(at("book.key"), key).unwrap();
    fs::set_permissions(at("book.key"), PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(at("index/rows.tree"), "nonsense").unwrap();
    assert_mended(&home, "tree", "damaged");
    fs::write(at("checkpoint"), "nonsense").unwrap();
    assert_mended(&home, "newest", "is no signed note");

    let witness = home.dir().join("stick/witness");
    let note = fs::read(&witness).unwrap();
    fs::write(&witness, "nonsense").unwrap();
    let command = wrong(&home)["witness"].1.clone().unwrap();
    mend(&home, &command);
    assert_mended(&home, "witness", "is missing");
    let command = "mv stick away";
    mend(&home, command);
    assert!(wrong(&home)["witness"].0.contains("stick`: there is no such folder"));
    mend(&home, "mv away stick");
    // A ledger that was put back, which only a person can accept.
    let before = home.bytes();
    home.mint("later", "");
    home.say("revoke --type report --id later").ok();
    fs::write(home.ledger(), before).unwrap();
    let bad = wrong(&home);
    assert_eq!(bad.keys().collect::<Vec<_>>(), ["newest", "witness"], "{bad:?}");
    assert!(bad["witness"].0.ends_with("put the ledger back, or accept it"), "{bad:?}");
    mend(
        &home,
        &bad["witness"].1.clone().unwrap().replace("WHO", "me").replace("TEXT", "restored"),
    );
    assert_eq!(wrong(&home), BTreeMap::new());
    // One of another book.
    let other = Home::new();
    other.say("ledger checkpoint").ok();
    fs::copy(other.root().join("checkpoint"), &witness).unwrap();
    assert!(wrong(&home)["witness"].0.contains("of another book"));
    fs::write(&witness, note).unwrap();
}

#[test]
fn a_home_in_a_project_is_named() {
    let home = furnished();
    let brief = home.write("granted.toml", "");
    let bad = wrong(&home);
    assert_eq!(bad.keys().collect::<Vec<_>>(), ["home"], "{bad:?}");
    assert!(bad["home"].0.starts_with(&format!("`{}` makes all", brief.display())), "{bad:?}");
    assert_eq!(bad["home"].1, Some(format!("mv {} ~", home.root().display())));
    fs::remove_file(brief).unwrap();
    assert_eq!(wrong(&home), BTreeMap::new());
}

#[test]
fn a_clock_behind_the_ledger_is_named() {
    use granted_core::ledger::{By, Door};
    let home = Home::new();
    let clock = granted_testkit::FixedClock::at("2100-01-01T00:00:00Z");
    let by = By { agent: None, door: Door::Cli, host: "box".into(), uid: 0 };
    let ledger = granted_store::FileLedger::new(home.ledger(), std::sync::Arc::new(clock), by);
    granted_core::store::Ledger::append(&ledger, &[granted_testkit::sample::opened()]).unwrap();
    assert_mended(&home, "clock", "2100-01-01");
}

#[test]
fn a_config_or_a_program_that_is_of_no_use_is_named() {
    let home = furnished();
    fs::remove_file(home.dir().join("send")).unwrap();
    let bad = wrong(&home);
    assert_eq!(bad.keys().collect::<Vec<_>>(), ["executor send", "notifier"], "{bad:?}");
    assert!(bad["notifier"].0.contains("does not exist"), "{bad:?}");
    home.write(".granted/config.toml", "nonsense\n");
    assert!(wrong(&home)["config"].0.contains("line 1"));
}

/// Names, sizes, modes and times of everything below a folder.
fn picture(folder: &Path) -> Vec<(String, u64, u32, i64, i64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let name = path.to_str().unwrap().to_owned();
        all.push((name, meta.len(), meta.mode(), meta.mtime(), meta.ctime_nsec()));
        if meta.is_dir() {
            all.extend(picture(&path));
        }
    }
    all.sort();
    all
}

#[test]
fn it_writes_nothing() {
    let empty = Home::new();
    empty.say("doctor").ok();
    assert!(!empty.root().exists());
    let home = furnished();
    spoil(&home.ledger(), "o+w");
    let before = picture(home.dir());
    home.say("doctor").exits(1);
    assert_eq!(picture(home.dir()), before);
}

/// Another user who may only look could change nothing; this one is told what, and what shows it.
#[test]
fn what_remains_is_what_the_caller_could_do() {
    let home = furnished();
    let of = |run: &Run| {
        let remains = run.json()["remains"].as_array().unwrap().clone();
        remains.iter().map(|one| one["could"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mine = of(&home.say("doctor --json").ok());
    assert_eq!(mine.len(), 9, "{mine:?}");
    if !rustix::process::geteuid().is_root() {
        return; // Only root becomes another user.
    }
    let mut other = home.shell(
        "chmod -R a+rX .; chmod go-r .granted/book.key; exec setpriv --reuid=12345 --regid=12345 --clear-groups \
         granted doctor --json",
    );
    let run = Run::from(other.output().unwrap());
    assert_eq!(of(&run), Vec::<String>::new(), "{run:?}");
}

/// The wallet, as far as it is seen without its password.
#[test]
fn the_wallet_is_looked_at() {
    let home = Home::new();
    home.mint("x", "");
    let names = |home: &Home| -> Vec<String> {
        let checks = home.say("doctor --json").json()["checks"].as_array().unwrap().clone();
        checks.iter().map(|check| check["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(&home).contains(&"seed".to_owned()), "there is no wallet");
    let ada = crate::sats::Person {
        home,
        flags: vec!["--network".into(), "regtest".into()],
        vars: vec![],
    };
    ada.init();
    let home = &ada.home;
    assert_eq!(wrong(home), BTreeMap::new());
    for name in ["seed", "sats", "regtest", "regtest payments"] {
        assert!(names(home).contains(&name.to_owned()), "{name}");
    }
    let seed = home.root().join("sats/seed.sealed");
    fs::set_permissions(&seed, PermissionsExt::from_mode(0o644)).unwrap();
    assert_mended(home, "seed", "may be read by others (mode 0644)");
    let record = home.root().join("sats/regtest/transactions");
    fs::create_dir(&record).unwrap();
    for (name, path, text, said) in [
        ("seed", seed, "{}", "it is no sealed seed"),
        ("sats", home.root().join("sats/config.toml"), "network = 7", "line 1"),
        (
            "regtest",
            home.root().join("sats/regtest/wallet.sqlite"),
            "x",
            "there is no wallet in it",
        ),
        ("regtest payments", record.join(format!("{}.json", "0".repeat(64))), "{}", "missing"),
    ] {
        let before = fs::read(&path).ok();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        let bad = wrong(home);
        assert_eq!(bad.keys().collect::<Vec<_>>(), [name], "{bad:?}");
        assert!(bad[name].0.contains(said), "{bad:?}");
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    assert_eq!(wrong(home), BTreeMap::new());
}
