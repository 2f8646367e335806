//! Signed mode: what is minted, used, settled and accepted with the person's signature, and what is not
//! without it.

use std::process::{Command, Stdio};

use granted_core::trust::{PublicKey, Statement};
use serde_json::Value;

use crate::home::{Home, Run};
use crate::keys::{PASSWORD, at_terminal, id, new_key};
use crate::pty::Pty;

const MINT: &str = "mint --type report --id a --by me --for 1h --allow send";

/// A home that trusts key `ada` and asks for signatures.
fn home() -> Home {
    let home = Home::new();
    new_key(&home, "ada");
    home.say("trust mode signed").ok();
    home
}

/// Runs this at a terminal, where the person agrees and gives the password.
#[track_caller]
fn sign(home: &Home, line: &str) -> Run {
    at_terminal(home, line, &[("[y/N] ", "y"), ("password of key `ada`: ", PASSWORD)])
}

/// Runs the real ssh-keygen.
#[track_caller]
fn keygen(home: &Home, args: &[&str]) {
    let run: Run = home.other("ssh-keygen").args(args).output().unwrap().into();
    run.ok();
}

#[test]
fn a_signed_grant_is_minted_and_used() {
    let home = home();
    let mut pty = Pty::start(&home.command(MINT.split(' ')));
    pty.until("[y/N] ");
    // What is shown is what is signed: every field, and the digest.
    let shown = pty.shown.clone();
    for field in ["application/vnd.granted.decision.v1+json", "\"send\"", "not_after", "digest"] {
        assert!(shown.contains(field), "{field}:\n{shown}");
    }
    pty.line("y");
    pty.password("password of key `ada`: ", PASSWORD);
    pty.end().ok();
    let minted = home.rows_of("decision.minted").pop().unwrap();
    let grant = serde_json::from_value(minted["body"]["grant"].clone()).unwrap();
    let digest = Statement::grant(&grant).digest().to_string();
    assert!(shown.contains(&digest), "{digest}:\n{shown}");
    assert_eq!(grant.signatures[0].key.to_string(), id(&home, "ada"));

    let status = home.say("status --type report --id a").ok();
    assert!(status.stdout.contains("signed with `ada`"), "{status:?}");
    let status = home.say("status --type report --id a --json").ok().json();
    assert_eq!(status["signed_by"][0]["name"], "ada");
    let report = home.discharge("a", "true", &["--action", "send"]);
    assert_eq!(report["reason"], "confirmed", "{report}");
    home.verify();
    // Untrusting later does not make history false.
    home.say("key untrust ada").ok();
    home.verify();
}

#[test]
fn without_a_yes_or_a_terminal_nothing_is_minted() {
    let home = home();
    let before = home.bytes();
    let refused = at_terminal(&home, MINT, &[("[y/N] ", "n")]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let wrong = at_terminal(&home, MINT, &[("[y/N] ", "y"), ("password of key", "wrong password")]);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    // No terminal: nobody is asked, whatever stdin, argv and environment say.
    let mut command = Command::new("setsid");
    let ours = home.command(MINT.split(' '));
    command.arg("--wait").arg(ours.get_program()).args(ours.get_args()).env_clear();
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("GRANTED_PASSWORD", PASSWORD).current_dir(home.dir()).stdin(Stdio::piped());
    let run: Run = command.output().unwrap().into();
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("terminal"), "{run:?}");
    assert_eq!(home.bytes(), before);
    assert!(!home.root().join("grants/report").exists() || home.status("a") == "none");
}

#[test]
fn a_sheet_is_signed_with_one_password() {
    let home = home();
    let line = |id: &str| format!("{{\"object\":{{\"type\":\"report\",\"id\":\"{id}\"}}}}\n");
    home.write("sheet.jsonl", ["a", "b", "c"].map(line).concat());
    sign(&home, "mint --sheet sheet.jsonl --by me --for 1h").ok();
    for id in ["a", "b", "c"] {
        assert_eq!(home.discharge(id, "true", &[])["reason"], "confirmed");
    }
    home.verify();
}

