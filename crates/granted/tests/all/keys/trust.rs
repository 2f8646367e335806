//! Which keys a book trusts: what has to be signed, what is shown before, and what is not honoured.

use granted_core::digest::Digest;
use granted_core::trust::{PublicKey, Statement};
use serde_json::{Value, json};

use super::{PASSWORD, at_terminal, id, new_key};
use crate::home::{Home, Run};
use crate::pty::Pty;

/// A home whose only trusted key is `ada`, with another key, `bob`.
fn home() -> Home {
    let home = Home::new();
    new_key(&home, "ada");
    let run = new_key(&home, "bob");
    assert!(run.stderr.contains("granted key trust bob"), "{run:?}");
    home
}

/// Trusts `bob` with `ada`'s signature.
fn trust_bob(home: &Home) -> Run {
    let answers = [("of key `bob`", PASSWORD), ("[y/N] ", "y"), ("of key `ada`", PASSWORD)];
    at_terminal(home, "key trust bob", &answers)
}

/// The names of the keys that are trusted.
fn trusted(home: &Home) -> Vec<String> {
    let trust = home.say("trust --json").ok().json();
    let keys = trust["keys"].as_array().unwrap();
    keys.iter().map(|key| key["name"].as_str().unwrap().to_owned()).collect()
}

fn mode(home: &Home) -> Value {
    home.say("trust --json").ok().json()["mode"].take()
}

/// Adds a row as a program does that can write the ledger: its chain and guards are right.
fn forge(home: &Home, kind: &str, body: &Value) {
    let rows = home.rows();
    let last = rows.iter().rev().find(|row| row["refs"][0][0] == "trust:keys").unwrap();
    let text = String::from_utf8(home.bytes()).unwrap();
    let line = text.lines().last().unwrap();
    let mut row = rows.last().unwrap().clone();
    row["body"] = body.clone();
    row["kind"] = kind.into();
    row["prev"] = Digest::of(line.as_bytes()).to_string().into();
    row["refs"] = json!([["trust:keys", last["seq"]]]);
    row["seq"] = json!(rows.len() + 1);
    std::fs::write(home.ledger(), format!("{text}{row}\n")).unwrap();
    assert_eq!(home.rows_of(kind).last().unwrap()["body"], *body);
    home.say(&format!("ledger --kind {kind}")).ok();
}

#[test]
fn a_second_key_needs_the_signature_of_a_trusted_one() {
    let home = home();
    assert_eq!(trusted(&home), ["ada"]);
    let rows = home.rows().len();
    // A no, a wrong password, another key's signature, and nobody there.
    let no = [("of key `bob`", PASSWORD), ("[y/N] ", "n")];
    let run = at_terminal(&home, "key trust bob", &no).exits(1);
    assert_eq!(run.stderr, "granted: nothing was signed, and nothing done\n");
    let no = [("of key `bob`", PASSWORD), ("[y/N] ", "")];
    at_terminal(&home, "key trust bob", &no).exits(1);
    let wrong = [("of key `bob`", PASSWORD), ("[y/N] ", "y"), ("of key `ada`", "wrong horse")];
    let run = at_terminal(&home, "key trust bob", &wrong).exits(1);
    assert!(run.stderr.contains("ada.pem`: the password is wrong"), "{run:?}");
    let own = at_terminal(&home, "key trust bob --sign-with bob", &[("of key `bob`", PASSWORD)]);
    assert!(own.exits(1).stderr.contains("is not trusted"));
    home.write("bob.pem", home.say("key export bob").ok().stdout);
    let away = home.say("key trust bob.pem").exits(1);
    assert!(away.stderr.contains("there is none"), "{away:?}");
    assert_eq!((trusted(&home).len(), home.rows().len()), (1, rows));
    // And with it.
    let run = trust_bob(&home).ok();
    assert!(run.stdout.contains(&format!("by {}", id(&home, "ada"))), "{run:?}");
    assert_eq!(trusted(&home), ["ada", "bob"]);
    let again = at_terminal(&home, "key trust bob", &[("of key `bob`", PASSWORD)]).exits(1);
    assert!(again.stderr.contains("is trusted already"), "{again:?}");
    home.say("trust mode signed").ok();
    let several = home.say("trust mode open").exits(2);
    assert!(several.stderr.contains("several keys could sign: ada, bob"), "{several:?}");
}

