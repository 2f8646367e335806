//! Proofs: two verifiers agree on good and on changed ones, and the program makes good ones.

use std::path::Path;

use granted_testkit::forged;
use granted_testkit::proofs::{Good, good};
use serde::{Deserialize, Serialize};

use crate::home::{GRANTED, Home, Run};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify/verify_proof.py");

/// A proof as it lies in the file, its fields in canonical order.
#[derive(Clone, Serialize, Deserialize)]
struct Parts {
    checkpoint: String,
    grant: String,
    hashes: Vec<String>,
    key: String,
    kind: String,
    rows: Vec<(u64, String)>,
}

impl Parts {
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap() + "\n"
    }
}

/// Changes one character, to one that is as good there.
fn turn(text: &mut String, at: usize) {
    let old = text.as_bytes()[at];
    let new = match old {
        b'A' | b'a' | b'0' => old + 1,
        b'1'..=b'9' | b'B'..=b'Z' | b'b'..=b'z' => old - 1,
        _ => b'x',
    };
    let new = char::from(new).to_string();
    text.replace_range(at..=at, &new);
}

fn replace(text: &mut String, from: &str, to: &str) {
    assert!(text.contains(from), "{from}: {text}");
    *text = text.replacen(from, to, 1);
}

type Change = fn(&mut Parts);

/// One change each, in a part of the file, which is written canonically again.
const CHANGES: &[(&str, Change)] = &[
    ("the first byte of a row", |p| turn(&mut p.rows[0].1, 0)),
    ("the time of a row", |p| turn(&mut p.rows[0].1, 10)),
    ("the middle of a row", |p| {
        let middle = p.rows[1].1.len() / 2;
        turn(&mut p.rows[1].1, middle);
    }),
    ("the last byte of a row", |p| {
        let last = p.rows[2].1.len() - 1;
        turn(&mut p.rows[2].1, last);
    }),
    ("a longer row", |p| p.rows[1].1.push(' ')),
    ("an empty row", |p| p.rows[1].1.clear()),
    ("an outcome", |p| {
        let row = p.rows.iter_mut().rfind(|(_, row)| row.contains("confirmed")).unwrap();
        replace(&mut row.1, "\"reason\":\"confirmed\"", "\"reason\":\"timeout\"");
    }),
    ("the end of the window", |p| {
        let row = p.rows.iter_mut().find(|(_, row)| row.contains("not_after")).unwrap();
        replace(&mut row.1, "\"not_after\":\"2026", "\"not_after\":\"2027");
    }),
    ("rows swapped", |p| p.rows.swap(1, 2)),
    ("the lines of rows swapped", |p| {
        let (one, two) = (p.rows[1].1.clone(), p.rows[2].1.clone());
        (p.rows[1].1, p.rows[2].1) = (two, one);
    }),
    ("the first row gone", |p| drop(p.rows.remove(0))),
    ("a row gone", |p| drop(p.rows.remove(2))),
    ("the last row gone", |p| drop(p.rows.pop())),
    ("no rows", |p| p.rows.clear()),
    ("a row twice", |p| p.rows.insert(1, p.rows[0].clone())),
    ("a row more", |p| p.rows.push((9_999_999, "{}".into()))),
    ("another number of a row", |p| p.rows[1].0 += 1),
    ("the number 0", |p| p.rows[0].0 = 0),
    ("the largest number", |p| p.rows.last_mut().unwrap().0 = u64::MAX),
    ("the first hash", |p| turn(&mut p.hashes[0], 5)),
    ("the last hash", |p| turn(p.hashes.last_mut().unwrap(), 40)),
    ("a hash gone", |p| drop(p.hashes.remove(0))),
    ("the last hash gone", |p| drop(p.hashes.pop())),
    ("no hashes", |p| p.hashes.clear()),
    ("a hash twice", |p| p.hashes.push(p.hashes[0].clone())),
    ("the hashes turned round", |p| {
        p.hashes.push("A".repeat(43) + "=");
        p.hashes.reverse();
    }),
    ("a hash cut off", |p| p.hashes[0].truncate(40)),
    ("a hash with bits too many", |p| p.hashes[0].replace_range(42..43, "B")),
    ("a hash that is no base 64", |p| p.hashes[0].replace_range(0..1, "-")),
    ("the book of the checkpoint", |p| turn(&mut p.checkpoint, 20)),
    ("the size", |p| {
        let size = p.checkpoint.lines().nth(1).unwrap().to_owned();
        replace(&mut p.checkpoint, &format!("\n{size}\n"), &format!("\n1{size}\n"));
    }),
    ("a size of 0", |p| {
        let size = p.checkpoint.lines().nth(1).unwrap().to_owned();
        replace(&mut p.checkpoint, &format!("\n{size}\n"), "\n0\n");
    }),
    ("a size with a zero before it", |p| {
        let size = p.checkpoint.lines().nth(1).unwrap().to_owned();
        replace(&mut p.checkpoint, &format!("\n{size}\n"), &format!("\n0{size}\n"));
    }),
    ("the root", |p| {
        let at = p.checkpoint.find("\nhead").unwrap() - 20;
        turn(&mut p.checkpoint, at);
    }),
    ("the head", |p| {
        let at = p.checkpoint.find("head ").unwrap() + 8;
        turn(&mut p.checkpoint, at);
    }),
    ("a line more in the checkpoint", |p| replace(&mut p.checkpoint, "\n\n", "\nmore\n\n")),
    ("the signature of the checkpoint", |p| {
        let at = p.checkpoint.len() - 20;
        turn(&mut p.checkpoint, at);
    }),
    ("the id in the signature of the checkpoint", |p| {
        let at = p.checkpoint.rfind(' ').unwrap() + 1;
        turn(&mut p.checkpoint, at);
    }),
    ("no signature of the checkpoint", |p| {
        let at = p.checkpoint.find("\n\n").unwrap();
        p.checkpoint.truncate(at + 2);
    }),
    ("a checkpoint without its last LF", |p| _ = p.checkpoint.pop()),
    ("a checkpoint with a tab", |p| p.checkpoint.push('\t')),
    ("no checkpoint", |p| p.checkpoint.clear()),
    ("the key", |p| {
        let at = p.key.len() - 10;
        turn(&mut p.key, at);
    }),
    ("the id of the key", |p| {
        let at = p.key.find('+').unwrap() + 2;
        turn(&mut p.key, at);
    }),
    ("the name of the key", |p| turn(&mut p.key, 20)),
    ("no key", |p| p.key.clear()),
    ("another key, with its id", |p| {
        p.key = "granted/01M3RN7Q7T0009WDVSQ5ZMMZ0N+c5f4ac71+AaCYqrLFLWqfk4rUZTkRDGxT3GHRt7qjxsKSFmkVhl6b".into();
    }),
    ("another grant", |p| turn(&mut p.grant, 25)),
    ("an id that is none", |p| replace(&mut p.grant, "0", "I")),
    ("an id in lower case", |p| p.grant = p.grant.to_lowercase()),
];

