//! No word and no key is on disk, and none in memory but while something is signed.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use granted_sats::Seed;
use granted_sats::bitcoin::NetworkKind;
use granted_sats::bitcoin::bip32::{DerivationPath, Xpriv};
use granted_sats::bitcoin::secp256k1::Secp256k1;

use super::{PASSWORD, Person};
use crate::bitcoin::{Esplora, Faults, Node};

/// What must not be found, each with its name.
fn secrets(phrase: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    // Three words in a row, wherever they begin.
    let words: Vec<&str> = phrase.split(' ').collect();
    for three in words.windows(3) {
        found.push((format!("words {three:?}"), three.join(" ").into_bytes()));
    }
    let mnemonic: bip39::Mnemonic = phrase.parse().unwrap();
    found.push(("entropy".into(), mnemonic.to_entropy()));
    let seed = mnemonic.to_seed("");
    found.push(("seed".into(), seed.to_vec()));
    let secp = Secp256k1::new();
    let master = Xpriv::new_master(NetworkKind::Test, &seed).unwrap();
    for path in ["m", "m/86'/1'/0'", "m/86'/1'/0'/0/0"] {
        let path: DerivationPath = path.parse().unwrap();
        let key = master.derive_priv(&secp, &path).unwrap();
        let bytes = key.private_key.secret_bytes();
        found.push((format!("key {path}"), bytes.to_vec()));
        found.push((format!("key {path} in digits"), hex(&bytes)));
        found.push((format!("key {path} as text"), key.to_string().into_bytes()));
    }
    assert!(Seed::parse(phrase).is_ok());
    found
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<String>().into_bytes()
}

fn search(place: &str, bytes: &[u8], secrets: &[(String, Vec<u8>)]) -> Vec<String> {
    let has = |secret: &[u8]| memchr::memmem::find(bytes, secret).is_some();
    let found = secrets.iter().filter(|(_, secret)| has(secret));
    found.map(|(name, _)| format!("{name} in {place}")).collect()
}

/// Everything below a folder.
fn on_disk(folder: &Path, secrets: &[(String, Vec<u8>)]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.extend(match path.is_dir() {
            true => on_disk(&path, secrets),
            false => search(path.to_str().unwrap(), &std::fs::read(&path).unwrap(), secrets),
        });
    }
    found
}

/// All that a process has in memory and can write. The wallet has nobody read it but root.
fn in_memory(pid: u32, secrets: &[(String, Vec<u8>)]) -> Vec<String> {
    let opened = std::fs::File::open(format!("/proc/{pid}/mem"));
    if !rustix::process::geteuid().is_root() {
        assert_eq!(opened.unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
        return NONE;
    }
    let mut memory = opened.unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let (mut found, mut size) = (Vec::new(), 0);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().unwrap(), words.next().unwrap());
        if !rights.starts_with("rw") {
            continue;
        }
        let (from, to) = range.split_once('-').unwrap();
        let address = |text| u64::from_str_radix(text, 16).unwrap();
        let mut bytes = vec![0; usize::try_from(address(to) - address(from)).unwrap()];
        memory.seek(SeekFrom::Start(address(from))).unwrap();
        if memory.read_exact(&mut bytes).is_ok() {
            size += bytes.len();
            found.extend(search(line, &bytes, secrets));
        }
    }
    assert!(size > 100_000, "nothing of {pid} was read");
    found
}

const NONE: Vec<String> = Vec::new();

#[test]
fn nothing_secret_is_on_disk_or_stays_in_memory() {
    let node = Arc::new(Node::start());
    let esplora = Esplora::start(node.clone());
    let ada = Person::new(&format!("esplora={}", esplora.url()));
    let phrase = ada.init();
    let secrets = secrets(&phrase);
    node.pay(&ada.address(), 1_000_000);
    node.mine(1);
    ada.balance();

    // The search finds what is there.
    ada.home.write("words", &phrase);
    assert!(on_disk(ada.home.dir(), &secrets).len() >= 10);
    std::fs::remove_file(ada.home.dir().join("words")).unwrap();

    // Before the password.
    let mut pty = ada.at_terminal(&["send", &node.address(), "50k", "--yes"]);
    pty.until("password of the wallet: ");
    assert_eq!(in_memory(pty.pid(), &secrets), NONE);
    // Behind the signature, while the transaction is handed over.
    esplora.set(Faults { silent: Some("POST"), ..Faults::default() });
    pty.line(PASSWORD);
    esplora.until("POST");
    assert_eq!(in_memory(pty.pid(), &secrets), NONE);
    let password = [("password".to_owned(), PASSWORD.as_bytes().to_vec())];
    assert_eq!(in_memory(pty.pid(), &password), NONE);
    pty.kill();
    assert_eq!(on_disk(ada.home.dir(), &secrets), NONE);
    assert_eq!(on_disk(ada.home.dir(), &password), NONE);
}
