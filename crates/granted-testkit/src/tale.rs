//! Books whose checkpoints and proofs can be had, with keys that sign: also such as no honest program
//! would write.

use std::convert::Infallible;

use base64ct::{Base64, Encoding as _};
use ed25519_dalek::{Signer as _, SigningKey};
use granted_core::decision::event::{Resolved, Revoked};
use granted_core::decision::{Grant, Reason};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::checkpoint::{BookKey, Checkpoint};
use granted_core::ledger::tree::{Nodes, beside, leaf, root};
use granted_core::ledger::{Event, Line, Row, Subject};
use granted_core::proof::{Proof, select};
use granted_core::trust::event::{KeyTrusted, KeyUntrusted, ModeSet};
use granted_core::trust::sshsig;
use granted_core::trust::{Mode, PublicKey, Signature, Statement};

use sha2::{Digest as _, Sha512};

use crate::story::Story;

/// A person's key.
pub struct Key {
    secret: SigningKey,
    /// Its public half.
    pub public: PublicKey,
}

impl Key {
    /// One in a file: the same for the same seed.
    pub fn file(seed: u8) -> Key {
        let secret = SigningKey::from_bytes(&[seed; 32]);
        let public = PublicKey::from_bytes(secret.verifying_key().as_bytes()).unwrap();
        Key { secret, public }
    }

    /// One on a security key, played by a program.
    pub fn security(seed: u8) -> Key {
        let secret = SigningKey::from_bytes(&[seed; 32]);
        let mut blob = string(b"sk-ssh-ed25519@openssh.com");
        blob.extend(string(secret.verifying_key().as_bytes()));
        blob.extend(string(b"ssh:"));
        Key { secret, public: PublicKey::from_wire(&blob).unwrap() }
    }

    /// Signs in the plain form.
    pub fn sign(&self, statement: &Statement) -> Signature {
        let bytes = self.secret.sign(&statement.bytes()).to_bytes();
        Signature::ed25519(self.public.id(), &bytes)
    }

    /// Signs in OpenSSH's form; on a security key that somebody touched.
    pub fn sshsig(&self, statement: &Statement) -> Signature {
        self.sshsig_with(statement, 1)
    }

    /// As [`Key::sshsig`], with these flags of a security key.
    pub fn sshsig_with(&self, statement: &Statement, flags: u8) -> Signature {
        let namespace = string(statement.purpose().namespace().as_bytes());
        // Either hash is taken.
        let (name, hash) = match self.public.application() {
            None => ("sha512", Sha512::digest(statement.bytes()).to_vec()),
            Some(_) => ("sha256", Digest::of(&statement.bytes()).0.to_vec()),
        };
        let (reserved, name) = (string(b""), string(name.as_bytes()));
        let mut message = [b"SSHSIG", &namespace[..], &reserved, &name, &string(&hash)].concat();
        let mut tail = Vec::new();
        if let Some(application) = self.public.application() {
            tail = [&[flags][..], &7_u32.to_be_bytes()].concat();
            let hashes = [Digest::of(application.as_bytes()), Digest::of(&message)];
            message = [&hashes[0].0[..], &tail, &hashes[1].0].concat();
        }
        let bare = string(&self.secret.sign(&message).to_bytes());
        let inner = [string(self.public.kind().as_bytes()), bare, tail].concat();
        let (key, inner) = (string(&self.public.to_wire()), string(&inner));
        let blob = [b"SSHSIG\0\0\0\x01", &key[..], &namespace, &reserved, &name, &inner].concat();
        let (begin, end) = ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----");
        sshsig::parse(&format!("{begin}\n{}\n{end}\n", Base64::encode_string(&blob))).unwrap().0
    }
}

/// A string as SSH writes it.
fn string(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

/// A book with all its lines.
pub struct Tale {
    /// Who tells it.
    pub story: Story,
    /// The lines so far.
    pub lines: Vec<Line>,
}

struct Leaves<'t>(&'t [Line]);

impl Nodes for Leaves<'_> {
    type Error = Infallible;

    fn leaf(&mut self, index: u64) -> Result<Digest, Infallible> {
        Ok(leaf(&self.0[usize::try_from(index).unwrap()].hash.0))
    }
}

impl Default for Tale {
    fn default() -> Tale {
        let (story, opened) = Story::open();
        Tale { story, lines: vec![opened] }
    }
}

impl Tale {
    /// A book that trusts key 1 and asks for signatures.
    pub fn signed() -> Tale {
        let mut tale = Tale::default();
        tale.trust(&Key::file(1), "one", None);
        tale.mode(Mode::Signed, None);
        tale
    }

    /// Appends one row.
    pub fn row(&mut self, event: Event, subjects: Vec<Subject>) {
        let line = self.story.scribe.row(event, subjects);
        self.lines.push(line);
    }

    /// Appends several rows at once.
    pub fn append(&mut self, rows: Vec<(Event, Vec<Subject>)>) {
        self.lines.extend(self.story.scribe.append(rows));
    }

    /// The number of the last row that moved a subject.
    pub fn last(&self, subject: &Subject) -> u64 {
        self.rows().iter().rev().find(|row| row.moves(subject).is_some()).map_or(0, |row| row.seq)
    }

    /// A grant, as yet unminted.
    pub fn grant(&mut self, id: &str) -> Grant {
        self.story.grant("report", id)
    }

    /// Mints a grant.
    pub fn mint(&mut self, grant: &Grant) {
        let line = self.story.mint(grant);
        self.lines.push(line);
    }

    /// Claims a grant; the attempt.
    pub fn claim(&mut self, grant: &Grant) -> Id {
        let (attempt, line) = self.story.claim(grant);
        self.lines.push(line);
        attempt
    }