type Rewrite = fn(&str) -> Vec<u8>;

/// One change each, in how the file is written.
const REWRITES: &[(&str, Rewrite)] = &[
    ("a field more", |text| text.replace(",\"kind\"", ",\"kin\":1,\"kind\"").into()),
    ("a field twice", |text| text.replace(",\"kind\"", ",\"key\":\"\",\"kind\"").into()),
    ("the kind twice", |text| {
        text.replace(",\"kind\"", ",\"kind\":\"granted-proof/1\",\"kind\"").into()
    }),
    ("a field less", |text| text.replace("\"rows\":", "\"row\":").into()),
    ("a field of another sort", |text| text.replace("\"hashes\":[", "\"hashes\":[1,").into()),
    ("a field that is null", |text| {
        let (before, _) = text.split_once("\"rows\":").unwrap();
        format!("{before}\"rows\":null}}").into()
    }),
    ("a number that is a text", |text| text.replace("\"rows\":[[", "\"rows\":[[\"1\",").into()),
    ("a number below 0", |text| text.replace("\"rows\":[[", "\"rows\":[[-").into()),
    ("a number with a fraction", |text| {
        let (before, after) = text.split_once("\"rows\":[[").unwrap();
        format!("{before}\"rows\":[[{}", after.replacen(',', ".0,", 1)).into()
    }),
    ("a space", |text| text.replace("{\"checkpoint\"", "{ \"checkpoint\"").into()),
    ("a space at the end", |text| format!("{} ", text.trim_end()).into()),
    ("two LFs at the end", |text| format!("{text}\n").into()),
    ("CR and LF", |text| text.replace('\n', "\r\n").into()),
    ("an escape that need not be", |text| text.replace("\"kind\"", "\"k\\u0069nd\"").into()),
    ("fields in another order", |text| {
        let (before, rows) = text.trim_end_matches("}\n").split_once(",\"rows\"").unwrap();
        format!("{{\"rows\"{rows},{}}}\n", &before[1..]).into()
    }),
    ("another kind", |text| text.replace("granted-proof/1", "granted-proof/2").into()),
    ("a kind that is none", |text| text.replace("\"granted-proof/1\"", "1").into()),
    ("cut off at half", |text| text[..text.len() / 2].into()),
    ("cut off by a byte", |text| text.trim_end()[..text.len() - 2].into()),
    ("no byte", |_| Vec::new()),
    ("a list", |text| format!("[{text}]").into()),
    ("a mark before it", |text| format!("\u{feff}{text}").into()),
    ("a byte that is no UTF-8", |text| {
        let mut bytes = text.as_bytes().to_vec();
        let at = text.find("head").unwrap();
        bytes[at] = 0xff;
        bytes
    }),
    ("half a surrogate", |text| {
        text.replace("granted-proof/1\"", "granted-proof/1\",\"x\":\"\\ud800\"").into()
    }),
    ("no number at all", |text| {
        text.replace("granted-proof/1\"", "granted-proof/1\",\"x\":NaN").into()
    }),
];