/// What the person is shown is what is signed: every field, whole, and the digest.
#[test]
fn what_is_shown_is_what_is_signed() {
    let home = home();
    home.write("key.pub", home.say("key export bob --ssh").ok().stdout);
    let name = "a\u{65e5}\u{672c}".repeat(21);
    let mut pty = Pty::start(&home.command(["key", "trust", "key.pub", "--name", &name]));
    pty.until("sign this? [y/N] ");
    pty.line("yes");
    pty.password("of key `ada`: ", PASSWORD);
    pty.end().ok();
    let row = &home.rows_of("key.trusted")[1];
    let book = home.rows()[0]["body"]["book"].as_str().unwrap().parse().unwrap();
    let key: PublicKey = row["body"]["key"].as_str().unwrap().parse().unwrap();
    let last = row["refs"][0][1].as_u64().unwrap();
    let statement = Statement::trust(book, last, &key, &name.parse().unwrap());
    let payload: Value = serde_json::from_str(statement.payload()).unwrap();
    assert_eq!(payload.as_object().unwrap().len(), 4);
    let shown: Vec<&str> = pty.shown.lines().map(str::trim).collect();
    for (field, value) in payload.as_object().unwrap() {
        let line = format!("{field:<16} {value}");
        assert!(shown.contains(&line.as_str()), "{line}: {}", pty.shown);
    }
    let digest = format!("digest     {}", statement.digest());
    assert!(shown.contains(&digest.as_str()), "{}", pty.shown);
    let signature =
        serde_json::from_value::<granted_core::trust::Signature>(row["body"]["signature"].clone());
    let ada: PublicKey =
        home.rows_of("key.trusted")[0]["body"]["key"].as_str().unwrap().parse().unwrap();
    assert_eq!(signature.unwrap().verify(&ada, &statement), Ok(()));
}

/// What is trusted changes while the person is asked: what was signed is then not what is needed.
#[test]
fn a_change_meanwhile_is_shown_and_signed_anew() {
    let home = home();
    let mut pty = Pty::start(&home.command(["key", "trust", "bob"]));
    pty.password("of key `bob`: ", PASSWORD);
    pty.until("digest ");
    pty.until("[y/N] ");
    home.say("trust mode signed").ok();
    pty.line("y");
    pty.password("of key `ada`: ", PASSWORD);
    pty.until("changed meanwhile");
    pty.until("digest ");
    pty.until("[y/N] ");
    assert_eq!(trusted(&home), ["ada"]);
    pty.line("y");
    pty.password("of key `ada`: ", PASSWORD);
    pty.end().ok();
    assert_eq!(trusted(&home), ["ada", "bob"]);
}

#[test]
fn a_row_that_a_program_wrote_is_not_honoured() {
    let home = home();
    let first = home.rows_of("key.trusted").remove(0);
    let bob = home.say("key export bob --ssh").ok().stdout;
    let bob = bob.trim().strip_suffix(" bob").unwrap();
    // Without a signature, and with the words of one.
    forge(&home, "key.trusted", &json!({"key": bob, "name": "bob"}));
    let sig = "A".repeat(86) + "==";
    let signature = json!({"form": "ed25519", "key": id(&home, "ada"), "sig": sig});
    forge(&home, "key.trusted", &json!({"key": bob, "name": "bob", "signature": signature}));
    assert_eq!(trusted(&home), ["ada"]);
    assert_eq!(home.say("key list --json").ok().stdout.lines().count(), 2);
    home.say("trust mode signed").ok();
    forge(&home, "trust.mode", &json!({"mode": "open"}));
    forge(&home, "trust.mode", &json!({"mode": "open", "signature": signature}));
    assert_eq!(mode(&home), "signed");
    // What the person does next goes on from there, and the first key stays what it was.
    trust_bob(&home).ok();
    assert_eq!(trusted(&home), ["ada", "bob"]);
    assert_eq!(home.rows_of("key.trusted")[0], first);
}

