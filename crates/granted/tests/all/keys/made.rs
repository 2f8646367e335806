//! Making keys: what is asked, what is made, and that nothing else is taken for a password.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::{PASSWORD, at_terminal, id, new_key};
use crate::home::{GRANTED, Home, Run};
use crate::pty::Pty;

fn files(home: &Home) -> usize {
    std::fs::read_dir(home.root().join("keys")).map_or(0, Iterator::count)
}

#[test]
fn a_key_is_made_sealed_and_trusted_first() {
    let home = Home::new();
    let mut pty = Pty::start(&home.command(["key", "new", "ada"]));
    pty.password("new password for key `ada`: ", PASSWORD);
    pty.password("the same again: ", PASSWORD);
    let run = pty.end().ok();
    assert!(!pty.shown.contains(PASSWORD), "{}", pty.shown);
    assert!(run.stderr.contains("trusted from now on"), "{run:?}");
    assert!(run.stderr.contains("granted trust mode signed"), "{run:?}");
    let path = home.root().join("keys/ada.pem");
    let text = std::fs::read_to_string(&path).unwrap();
    let line = run.stdout.lines().nth(1).unwrap();
    assert_eq!(text.lines().next(), Some(line));
    assert!(text.lines().nth(1) == Some("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "{text}");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(files(&home), 1, "nothing else is left there");
    // And what is listed is that key.
    let listed = home.say("key list").ok().stdout;
    assert!(listed.starts_with(&format!("{}  ada  SHA256:", id(&home, "ada"))), "{listed}");
    assert!(run.stdout.contains(&id(&home, "ada")) && listed.contains("the first"), "{listed}");
}

/// The real openssl opens the file, and has the same public half.
#[test]
fn openssl_opens_it() {
    let home = Home::new();
    new_key(&home, "ada");
    let openssl = |args: &str| {
        let run: Run = home.other("openssl").args(args.split(' ')).output().unwrap().into();
        run
    };
    let public = "pkey -in .granted/keys/ada.pem -pubout -passin";
    home.write("password", PASSWORD);
    let opened = openssl(&format!("{public} file:password")).ok();
    assert_eq!(opened.stdout, home.say("key export ada").ok().stdout);
    home.write("password", "correct hors");
    assert_ne!(openssl(&format!("{public} file:password")).code, 0);
    // And OpenSSH names it by the same fingerprint.
    home.write("ada.pub", home.say("key export ada --ssh").ok().stdout);
    let run: Run = home.other("ssh-keygen").args(["-l", "-f", "ada.pub"]).output().unwrap().into();
    let fingerprint = run.ok().stdout.split(' ').nth(1).unwrap().to_owned();
    assert!(home.say("key list").ok().stdout.contains(&fingerprint));
}

/// A file that openssl made is a key too, once its first line says which.
#[test]
fn a_key_of_openssls_is_taken_in_by_a_new_password() {
    let home = Home::new();
    home.write(".granted/keys/old", "");
    std::os::unix::fs::symlink("mine.pem", home.root().join("keys/link.pem")).unwrap();
    home.write("password", PASSWORD);
    let made = "genpkey -algorithm ed25519 -aes256 -pass file:password -out .granted/keys/mine.pem";
    let run: Run = home.other("openssl").args(made.split(' ')).output().unwrap().into();
    run.ok();
    let listed = home.say("key list").ok();
    assert!(listed.stderr.contains("link.pem` is a symbolic link"), "{listed:?}");
    assert!(
        listed.stdout.is_empty() && listed.stderr.contains("granted key passwd mine"),
        "{listed:?}"
    );
    let new = "another password";
    let answers = [("password of", PASSWORD), ("new password", new), ("again", new)];
    at_terminal(&home, "key passwd mine", &answers).ok();
    assert!(home.say("key list").ok().stdout.contains("  mine  SHA256:"));
    at_terminal(&home, "key trust mine", &[("password of key `mine`: ", new)]).ok();
    assert!(home.say("key list").ok().stdout.contains("the first"));
}

#[test]
fn a_password_that_is_short_or_typed_differently_makes_nothing() {
    let home = Home::new();
    let differ = [("new password", PASSWORD), ("again", "correct hors")].repeat(3);
    let run = at_terminal(&home, "key new ada", &differ).exits(1);
    assert_eq!(run.stderr, "granted: the two passwords are not the same\n");
    let short = [("new password", "seven c")].repeat(3);
    let run = at_terminal(&home, "key new ada", &short).exits(1);
    assert_eq!(run.stderr, "granted: a password has at least 8 characters\n");
    assert!(!home.root().exists(), "it makes no home");
    let third = [short[0], differ[0], differ[1], differ[0], ("again", PASSWORD)];
    at_terminal(&home, "key new ada", &third).ok();
}

#[test]
fn a_key_is_never_overwritten() {
    let home = Home::new();
    new_key(&home, "ada");
    let path = home.root().join("keys/ada.pem");
    let before = std::fs::read(&path).unwrap();
    let run = at_terminal(&home, "key new ada", &[]).exits(1);
    assert!(run.stderr.contains("is there already"), "{run:?}");
    // Nor by one that is made while the password is typed.
    let mut pty = Pty::start(&home.command(["key", "new", "bob"]));
    pty.password("new password", PASSWORD);
    pty.until("again");
    home.write(".granted/keys/bob.pem", "mine");
    pty.line(PASSWORD);
    assert!(pty.end().exits(1).stderr.contains("is there already"));
    assert_eq!(std::fs::read(home.root().join("keys/bob.pem")).unwrap(), b"mine");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn names_lead_to_no_other_file() {
    let home = Home::new();
    for name in ["../x", ".x", "-x", "a/b", "", "ssh", "a b", "\u{e4}", &"x".repeat(65)] {
        let run = home.run(["key", "new", "--", name]).exits(2);
        assert!(run.stderr.contains("the name of a key file"), "{name}: {run:?}");
    }
}

#[test]
fn ctrl_c_leaves_nothing_and_the_terminal_as_it_was() {
    let home = Home::new();
    for presses in [0, 1] {
        let mut pty = Pty::start(&home.command(["key", "new", "ada"]));
        for _ in 0..presses {
            pty.password("new password", PASSWORD);
        }
        pty.until(": ");
        assert!(!pty.echoes());
        pty.interrupt();
        let run = pty.end().exits(1);
        assert_eq!(run.stderr, "granted: told to stop while a person was asked\n");
        assert!(!home.root().exists(), "it makes no home");
    }
}

/// It would leave a terminal that shows nothing, and a shell may have it show the password afterwards.
#[test]
fn ctrl_z_suspends_no_question() {
    let home = Home::new();
    let mut pty = Pty::start(&home.command(["key", "new", "ada"]));
    pty.until("new password");
    assert!(!pty.suspends() && !pty.echoes());
    pty.line(PASSWORD);
    pty.password("again", PASSWORD);
    pty.end().ok();
    assert!(pty.suspends());
}

/// Without a terminal nothing is taken for a password, wherever it stands.
#[test]
fn a_password_is_taken_from_a_terminal_only() {
    let home = Home::new();
    let none = "granted: this takes a person at a terminal, and there is none\n";
    let twice = format!("{PASSWORD}\n{PASSWORD}\n");
    home.write("typed", &twice);
    let without = |args: &[&str]| -> Run {
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(GRANTED).args(args).current_dir(home.dir());
        command.env_clear().env("HOME", home.dir()).env("PATH", "/usr/bin:/bin");
        for name in ["PASSWORD", "GRANTED_PASSWORD", "SSH_ASKPASS", "SUDO_ASKPASS"] {
            command.env(name, PASSWORD);
        }
        command.stdin(std::fs::File::open(home.dir().join("typed")).unwrap());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.output().unwrap().into()
    };
    assert_eq!(without(&["key", "new", "ada"]).exits(1).stderr, none);
    assert!(!home.root().exists(), "it makes no home");
    let json = without(&["key", "new", "ada", "--json"]).exits(1).stderr;
    assert!(json.starts_with("{\"error\":{\"kind\":\"no_terminal\""), "{json}");
    new_key(&home, "ada");
    assert_eq!(without(&["key", "passwd", "ada"]).exits(1).stderr, none);
    for args in [["--password", PASSWORD], ["--password-file", "typed"]] {
        without(&[&["key", "new", "bob"], args.as_slice()].concat()).exits(2);
    }
    // At a terminal, what stands in stdin is not read either.
    let mut pty = Pty::start(&home.shell("exec granted key passwd ada <typed"));
    pty.password("password of key `ada`: ", "not this one");
    let run = pty.end().exits(1);
    assert!(run.stderr.contains("the password is wrong"), "{run:?}");
}

#[test]
fn a_new_password_takes_the_place_of_the_old() {
    let home = Home::new();
    new_key(&home, "ada");
    let before = home.say("key list").ok().stdout;
    let path = home.root().join("keys/ada.pem");
    let sealed = std::fs::read(&path).unwrap();
    let wrong = at_terminal(&home, "key passwd ada", &[("password of", "wrong horse")]).exits(1);
    let told = "`: the password is wrong, or the file is damaged\n";
    assert!(wrong.stderr.ends_with(told), "{wrong:?}");
    assert_eq!(std::fs::read(&path).unwrap(), sealed);
    let new = "another horse";
    let answers = [("password of", PASSWORD), ("new password", new), ("again", new)];
    at_terminal(&home, "key passwd ada", &answers).ok();
    assert_ne!(std::fs::read(&path).unwrap(), sealed);
    assert_eq!(files(&home), 1, "nothing else is left there");
    at_terminal(&home, "key passwd ada", &[("password of", PASSWORD)]).exits(1);
    let answers = [("password of", new), ("new password", PASSWORD), ("again", PASSWORD)];
    at_terminal(&home, "key passwd ada", &answers).ok();
    assert_eq!(home.say("key list").ok().stdout, before);
}