    /// Ends an attempt whose program exited with this status.
    pub fn end(&mut self, grant: &Grant, attempt: Id, status: u8, reason: Reason) {
        self.append(vec![Story::exited(attempt, status), Story::ended(grant, attempt, reason)]);
    }

    /// Uses a grant.
    pub fn use_up(&mut self, grant: &Grant) {
        let attempt = self.claim(grant);
        self.end(grant, attempt, 0, Reason::Confirmed);
    }

    /// Ends an attempt without a result row.
    pub fn cut_off(&mut self, grant: &Grant, attempt: Id, reason: Reason) {
        let (event, subjects) = Story::ended(grant, attempt, reason);
        self.row(event, subjects);
    }

    /// Takes a grant back.
    pub fn revoke(&mut self, grant: &Grant) {
        let revoked = Revoked { by: Some("ada".parse().unwrap()), note: None };
        self.row(Event::Revoked(revoked), vec![Subject::grant(grant.id)]);
    }

    /// Says of an uncertain attempt that it happened; `by` signs it.
    pub fn resolve(&mut self, attempt: Id, by: Option<&Key>) {
        let subject = Subject::discharge(attempt);
        let (who, last) = ("ada".parse().unwrap(), self.last(&subject));
        let statement = Statement::resolve(self.story.book, attempt, last, true, &who, None);
        let signature = by.map(|key| key.sign(&statement));
        let resolved = Resolved { by: who, happened: true, note: None, signature };
        self.row(Event::Resolved(resolved), vec![subject]);
    }

    /// Trusts a key; `by` signs for it.
    pub fn trust(&mut self, key: &Key, name: &str, by: Option<&Key>) {
        let (name, last) = (name.parse().unwrap(), self.last(&Subject::trust()));
        let statement = Statement::trust(self.story.book, last, &key.public, &name);
        let signature = by.map(|key| key.sign(&statement));
        let trusted = KeyTrusted { key: key.public.clone(), name, signature };
        self.row(Event::KeyTrusted(trusted), vec![Subject::trust()]);
    }

    /// Trusts a key no more.
    pub fn untrust(&mut self, key: &Key) {
        let untrusted = KeyUntrusted { key: key.public.id(), note: None };
        self.row(Event::KeyUntrusted(untrusted), vec![Subject::trust()]);
    }

    /// Sets the mode; `by` signs that it is open.
    pub fn mode(&mut self, mode: Mode, by: Option<&Key>) {
        let last = self.last(&Subject::trust());
        let signature = by.map(|key| key.sign(&Statement::open(self.story.book, last)));
        self.row(Event::ModeSet(ModeSet { mode, signature }), vec![Subject::trust()]);
    }

    /// Writes a line anew with another text in it, as somebody could who has the book's key.
    pub fn forge(&mut self, seq: u64, from: &str, to: &str) {
        let line = &mut self.lines[usize::try_from(seq - 1).unwrap()];
        let text = String::from_utf8(std::mem::take(&mut line.bytes)).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        line.bytes = text.replacen(from, to, 1).into_bytes();
        line.hash = Digest::of(&line.bytes);
    }

    /// The ledger's file.
    pub fn ledger(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| [&line.bytes[..], b"\n"].concat()).collect()
    }

    /// The rows.
    pub fn rows(&self) -> Vec<Row> {
        self.lines.iter().map(|line| Row::parse(&line.bytes).unwrap()).collect()
    }

    /// The numbers of the rows that prove what became of a grant.
    pub fn seqs_of(&self, grant: Id) -> Vec<u64> {
        let rows = self.rows();
        let of = |subject: &Subject| -> Vec<Row> {
            rows.iter().filter(|row| row.moves(subject).is_some()).cloned().collect()
        };
        let moving = of(&Subject::grant(grant));
        let claims = moving.iter().filter(|row| matches!(row.event, Event::Intent(_)));
        let attempts = claims.flat_map(|row| of(&row.refs[0].0)).collect::<Vec<_>>();
        let rows = select(&moving, &attempts, &of(&Subject::trust()));
        rows.iter().map(|row| row.seq).collect()
    }

    /// The proof of a grant.
    pub fn prove(&self, grant: Id) -> String {
        self.prove_by(grant, &self.seqs_of(grant))
    }

    /// A proof by these rows, whatever they prove.
    pub fn prove_by(&self, grant: Id, seqs: &[u64]) -> String {
        let (last, size) = (self.lines.last().unwrap(), self.lines.len() as u64);
        let mut leaves = Leaves(&self.lines);
        let Ok(root) = root(size, &mut leaves);
        let offset = self.lines.iter().map(|line| line.bytes.len() as u64 + 1).sum::<u64>();
        let offset = offset - last.bytes.len() as u64 - 1;
        let key = BookKey::new(self.story.book, &[7; 32]).unwrap();
        let head = last.hash;
        let note = Checkpoint { book: self.story.book, size, root, head, offset }.sign(&key);
        let indices: Vec<u64> = seqs.iter().map(|seq| seq - 1).collect();
        let Ok(hashes) = beside(&indices, size, &mut leaves);
        let line = |seq: &u64| {
            let line = &self.lines[usize::try_from(seq - 1).unwrap()];
            (*seq, String::from_utf8(line.bytes.clone()).unwrap())
        };
        let rows = seqs.iter().map(line).collect();
        Proof::new(grant, rows, hashes, note, &key.verifier()).to_text()
    }
}

/// The grant, signed by a key in the plain form.
pub fn signed_by(key: &Key, grant: Grant) -> Grant {
    let signatures = vec![key.sign(&Statement::grant(&grant))];
    Grant { signatures, ..grant }
}
