//! Signing with an SSH key that the person has: by `ssh-keygen`, which speaks to the agent and to security
//! keys, and asks for the passphrase of a key on disk at the terminal.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use granted_core::text::Shown;
use granted_core::trust::{PublicKey, Signature, Statement, Trust, sshsig};
use granted_exec::{Answer, hand};
use tempfile::NamedTempFile;

use crate::home;
use crate::keys::read_public;
use crate::sign::{SignError, Signer};
use crate::terminal::Terminal;

/// Where OpenSSH's programs are looked for; the caller's `PATH` is not asked.
const FOLDERS: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/bin"];

/// The public keys that are looked at below `~/.ssh`.
const FILES: [&str; 2] = ["id_ed25519.pub", "id_ed25519_sk.pub"];

/// An SSH key.
pub struct Ssh {
    key: PublicKey,
    file: File,
}

/// Where `ssh-keygen` finds the public key.
enum File {
    /// Where the private key may lie beside it.
    Own(PathBuf),
    /// Made for a key that the agent has.
    Made(NamedTempFile),
}

impl Ssh {
    /// The key with this public key file.
    pub fn of_file(path: &Path) -> Result<Ssh, String> {
        Ok(Ssh { key: read_public(path)?, file: File::Own(path.to_owned()) })
    }

    /// The first key of the agent that is trusted; else the first one below `~/.ssh`.
    pub fn first(trust: &Trust) -> Result<Ssh, String> {
        let trusted = |key: &PublicKey| trust.key(key.id()).is_some();
        if let Some(key) = of_agent()?.into_iter().find(trusted) {
            let file = made(&key).map_err(|e| format!("no file for the agent's key: {e}"))?;
            return Ok(Ssh { key, file: File::Made(file) });
        }
        let folder = home::var("HOME").map(|home| PathBuf::from(home).join(".ssh"));
        let mut files = folder.iter().flat_map(|folder| FILES.map(|name| folder.join(name)));
        files
            .find_map(|path| Ssh::of_file(&path).ok().filter(|ssh| trusted(&ssh.key)))
            .ok_or_else(|| "no key of the SSH agent or of ~/.ssh is trusted".to_owned())
    }
}

impl Signer for Ssh {
    fn key(&self) -> &PublicKey {
        &self.key
    }

    fn sign(&mut self, statement: &Statement) -> Result<Signature, SignError> {
        // Without one it would take the statement for the answer to its question.
        let terminal = Terminal::open()?;
        if self.key.application().is_some() {
            terminal.line("touch the security key when it asks for it")?;
        }
        let path = match &self.file {
            File::Own(path) => path,
            File::Made(file) => file.path(),
        };
        let namespace = OsStr::new(statement.purpose().namespace());
        let args = ["-Y", "sign", "-f"].map(OsStr::new);
        let args = [args.as_slice(), &[path.as_os_str(), OsStr::new("-n"), namespace]].concat();
        let answer = run("ssh-keygen", &args, &statement.bytes()).map_err(SignError::Key)?;
        if !answer.ok {
            return Err(SignError::Key(format!(
                "ssh-keygen did not sign: {}",
                last(&answer.stderr)
            )));
        }
        let signature = match sshsig::parse(&answer.stdout) {
            Ok((signature, key)) if key == self.key => signature,
            _ => {
                return Err(SignError::Key(
                    "ssh-keygen answered with no signature of the key".into(),
                ));
            }
        };
        let verified = signature.verify(&self.key, statement);
        verified.map_err(|flaw| SignError::Key(format!("the signature of ssh-keygen: {flaw}")))?;
        Ok(signature)
    }
}

/// The keys that the agent has and that could be trusted; none if there is no agent.
fn of_agent() -> Result<Vec<PublicKey>, String> {
    let answer = run("ssh-add", &[OsStr::new("-L")], b"")?;
    Ok(answer.stdout.lines().filter_map(|line| PublicKey::from_file(line).ok()).collect())
}

/// A file with a public key, for as long as the value lives.
fn made(key: &PublicKey) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    writeln!(file, "{key}")?;
    Ok(file)
}

/// Runs a program of OpenSSH's. Nothing but the terminal is asked for a passphrase.
fn run(name: &str, args: &[&OsStr], input: &[u8]) -> Result<Answer, String> {
    let program =
        FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
    let program = program.ok_or_else(|| {
        format!("there is no `{name}` in {}: install OpenSSH's client", FOLDERS.join(", "))
    })?;
    let with = [("LC_ALL", "C"), ("SSH_ASKPASS_REQUIRE", "never")];
    hand(&program, args, input, &["SSH_ASKPASS"], &with)
        .map_err(|e| format!("`{}`: {}", program.display(), granted_store::open::in_words(&e)))
}

/// The last line that is not empty.
fn last(text: &str) -> String {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    Shown(line.unwrap_or("it does not say why")).to_string()
}