#[test]
fn what_no_trusted_key_signed_is_not_used() {
    let home = Home::new();
    let old = home.mint("old", "");
    new_key(&home, "ada");
    home.say("trust mode signed").ok();
    // Minted before signatures were asked for.
    assert_eq!(home.status("old"), "unreadable", "{old}");
    assert_eq!(home.discharge("old", "true", &["--action", "send"])["reason"], "unsigned");
    sign(&home, MINT).ok();
    let ada = id(&home, "ada");
    home.say(&format!("key untrust {ada}")).ok();
    let report = home.discharge("a", "true", &["--action", "send"]);
    assert_eq!(report["reason"], "untrusted_key", "{report}");
    assert_eq!(home.status("a"), "unreadable");
    home.verify();
}

/// Writes a row behind the others; the chain is right.
fn write_row(home: &Home, mut row: Value) {
    let text = String::from_utf8(home.bytes()).unwrap();
    let last = text.lines().last().unwrap();
    row["seq"] = Value::from(text.lines().count() + 1);
    row["prev"] = granted_core::digest::Digest::of(last.as_bytes()).to_string().into();
    row.as_object_mut().unwrap().remove("of");
    let line = serde_json::to_string(&row).unwrap() + "\n";
    std::fs::write(home.ledger(), text + &line).unwrap();
}

/// A signed grant that was used is not used again, for its own object or another, by rows that give it
/// another place or its attempt another end.
#[test]
fn no_row_that_somebody_wrote_brings_a_signed_grant_back() {
    let home = home();
    sign(&home, MINT).ok();
    let minted = home.rows_of("decision.minted").pop().unwrap();
    let (grant, document) = (minted["refs"][0][0].as_str().unwrap(), home.document("a"));
    let unspent = std::fs::read(&document).unwrap();
    assert_eq!(home.discharge("a", "true", &["--action", "send"])["reason"], "confirmed");
    let (used, last) = (home.bytes(), home.rows().len());
    let outcome = home.rows_of("decision.outcome").pop().unwrap();
    let attempt = outcome["refs"][0][0].as_str().unwrap();
    let other = "01M3RN7R72000KRVQKEBZ99Y1A";
    let changed = |row: &Value, refs: Value, body: &[(&str, Value)]| {
        let mut row = row.clone();
        row["refs"] = refs;
        body.iter().for_each(|(field, value)| row["body"][*field] = value.clone());
        row
    };
    let mut unsigned = minted["body"]["grant"].clone();
    unsigned["id"] = other.into();
    for (what, rows) in [
        (
            "its executor declined",
            vec![changed(
                &outcome,
                serde_json::json!([[attempt, last], [grant, last]]),
                &[("outcome", "refused".into()), ("reason", "executor_declined".into())],
            )],
        ),
        (
            "another id has its rows",
            vec![
                changed(
                    &minted,
                    serde_json::json!([[format!("grant:{other}"), 0], [grant, last]]),
                    &[],
                ),
                changed(
                    &minted,
                    serde_json::json!([["object:report/a", 2]]),
                    &[("grant", unsigned)],
                ),
            ],
        ),
    ] {
        std::fs::write(home.ledger(), &used).unwrap();
        std::fs::write(&document, &unspent).unwrap();
        rows.into_iter().for_each(|row| write_row(&home, row));
        let report = home.discharge("a", "true", &["--action", "send"]);
        assert_eq!(report["outcome"], "refused", "{what}: {report}");
        assert_eq!(home.say("ledger verify").code, 1, "{what}");
    }
}

#[test]
fn a_signed_grant_is_used_for_its_own_object_only_whatever_a_row_says_that_it_moves() {
    let home = home();
    sign(&home, MINT).ok();
    let mut row = home.rows_of("decision.minted").pop().unwrap();
    row["refs"] = serde_json::json!([["object:report/b", 0]]);
    write_row(&home, row);
    let report = home.discharge("b", "true", &["--action", "send"]);
    assert_eq!(report["reason"], "none", "{report}");
    assert_eq!(home.say("ledger verify").code, 1);
}