/// A signature is good in one place of one book.
#[test]
fn a_signature_is_not_good_twice() {
    let home = home();
    trust_bob(&home).ok();
    let body = home.rows_of("key.trusted").pop().unwrap()["body"].take();
    home.say("key untrust bob --note stolen").ok();
    assert_eq!(trusted(&home), ["ada"]);
    forge(&home, "key.trusted", &body);
    assert_eq!(trusted(&home), ["ada"]);
    // Nor for another purpose.
    home.say("trust mode signed").ok();
    forge(&home, "trust.mode", &json!({"mode": "open", "signature": body["signature"]}));
    assert_eq!(mode(&home), "signed");
}

#[test]
fn to_ask_for_no_signatures_any_more_is_signed() {
    let home = home();
    let none = Home::new();
    assert!(none.say("trust mode signed").exits(1).stderr.contains("nobody could sign"));
    home.say("trust mode signed").ok();
    assert!(home.say("trust").ok().stdout.starts_with("signed: "));
    let away = home.say("trust mode open --json").exits(1);
    assert!(away.stderr.contains("no_terminal"), "{away:?}");
    let no = at_terminal(&home, "trust mode open", &[("[y/N] ", "n")]).exits(1);
    assert!(no.stdout.is_empty(), "{no:?}");
    assert_eq!(mode(&home), "signed");
    let yes = [("[y/N] ", "y"), ("of key `ada`", PASSWORD)];
    at_terminal(&home, "trust mode open", &yes).ok();
    assert_eq!(mode(&home), "open");
}

#[test]
fn a_yes_that_was_typed_ahead_is_none() {
    let home = home();
    let mut pty = Pty::start(&home.command(["key", "trust", "bob"]));
    pty.until("of key `bob`: ");
    pty.line(&format!("{PASSWORD}\ny"));
    pty.until("[y/N] ");
    pty.line("");
    pty.end().exits(1);
    assert_eq!(trusted(&home), ["ada"]);
}

/// A program that changes a key file's first line has no other key trusted by it, nor signs with one.
#[test]
fn the_first_line_of_a_key_file_is_only_said() {
    let home = home();
    trust_bob(&home).ok();
    new_key(&home, "eve");
    let at = |name: &str| home.root().join(format!("keys/{name}.pem"));
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    let with_line = |name: &str, line: &str| {
        let text = read(name);
        let (_, sealed) = text.split_once('\n').unwrap();
        std::fs::write(at(name), format!("{line}\n{sealed}")).unwrap();
    };
    let (bob, eve) = (read("bob"), read("eve"));
    with_line("eve", bob.lines().next().unwrap());
    // It is the key itself that is trusted,
    let fingerprint = eve.lines().next().unwrap().split(' ').nth(1).unwrap();
    let mut pty = Pty::start(&home.command(["key", "trust", "eve", "--sign-with", "ada"]));
    pty.password("of key `eve`: ", PASSWORD);
    pty.until(fingerprint);
    pty.until("[y/N] ");
    pty.line("n");
    pty.end().exits(1);
    // and one that is not what was said does not sign.
    let signs = [("[y/N] ", "y"), ("of key `eve`", PASSWORD)];
    home.say("trust mode signed").ok();
    let run = at_terminal(&home, "trust mode open --sign-with eve", &signs).exits(1);
    assert!(run.stderr.contains("is not the one that its first line says"), "{run:?}");
    assert_eq!(mode(&home), "signed");
}