/// What a verifier said, without its reasons: `valid`, `unusable`, or `invalid: CHECK`.
fn word(line: &str) -> String {
    let words: Vec<&str> = line.split(": ").collect();
    match words.as_slice() {
        ["invalid", check, ..] => format!("invalid: {check}"),
        [first, ..] => first.split(',').next().unwrap().to_owned(),
        [] => String::new(),
    }
}

/// What `granted verify` says, with no home and nothing in its environment.
fn by_granted(dir: &Path, file: &str, keys: &[String]) -> String {
    let mut command = std::process::Command::new(GRANTED);
    command.args(["verify", file]).current_dir(dir).env_clear();
    keys.iter().for_each(|key| _ = command.args(["--key", key]));
    let run: Run = command.output().unwrap().into();
    let said = match run.code {
        2 => "unusable".to_owned(),
        _ => word(run.stdout.lines().next().unwrap_or_default()),
    };
    let code = match said.as_str() {
        "valid" => 0,
        "unusable" => 2,
        _ => 1,
    };
    assert_eq!(run.code, code, "{file}: {run:?}");
    said
}

/// What the second verifier says of each.
fn by_python(home: &Home, files: &[String], keys: &[String]) -> Vec<String> {
    let mut python = home.other("python3");
    python.arg(PYTHON);
    keys.iter().for_each(|key| _ = python.args(["--key", key]));
    python.args(files);
    let run: Run = python.output().unwrap().into();
    let said: Vec<String> = run.stdout.lines().map(word).collect();
    assert_eq!(said.len(), files.len(), "{run:?}");
    let worst = said.iter().map(|said| match said.as_str() {
        "valid" => 0,
        "unusable" => 2,
        _ => 1,
    });
    assert_eq!(run.code, worst.max().unwrap());
    said
}

/// Every changed proof: its name, its bytes, and the check that is to find it where that is known.
fn tampered(good: &[Good]) -> Vec<(String, Vec<u8>, Option<&'static str>)> {
    let mut all = Vec::new();
    for list in [forged::rows(), forged::grants(), forged::histories(), forged::signatures()] {
        for forged::Forged { name, text, check } in list {
            all.push((name.to_owned(), text.into_bytes(), Some(check.as_str())));
        }
    }
    let by_name = |name: &str| good.iter().find(|good| good.name == name).unwrap();
    for name in ["confirmed among others", "signed by a security key"] {
        let Good { name, text, .. } = by_name(name);
        let parts: Parts = serde_json::from_str(text).unwrap();
        assert_eq!(parts.text(), *text);
        for (what, change) in CHANGES {
            let mut changed = parts.clone();
            change(&mut changed);
            assert_ne!(changed.text(), *text, "{what}");
            all.push((format!("{name}: {what}"), changed.text().into_bytes(), None));
        }
    }
    let text = &by_name("confirmed").text;
    for (what, rewrite) in REWRITES {
        assert_ne!(rewrite(text), text.as_bytes(), "{what}");
        all.push(((*what).to_owned(), rewrite(text), None));
    }
    all
}