/// What a program that writes every file, but has no password, makes of a book.
#[test]
fn a_row_that_somebody_wrote_is_not_used() {
    let home = home();
    sign(&home, MINT).ok();
    // The signed grant, once more, for another object; the chain and the refs are right.
    let mut row = home.rows_of("decision.minted").pop().unwrap();
    let new = "01M3RN7R72000KRVQKEBZ99Y1A";
    row["body"]["grant"]["object"]["id"] = "b".into();
    row["body"]["grant"]["id"] = new.into();
    row["refs"] = serde_json::json!([[format!("grant:{new}"), 0], ["object:report/b", 0]]);
    write_row(&home, row.clone());
    let name = format!("grants/report/b~{new}.json");
    let document = serde_json::to_string(&row["body"]["grant"]).unwrap();
    std::fs::write(home.root().join(name), document).unwrap();
    let report = home.discharge("b", "true", &["--action", "send"]);
    assert_eq!(report["reason"], "bad_signature", "{report}");
    let verified = home.say("ledger verify");
    assert_eq!(verified.code, 1, "{verified:?}");
    assert!(verified.stdout.contains("signature") || verified.stderr.contains("signature"));
}

#[test]
fn a_grant_is_signed_elsewhere_by_ssh_keygen() {
    let home = Home::new();
    keygen(&home, &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "there"]);
    home.say("key trust there.pub --name there").ok();
    home.say("trust mode signed").ok();
    let before = home.bytes();
    let said = home.say(&format!("{MINT} --unsigned-out grant.txt")).ok();
    assert_eq!(home.bytes(), before, "nothing is minted yet");
    assert!(said.stderr.contains("ssh-keygen -Y sign"), "{said:?}");
    assert_eq!(
        home.say(&format!("{MINT} --unsigned-out grant.txt")).code,
        1,
        "it is there already"
    );
    for (namespace, code) in [("granted.trust.v1", 1), ("granted.decision.v1", 0)] {
        let _ = std::fs::remove_file(home.dir().join("grant.txt.sig"));
        keygen(&home, &["-q", "-Y", "sign", "-f", "there", "-n", namespace, "grant.txt"]);
        let minted = home.say("mint --from grant.txt --signature grant.txt.sig");
        assert_eq!(minted.code, code, "{namespace}: {minted:?}");
    }
    // Once.
    let again = home.say("mint --from grant.txt --signature grant.txt.sig --again");
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.stderr.contains("minted already"), "{again:?}");
    assert_eq!(home.discharge("a", "true", &["--action", "send"])["reason"], "confirmed");
    // Any other byte is another grant.
    let text = std::fs::read_to_string(home.dir().join("grant.txt")).unwrap();
    home.write("grant.txt", text.replace("\"send\"", "\"hire\""));
    let changed = home.say("mint --from grant.txt --signature grant.txt.sig --again");
    assert_eq!(changed.code, 1, "{changed:?}");
    home.verify();
}

/// It would be used once the key is trusted, and no longer be signed by what the row of its mint tells.
#[test]
fn a_grant_signed_by_a_key_that_is_not_trusted_yet_is_not_minted_in_open_mode_either() {
    let home = Home::new();
    keygen(&home, &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "there"]);
    home.say(&format!("{MINT} --unsigned-out grant.txt")).ok();
    keygen(&home, &["-q", "-Y", "sign", "-f", "there", "-n", "granted.decision.v1", "grant.txt"]);
    let mint = "mint --from grant.txt --signature grant.txt.sig";
    let refused = home.say(mint).exits(1);
    assert!(refused.stderr.contains("is not trusted"), "{refused:?}");
    home.say("key trust there.pub --name there").ok();
    home.say(mint).ok();
    home.say("trust mode signed").ok();
    assert_eq!(home.discharge("a", "true", &["--action", "send"])["reason"], "confirmed");
    home.verify();
}

/// A damaged end that held it was accepted, which closed it: to mint it again is refused, and not tried for ever.
#[test]
fn a_grant_signed_elsewhere_that_was_closed_is_not_minted_again() {
    let home = Home::new();
    keygen(&home, &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "there"]);
    home.say("key trust there.pub --name there").ok();
    home.say(&format!("{MINT} --unsigned-out grant.txt")).ok();
    keygen(&home, &["-q", "-Y", "sign", "-f", "there", "-n", "granted.decision.v1", "grant.txt"]);
    let mint = "mint --from grant.txt --signature grant.txt.sig --again";
    home.say(mint).ok();
    let mut bytes = home.bytes();
    let end = bytes.len() - 2;
    bytes[end] = b'x';
    std::fs::write(home.ledger(), bytes).unwrap();
    let accept = "ledger accept --by me --reason damage --sign-with ssh:there.pub";
    let mut pty = Pty::start(&home.command(accept.split(' ')));
    pty.until("closes     grant ");
    pty.until("[y/N] ");
    pty.line("y");
    pty.end().ok();
    assert!(home.say(mint).exits(1).stderr.contains("minted already"));
    home.verify();
}

