//! Appends from other processes: many at once, killed, and at real limits of the disk.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use granted_core::store::{AppendError, Ledger, NotWritten};
use granted_store::FileLedger;
use granted_testkit::{contract, sample};

use super::home::Home;

/// Starts this test binary once more, to do `what` in that home.
fn start(home: &Path, what: &str, limit: &str) -> Child {
    let script = format!("{limit} exec \"$0\" process::child --exact --nocapture");
    Command::new("/bin/bash")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env("GRANTED_TEST_HOME", home)
        .env("GRANTED_TEST_DO", what)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the other process does; nothing when it is run as a test.
#[test]
fn child() {
    let Some(home) = std::env::var_os("GRANTED_TEST_HOME") else { return };
    let what = std::env::var("GRANTED_TEST_DO").unwrap();
    let (verb, number) = what.split_once(' ').unwrap();
    let number: u64 = number.parse().unwrap();
    let path = Path::new(&home).join("ledger.jsonl");
    let ledger = FileLedger::new(
        path,
        std::sync::Arc::<granted_testkit::FixedClock>::default(),
        sample::by(),
    );
    match verb {
        "mint" => {
            for n in number..number + 40 {
                ledger.append(&[sample::minted(n, 0)]).unwrap();
            }
        }
        "forever" => {
            for n in number.. {
                ledger.append(&[sample::minted(n, 0), sample::revoked(n, 0)]).unwrap();
            }
        }
        "full" => {
            // Until the disk takes no more; then still nothing is torn.
            let mut n = number;
            let why = loop {
                match ledger.append(&[sample::minted(n, 0), sample::minted(n + 1, 0)]) {
                    Ok(_) => n += 2,
                    Err(AppendError::NotWritten(NotWritten::Unwritable(why))) => break why,
                    other => panic!("{other:?}"),
                }
            };
            assert!(why.contains("ledger.jsonl"), "{why}");
            assert!(ledger.append(&[sample::minted(n, 0), sample::minted(n + 1, 0)]).is_err());
        }
        other => panic!("{other}"),
    }
}

#[test]
fn eight_processes_append_at_once() {
    let home = Home::new();
    home.minted(0);
    let children: Vec<Child> =
        (1..=8).map(|n| start(home.dir.path(), &format!("mint {}", n * 1_000), "")).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(contract::check_chain(&home.ledger()).len(), 1 + 8 * 40);
}

#[test]
fn killed_at_any_time() {
    let home = Home::new();
    home.minted(0);
    for round in 1..15_u64 {
        let mut child = start(home.dir.path(), &format!("forever {}", round * 1_000_000), "");
        std::thread::sleep(std::time::Duration::from_millis(40 + round * 3));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let ledger = home.ledger();
    ledger.append(&[sample::minted(1, 0)]).unwrap();
    let rows = contract::check_chain(&ledger);
    assert!(rows.len() > 100, "{}", rows.len());
}

#[test]
fn at_a_file_size_limit() {
    let home = Home::new();
    home.minted(1);
    // With the signal ignored, as the program has it, the write fails instead.
    let mut child = start(home.dir.path(), "full 10", "trap '' XFSZ; ulimit -f 16;");
    assert!(child.wait().unwrap().success());
    let length = home.bytes().len();
    assert!(length > 14 << 10 && length <= 16 << 10, "{length}");
    contract::check_chain(&home.ledger());
    home.ledger().append(&[sample::minted(9_000, 0)]).unwrap();
    assert!(home.moved().is_empty());
}

#[test]
fn on_a_full_disk() {
    if !rustix::process::getuid().is_root() {
        return; // Only root mounts.
    }
    let home = Home::new();
    // In a mount namespace of its own, so that nothing is left over.
    let script = "mount -t tmpfs -o mode=0700,size=64k tmpfs \"$GRANTED_TEST_HOME\" || exit 77; \
                  printf . > \"$GRANTED_TEST_HOME/filler\"; \
                  \"$0\" process::child --exact --nocapture || exit 1; \
                  rm \"$GRANTED_TEST_HOME/filler\"; cp \"$GRANTED_TEST_HOME/ledger.jsonl\" \"$1\"";
    let copy = Home::new();
    copy.minted(0);
    let seed = copy.path();
    let status = Command::new("unshare")
        .args(["-m", "/bin/bash", "-c"])
        .arg(script.replace("printf .", "cp \"$1\" \"$GRANTED_TEST_HOME/ledger.jsonl\"; printf ."))
        .arg(std::env::current_exe().unwrap())
        .arg(&seed)
        .env("GRANTED_TEST_HOME", home.dir.path())
        .env("GRANTED_TEST_DO", "full 10")
        .stdout(Stdio::null())
        .status();
    match status.map(|status| status.code()) {
        // No unshare, or no right to mount after all.
        Err(_) | Ok(Some(77)) => {}
        Ok(code) => {
            assert_eq!(code, Some(0));
            assert!(contract::check_chain(&copy.ledger()).len() > 20);
        }
    }
}
