//! Signing with SSH keys: the real `ssh-keygen` and `ssh-agent`, on disk and in an agent, and security keys.

use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use base64ct::{Base64, Encoding as _};
use ed25519_dalek::{Signer as _, SigningKey};
use granted_core::trust::{Flaw, PublicKey, Purpose, Signature, Statement, sshsig};
use serde_json::Value;
use sha2::{Digest as _, Sha256, Sha512};

use super::{PASSWORD, at_terminal, new_key};
use crate::home::{Home, Run};
use crate::pty::Pty;

/// Runs a program in a home.
#[track_caller]
fn run(home: &Home, program: &str, args: &[&str]) -> Run {
    home.other(program).args(args).output().unwrap().into()
}

/// A home that trusts the SSH key `.ssh/id_ed25519` as `laptop`, which has this passphrase.
fn home(passphrase: &str) -> Home {
    let home = Home::new();
    std::fs::create_dir(home.dir().join(".ssh")).unwrap();
    let args = ["-q", "-t", "ed25519", "-C", "me@box", "-f", ".ssh/id_ed25519", "-N", passphrase];
    run(&home, "ssh-keygen", &args).ok();
    // As the first key it needs no signature.
    home.say("key trust .ssh/id_ed25519.pub --name laptop").ok();
    new_key(&home, "ada");
    home
}

/// The signature of the newest key that was trusted, and what it is over.
fn signed(home: &Home) -> (Signature, Statement) {
    let row = home.rows_of("key.trusted").pop().unwrap();
    let book = home.rows()[0]["body"]["book"].as_str().unwrap().parse().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (key, name) = (text(&row["body"]["key"]), text(&row["body"]["name"]));
    let last = row["refs"][0][1].as_u64().unwrap();
    let statement = Statement::trust(book, last, &key.parse().unwrap(), &name.parse().unwrap());
    (serde_json::from_value(row["body"]["signature"].clone()).unwrap(), statement)
}

/// What the real ssh-keygen says of a signature in a namespace.
fn verdict(home: &Home, key: &PublicKey, armored: &str, statement: &Statement, of: Purpose) -> Run {
    home.write("allowed", format!("me {key}\n"));
    home.write("message.sig", armored);
    home.write("message", statement.bytes());
    let namespace = of.namespace();
    let args = ["-Y", "verify", "-f", "allowed", "-I", "me", "-n", namespace, "-s", "message.sig"];
    let mut command = home.other("ssh-keygen");
    command.args(args).stdin(std::fs::File::open(home.dir().join("message")).unwrap());
    command.output().unwrap().into()
}

/// An agent of its own, which goes away with the value.
struct Agent(Child);