#[test]
fn a_grant_signed_for_another_book_is_not_minted_in_open_mode_either() {
    let (home, other) = (Home::new(), Home::new());
    keygen(&home, &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "there"]);
    home.say("key trust there.pub --name there").ok();
    home.say(&format!("{MINT} --unsigned-out grant.txt")).ok();
    keygen(&home, &["-q", "-Y", "sign", "-f", "there", "-n", "granted.decision.v1", "grant.txt"]);
    for name in ["grant.txt", "grant.txt.sig"] {
        other.write(name, std::fs::read(home.dir().join(name)).unwrap());
    }
    other.mint("1", "");
    let mint = "mint --from grant.txt --signature grant.txt.sig";
    let refused = other.say(mint).exits(1);
    assert!(refused.stderr.contains("a grant of another book"), "{refused:?}");
    other.verify();
    home.say(mint).ok();
}

#[test]
fn the_persons_word_and_an_accept_are_signed() {
    let home = home();
    sign(&home, MINT).ok();
    let report = home.discharge("a", "sleep 60", &["--action", "send", "--timeout", "1s"]);
    assert_eq!(report["reason"], "timeout", "{report}");
    let attempt = report["discharge_id"].as_str().unwrap().to_owned();
    let line = format!("resolve {attempt} --did-not-happen --by me");
    let refused = at_terminal(&home, &line, &[("[y/N] ", "n")]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(home.rows_of("decision.resolved").is_empty());
    sign(&home, &line).ok();
    home.verify();

    let mut bytes = home.bytes();
    bytes.extend(b"{\"half\":1}\n{}\n");
    std::fs::write(home.ledger(), &bytes).unwrap();
    let line = "ledger accept --by me --reason damage";
    let refused = at_terminal(&home, line, &[("[y/N] ", "n")]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(home.bytes(), bytes);
    sign(&home, line).ok();
    let accepted = home.rows_of("ledger.accepted").pop().unwrap();
    assert_eq!(accepted["body"]["signature"]["key"], id(&home, "ada").as_str());
    home.verify();
}

/// A program of the same user runs every verb and edits what it likes, without the password: no grant is
/// discharged that the trusted key did not sign.
#[test]
fn a_program_without_the_password_gets_nothing_discharged() {
    let home = home();
    let key = PublicKey::from_bytes(&[
        215, 90, 152, 1, 130, 177, 10, 183, 213, 75, 254, 211, 201, 100, 7, 58, 14, 225, 114, 243,
        218, 166, 35, 37, 175, 2, 26, 104, 247, 7, 81, 26,
    ])
    .unwrap();
    home.write("mine.pub", format!("{key}\n"));
    for line in [
        MINT,
        &format!("{MINT} --again"),
        "trust mode open",
        "key trust mine.pub --name mine",
        "key passwd ada",
        "ledger accept --by me --reason so",
        "revoke --type report --id a",
        "tick",
        "key untrust ada",
        "key trust mine.pub --name mine",
        "trust mode open",
        MINT,
    ] {
        let mut command = home.command(line.split(' '));
        // Not even a terminal.
        let run: Run = command.stdin(Stdio::null()).output().unwrap().into();
        assert!(run.code != 0 || !line.starts_with("mint"), "{line}: {run:?}");
    }
    assert!(home.rows_of("decision.minted").is_empty());
    assert_eq!(home.rows_of("key.trusted").len(), 1);
    assert_eq!(home.rows_of("trust.mode").len(), 1);
    let report = home.discharge("a", "true", &["--action", "send"]);
    assert_eq!(report["outcome"], "refused", "{report}");
    home.verify();
}
