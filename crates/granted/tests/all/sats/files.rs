//! What lies on disk, and what becomes of it when processes race or die.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{PASSWORD, Person};

/// A wallet whose provider is never asked.
fn alone() -> Person {
    let ada = Person::new("esplora=http://127.0.0.1:1");
    ada.init();
    ada
}

fn modes(folder: &Path, found: &mut Vec<(String, u32)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        found.push((path.display().to_string(), mode));
        if path.is_dir() {
            modes(&path, found);
        }
    }
}

#[test]
fn everything_is_for_its_owner_only() {
    let ada = alone();
    ada.address();
    let folder = ada.home.root().join("sats");
    let mut found = vec![];
    modes(&folder, &mut found);
    assert!(found.len() >= 5, "{found:?}");
    for (path, mode) in found {
        let is_folder = Path::new(&path).is_dir();
        assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{path}");
    }
}

#[test]
fn sats_dir_moves_all_of_it() {
    let mut ada = Person::new("esplora=http://127.0.0.1:1");
    let folder = ada.home.dir().join("elsewhere");
    ada.vars = vec![("SATS_DIR".into(), folder.display().to_string())];
    ada.init();
    assert!(folder.join("seed.sealed").exists() && folder.join("regtest/wallet.sqlite").exists());
    assert!(!ada.home.root().exists());
    // And `granted sats` is the same.
    let mut command =
        ada.home.command(["sats", "balance", "--offline", "--json", "--network", "regtest"]);
    let run: crate::home::Run = command.env("SATS_DIR", &folder).output().unwrap().into();
    assert_eq!(run.ok().json()["synced"], false);
}

#[test]
fn no_address_is_given_twice() {
    let ada = alone();
    let start = || {
        let mut command = ada.command(&["receive", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command.spawn().unwrap()
    };
    let mut indexes = BTreeSet::new();
    // After 20 that got nothing, the first is given again.
    for _ in 0..2 {
        let running: Vec<_> = (0..10).map(|_| start()).collect();
        for child in running {
            let out = child.wait_with_output().unwrap();
            let given: Value = serde_json::from_slice(&out.stdout).unwrap();
            assert!(indexes.insert(given["index"].as_u64().unwrap()), "{given}");
        }
    }
    assert_eq!(indexes.into_iter().collect::<Vec<u64>>(), (0..20).collect::<Vec<u64>>());
}

/// Killed at whatever moment, the state is whole, and no address that was printed is given again.
#[test]
fn a_kill_leaves_a_state_that_is_whole() {
    let ada = alone();
    let mut last = None;
    // After 20 that got nothing, the first is given again.
    for round in 0..19_u64 {
        let mut command = ada.command(&["receive", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Another moment each time; which one decides nothing.
        std::thread::sleep(std::time::Duration::from_micros(850 * round));
        child.kill().unwrap();
        let out = child.wait_with_output().unwrap();
        if let Ok(given) = serde_json::from_slice::<Value>(&out.stdout) {
            let index = given["index"].as_u64();
            assert!(index > last, "{given}");
            last = index;
        }
    }
    let index = ada.json(&["receive"])["index"].as_u64();
    assert!(index > last);
    assert_eq!(ada.json(&["balance", "--offline"])["balance_sat"], 0);
}

#[test]
fn what_another_could_have_written_is_not_opened() {
    let ada = alone();
    let seed = ada.home.root().join("sats/seed.sealed");
    let mode = |mode| std::fs::set_permissions(&seed, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o622);
    let mut pty = ada.at_terminal(&["init", "--network", "signet"]);
    pty.password("password of the wallet: ", PASSWORD);
    let run = pty.end().exits(1);
    assert!(run.stderr.contains("chmod"), "{run:?}");
    // Nor what another could have read.
    mode(0o644);
    let mut pty = ada.at_terminal(&["init", "--network", "signet"]);
    pty.password("password of the wallet: ", PASSWORD);
    let run = pty.end().exits(1);
    assert!(run.stderr.contains("may be read by others (mode 0644)"), "{run:?}");
    assert!(run.stderr.contains("chmod go-rwx"), "{run:?}");
    mode(0o600);
    let state = ada.home.root().join("sats/regtest/wallet.sqlite");
    std::fs::rename(&state, ada.home.dir().join("moved")).unwrap();
    std::os::unix::fs::symlink(ada.home.dir().join("moved"), &state).unwrap();
    let run = ada.run(&["balance", "--offline"]).exits(1);
    assert!(run.stderr.contains("is a symbolic link"), "{run:?}");
}

/// Whoever put it there would get the change, and what is received.
#[test]
fn a_state_of_other_keys_is_not_used() {
    let (ada, eve) = (alone(), alone());
    let of = |who: &Person| who.home.root().join("sats/regtest/wallet.sqlite");
    std::fs::copy(of(&eve), of(&ada)).unwrap();
    let mut pty = ada.at_terminal(&["agent", "grant", "claude", "--budget", "50k"]);
    pty.password("password of the wallet: ", PASSWORD);
    let run = pty.end().exits(1);
    assert!(run.stderr.contains("its keys are not those of the seed"), "{run:?}");
}

#[test]
fn a_state_that_is_damaged_is_said() {
    let ada = alone();
    let state = ada.home.root().join("sats/regtest/wallet.sqlite");
    std::fs::write(&state, [b'x'; 4_096]).unwrap();
    let run = ada.run(&["balance", "--offline", "--json"]).exits(1);
    let error: Value = serde_json::from_str(run.stderr.trim()).unwrap();
    assert_eq!(error["error"]["kind"], "wallet", "{run:?}");
    // The state of another network is none of this one.
    std::fs::remove_file(&state).unwrap();
    let mut pty = ada.at_terminal(&["init", "--network", "signet"]);
    pty.password("password of the wallet: ", PASSWORD);
    pty.end().ok();
    std::fs::copy(ada.home.root().join("sats/signet/wallet.sqlite"), &state).unwrap();
    let run = ada.run(&["balance", "--offline"]).exits(1);
    assert!(run.stderr.contains("etwork"), "{run:?}");
}