impl Agent {
    fn start(home: &Home, askpass: &str) -> Agent {
        let mut command = home.other("ssh-agent");
        command.args(["-D", "-a", "agent"]).env("SSH_ASKPASS", askpass).env("DISPLAY", ":0");
        let agent = Agent(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        while UnixStream::connect(home.dir().join("agent")).is_err() {
            std::thread::yield_now();
        }
        agent
    }

    /// A command that finds it.
    fn speaking(home: &Home, mut command: Command) -> Command {
        command.env("SSH_AUTH_SOCK", home.dir().join("agent"));
        command
    }

    /// Gives it a key, which is no more on disk then.
    #[track_caller]
    fn add(home: &Home, more: &[&str]) {
        let mut command = Agent::speaking(home, home.other("ssh-add"));
        let out = command.args(more).arg(".ssh/id_ed25519").output().unwrap();
        Run::from(out).ok();
        std::fs::remove_file(home.dir().join(".ssh/id_ed25519")).unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Has `ada` trusted at a terminal, signed with the SSH key; the answers come behind the yes.
#[track_caller]
fn trust_ada(home: &Home, with: &str, answers: &[(&str, &str)]) -> Run {
    let first = [("of key `ada`: ", PASSWORD), ("[y/N] ", "y")];
    at_terminal(home, &format!("key trust ada --sign-with {with}"), &[&first, answers].concat())
}

#[test]
fn a_key_on_disk_signs_and_ssh_keygen_verifies_it() {
    for with in ["ssh", "ssh:.ssh/id_ed25519.pub"] {
        let home = home("");
        trust_ada(&home, with, &[]).ok();
        let (signature, statement) = signed(&home);
        let public = std::fs::read_to_string(home.dir().join(".ssh/id_ed25519.pub")).unwrap();
        let key = PublicKey::from_file(&public).unwrap();
        assert_eq!(signature.verify(&key, &statement), Ok(()));
        let armored = sshsig::armored(&signature);
        let verdict = |of| verdict(&home, &key, &armored, &statement, of).code;
        assert_eq!(verdict(Purpose::Trust), 0);
        assert_ne!(verdict(Purpose::Decision), 0);
    }
}

/// A signature of ssh-keygen's is read as it stands in its file.
#[test]
fn what_ssh_keygen_signs_is_verified() {
    let home = home("");
    let statement = Statement::open("01J8ZC3V9Q6W5T4R3E2W1Q0PAS".parse().unwrap(), 7);
    home.write("message", statement.bytes());
    for (of, verified) in [(Purpose::Trust, Ok(())), (Purpose::Accept, Err(Flaw::Purpose))] {
        let args = ["-Y", "sign", "-q", "-f", ".ssh/id_ed25519", "-n", of.namespace(), "message"];
        run(&home, "ssh-keygen", &args).ok();
        let path = home.dir().join("message.sig");
        let text = std::fs::read_to_string(&path).unwrap();
        let (signature, key) = sshsig::parse(&text).unwrap();
        assert_eq!(signature.verify(&key, &statement), verified);
        assert_eq!(sshsig::armored(&signature), text, "the armored form is the same");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_passphrase_is_asked_for_at_the_terminal_only() {
    let home = home("a passphrase");
    let asked = "Enter passphrase";
    let wrong = trust_ada(&home, "ssh", &[(asked, "another")]).exits(1);
    assert!(wrong.stderr.starts_with("granted: ssh-keygen did not sign: "), "{wrong:?}");
    assert_eq!(wrong.stderr.lines().count(), 1, "{wrong:?}");
    // Nor by a program that the environment names.
    home.script("askpass", "#!/bin/sh\ntouch asked\necho a passphrase\n");
    let mut command = home.command(["key", "trust", "ada", "--sign-with", "ssh"]);
    command.env("SSH_ASKPASS", home.dir().join("askpass")).env("DISPLAY", ":0");
    command.env("SSH_ASKPASS_REQUIRE", "force");
    let mut pty = Pty::start(&command);
    pty.password("of key `ada`: ", PASSWORD);
    pty.until("[y/N] ");
    pty.line("y");
    pty.password(asked, "a passphrase");
    pty.end().ok();
    assert!(!home.dir().join("asked").exists());
}

#[test]
fn a_key_in_an_agent_signs() {
    let home = home("");
    let _agent = Agent::start(&home, "/bin/false");
    Agent::add(&home, &[]);
    // Without its agent it is nowhere.
    let none = trust_ada(&home, "ssh", &[]).exits(1);
    assert!(none.stderr.starts_with("granted: ssh-keygen did not sign: "), "{none:?}");
    for with in ["ssh", "ssh:.ssh/id_ed25519.pub"] {
        let mut command = home.command(["key", "trust", "ada", "--sign-with", with]);
        command = Agent::speaking(&home, command);
        let mut pty = Pty::start(&command);
        pty.password("of key `ada`: ", PASSWORD);
        pty.until("[y/N] ");
        pty.line("y");
        pty.end().ok();
        assert_eq!(home.rows_of("key.trusted").len(), 2);
        home.say("key untrust ada").ok();
        let ledger = home.rows();
        assert_eq!(ledger.last().unwrap()["kind"], "key.untrusted");
        // As it was, for the other way.
        let text = String::from_utf8(home.bytes()).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        std::fs::write(home.ledger(), lines[..lines.len() - 2].concat()).unwrap();
    }
}

#[test]
fn an_agent_that_refuses_is_told_in_a_line() {
    let home = home("");
    let _agent = Agent::start(&home, "/bin/false");
    // It asks before each use, and the answer is no.
    Agent::add(&home, &["-c"]);
    let mut command = home.command(["key", "trust", "ada", "--sign-with", "ssh"]);
    command = Agent::speaking(&home, command);
    let mut pty = Pty::start(&command);
    pty.password("of key `ada`: ", PASSWORD);
    pty.until("[y/N] ");
    pty.line("y");
    let refused = pty.end().exits(1);
    assert!(refused.stderr.contains("agent refused"), "{refused:?}");
    assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
}

#[test]
fn a_key_that_is_not_trusted_is_not_asked_to_sign() {
    let home = Home::new();
    new_key(&home, "ada");
    std::fs::create_dir(home.dir().join(".ssh")).unwrap();
    let args = ["-q", "-t", "ed25519", "-f", ".ssh/id_ed25519", "-N", ""];
    run(&home, "ssh-keygen", &args).ok();
    home.say("trust mode signed").ok();
    let none = at_terminal(&home, "trust mode open --sign-with ssh", &[]).exits(1);
    assert!(none.stderr.contains("no key of the SSH agent or of ~/.ssh is trusted"), "{none:?}");
    let with = "trust mode open --sign-with ssh:.ssh/id_ed25519.pub";
    assert!(at_terminal(&home, with, &[]).exits(1).stderr.contains("is not trusted"));
    let missing = at_terminal(&home, "trust mode open --sign-with ssh:none.pub", &[]).exits(1);
    assert!(missing.stderr.contains("`none.pub`: there is no such file"), "{missing:?}");
    assert_eq!(at_terminal(&home, "trust mode open --sign-with ssh:", &[]).code, 2);
}

fn put(out: &mut Vec<u8>, string: &[u8]) {
    out.extend(u32::try_from(string.len()).unwrap().to_be_bytes());
    out.extend(string);
}

/// The SSHSIG of a security key with these flags, as PROTOCOL.u2f and PROTOCOL.sshsig say, in armor; and
/// its public key.
fn of_security_key(statement: &Statement, flags: u8) -> (String, PublicKey) {
    let kind = b"sk-ssh-ed25519@openssh.com";
    let secret = SigningKey::from_bytes(&[9; 32]);
    let mut public = Vec::new();
    for part in [kind.as_slice(), secret.verifying_key().as_bytes(), b"ssh:"] {
        put(&mut public, part);
    }
    let mut to_sign = b"SSHSIG".to_vec();
    let namespace = statement.purpose().namespace().as_bytes();
    for part in [namespace, b"", b"sha512", &Sha512::digest(statement.bytes())] {
        put(&mut to_sign, part);
    }
    let mut message = Sha256::digest(b"ssh:").to_vec();
    message.push(flags);
    message.extend(42_u32.to_be_bytes());
    message.extend(Sha256::digest(&to_sign));
    let mut signature = Vec::new();
    put(&mut signature, kind);
    put(&mut signature, &secret.sign(&message).to_bytes());
    signature.push(flags);
    signature.extend(42_u32.to_be_bytes());
    let mut blob = b"SSHSIG\0\0\0\x01".to_vec();
    for part in [&public, namespace, b"", b"sha512", &signature] {
        put(&mut blob, part);
    }
    let lines = Base64::encode_string(&blob);
    let lines: Vec<&str> =
        lines.as_bytes().chunks(70).map(|c| str::from_utf8(c).unwrap()).collect();
    let armored = format!(
        "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
        lines.join("\n")
    );
    (armored, PublicKey::from_wire(&public).unwrap())
}

/// There is no security key here, so what one signs is made; the real ssh-keygen says that it is as one makes
/// it, and does not ask for a touch itself.
#[test]
fn a_security_key_has_to_be_touched() {
    let home = Home::new();
    let statement = Statement::open("01J8ZC3V9Q6W5T4R3E2W1Q0PAS".parse().unwrap(), 7);
    for (flags, touched) in [(1, true), (5, true), (0, false), (4, false)] {
        let (armored, key) = of_security_key(&statement, flags);
        let (signature, parsed) = sshsig::parse(&armored).unwrap();
        assert_eq!(parsed, key);
        let expected = if touched { Ok(()) } else { Err(Flaw::Untouched) };
        assert_eq!(signature.verify(&key, &statement), expected, "{flags}");
        let theirs = verdict(&home, &key, &armored, &statement, Purpose::Trust);
        theirs.ok();
    }
    // Such a key is trusted as any other, and has no form that OpenSSL reads.
    let (_, key) = of_security_key(&statement, 1);
    home.write("sk.pub", format!("{key} me@box\n"));
    home.say("key trust sk.pub").ok();
    assert!(home.say("key list").ok().stdout.contains("sk-ssh-ed25519@openssh.com"));
    assert!(home.say("key export sk").exits(1).stderr.contains("--ssh"));
    assert_eq!(home.say("key export sk --ssh").ok().stdout, format!("{key} sk\n"));
}