#[test]
fn two_verifiers_agree_on_every_proof() {
    let home = Home::new();
    let good = good();
    let mut files = Vec::new();
    for (number, Good { name, text, keys, .. }) in good.iter().enumerate() {
        let file = format!("good-{number}");
        home.write(&file, text);
        assert_eq!(by_granted(home.dir(), &file, &[]), "valid", "{name}");
        files.push(file.clone());
        if keys.is_empty() {
            continue;
        }
        let named: Vec<String> = (0..keys.len()).map(|key| format!("{file}-{key}.pub")).collect();
        for (path, key) in named.iter().zip(keys) {
            home.write(path, format!("{} me@box\n", key.public));
        }
        assert_eq!(by_granted(home.dir(), &file, &named), "valid", "{name}");
        assert_eq!(by_python(&home, &[file], &named), ["valid"], "{name}");
    }
    assert!(good.len() >= 30 && by_python(&home, &files, &[]).iter().all(|said| said == "valid"));

    let tampered = tampered(&good);
    assert!(tampered.len() >= 150, "{}", tampered.len());
    let files: Vec<String> = (0..tampered.len()).map(|number| format!("bad-{number}")).collect();
    for (file, (_, bytes, _)) in files.iter().zip(&tampered) {
        home.write(file, bytes);
    }
    let mut wrong = Vec::new();
    for ((file, python), (name, _, check)) in
        files.iter().zip(by_python(&home, &files, &[])).zip(&tampered)
    {
        let granted = by_granted(home.dir(), file, &[]);
        let expected = check.is_none_or(|check| granted == format!("invalid: {check}"));
        if granted == "valid" || granted != python || !expected {
            wrong.push(format!(
                "{name}: granted says {granted}, python {python}, expected {check:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tampered.len(), wrong.join("\n"));
}

/// The program finds the rows of every shape in the ledger by itself.
#[test]
fn the_program_proves_what_the_ledger_holds() {
    for Good { name, text, ledger, over, .. } in good() {
        let home = Home::new();
        home.write(".granted/ledger.jsonl", ledger);
        let expected: Parts = serde_json::from_str(&text).unwrap();
        let printed = home.say(&format!("proof {}", expected.grant)).ok().stdout;
        let proof: Parts = serde_json::from_str(&printed).unwrap();
        assert_eq!((&proof.rows, &proof.hashes), (&expected.rows, &expected.hashes), "{name}");
        home.write("proof.json", &printed);
        let said = home.say("verify proof.json --json").ok().json();
        assert_eq!((&said["valid"], &said["over"]), (&true.into(), &over.into()), "{name}");
        let of_row = |text: &str| text.starts_with("that nothing happened after row ");
        let open =
            said["not_proven"].as_array().unwrap().iter().any(|s| of_row(s.as_str().unwrap()));
        assert_eq!(open, !over, "{name}: {said}");
        for (_, row) in &proof.rows {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let Some(attempt) = row["refs"][0][0].as_str().unwrap().strip_prefix("discharge:")
            else {
                continue;
            };
            assert_eq!(home.say(&format!("proof {attempt}")).ok().stdout, printed, "{name}");
        }
    }
}

/// One that covers the rows is used as it is; one that does not is made anew.
#[test]
fn a_checkpoint_is_made_where_none_covers_the_rows() {
    let home = Home::new();
    let (first, second) = (home.mint("1", ""), home.mint("2", ""));
    let newest = || std::fs::read_to_string(home.root().join("checkpoint")).unwrap();
    home.say(&format!("proof {first} --out p")).ok();
    let covering = newest();
    assert!(covering.contains("\n3\n"), "{covering}");
    home.discharge("2", "exit 0", &[]);
    home.say(&format!("proof {first} --out p")).ok();
    assert_eq!(newest(), covering);
    home.say(&format!("proof {second} --out p")).ok();
    assert!(newest().contains("\n6\n"), "{}", newest());
    assert_eq!(by_granted(home.dir(), "p", &[]), "valid");
    // Rows that were changed behind a checkpoint prove nothing.
    let ledger = String::from_utf8(home.bytes()).unwrap();
    std::fs::write(home.ledger(), ledger.replacen("\"confirmed\"", "\"confirmeD\"", 1)).unwrap();
    assert_eq!(home.say(&format!("proof {second} --out q")).exits(1).stdout, "");
    assert!(!home.dir().join("q").exists());
}
