//! Making, restoring and extending a wallet.

use super::{PASSWORD, Person};
use crate::home::Run;

const ABANDON: &str = "abandon abandon abandon abandon abandon abandon abandon abandon abandon \
                       abandon abandon about";

fn nobody() -> Person {
    Person { flags: Vec::new(), ..Person::new("") }
}

#[track_caller]
fn says(run: Run, code: i32, text: &str) {
    assert_eq!(run.code, code, "{run:?}");
    assert!(run.stderr.contains(text), "{run:?}");
}

#[test]
fn a_person_at_a_terminal_is_needed() {
    let ada = nobody();
    for words in [&["init"][..], &["init", "--restore"], &["init", "--words", "24"]] {
        says(ada.run(words), 1, "this takes a person at a terminal");
    }
    says(ada.run(&["init", "--words", "24", "--restore"]), 2, "cannot be used with");
    says(ada.run(&["init", "--words", "15"]), 2, "15");
    says(ada.run(&["balance"]), 1, "hint: to make one: sats init --network signet");
    says(
        ada.run(&["agent", "grant", "claude", "--budget", "50k"]),
        1,
        "hint: to make one: sats init",
    );
    says(ada.run(&["balance", "--network", "testnet"]), 2, "testnet4");
    assert!(!ada.home.root().exists());
}

#[test]
fn words_are_checked_before_anything_is_written() {
    let ada = nobody();
    for (phrase, why) in [
        ("abandon about", "a phrase has 12 or 24 words, and this one has 2"),
        (&ABANDON.replace("about", "hunter2"), "word 12 is not in BIP-39's English list"),
        (&ABANDON.replace("about", "abandon"), "the checksum fails"),
    ] {
        let mut pty = ada.at_terminal(&["init", "--restore"]);
        pty.password("its words, in their order: ", phrase);
        let run = pty.end();
        assert!(!run.stderr.contains("hunter2"), "{run:?}");
        says(run, 1, why);
    }
    let mut pty = ada.at_terminal(&["init", "--restore"]);
    pty.password("its words, in their order: ", ABANDON);
    for _ in 0..3 {
        pty.password("new password for the wallet: ", "short");
    }
    says(pty.end(), 1, "at least 8 characters");
    let mut pty = ada.at_terminal(&["init", "--restore"]);
    pty.password("its words, in their order: ", ABANDON);
    for _ in 0..3 {
        pty.password("new password for the wallet: ", PASSWORD);
        pty.password("the same again: ", "correct horsf");
    }
    says(pty.end(), 1, "not the same");
    assert!(!ada.home.root().exists());
}

/// The addresses that BIP-86 publishes, on mainnet; and another network beside it.
#[test]
fn restores_what_others_derive_and_adds_a_network() {
    let ada = nobody();
    let mut pty = ada.at_terminal(&["init", "--restore", "--network", "mainnet"]);
    pty.until("to go on, type `hot wallet`: ");
    pty.line("yes");
    says(pty.end(), 1, "no wallet was made");
    assert!(!ada.home.root().exists());
    let mut pty = ada.at_terminal(&["init", "--restore", "--network", "mainnet"]);
    pty.until("to go on, type `hot wallet`: ");
    pty.line("hot wallet");
    pty.password("its words, in their order: ", &ABANDON.to_uppercase());
    pty.password("new password for the wallet: ", PASSWORD);
    pty.password("the same again: ", PASSWORD);
    pty.until("look for its coins now? [y/N] ");
    pty.line("n");
    pty.end().ok();
    for address in [
        "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
        "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh",
    ] {
        // Mainnet is what the config says now.
        assert_eq!(ada.address(), address);
    }
    let mut pty = ada.at_terminal(&["init", "--network", "regtest"]);
    pty.password("password of the wallet: ", "correct horsf");
    says(pty.end(), 1, "the password is wrong, or the file is damaged");
    let mut pty = ada.at_terminal(&["init", "--network", "regtest"]);
    pty.password("password of the wallet: ", PASSWORD);
    pty.end().ok();
    let regtest = ada.json(&["receive", "--network", "regtest"]);
    assert!(regtest["address"].as_str().unwrap().starts_with("bcrt1p"), "{regtest}");
    assert!(ada.address().starts_with("bc1p"));
    // What is there already needs no terminal.
    says(ada.run(&["init", "--network", "regtest"]), 1, "there is a wallet for regtest already");
    says(ada.run(&["init", "--restore"]), 1, "already");
}

#[test]
fn twenty_four_words_are_made_and_restored() {
    let ada = nobody();
    let mut pty = ada.at_terminal(&["init", "--words", "24"]);
    // The words that were shown are not lost by a password that will not do.
    pty.password("new password for the wallet: ", "short");
    pty.until("at least 8 characters");
    pty.password("new password for the wallet: ", PASSWORD);
    let words = super::person::words(&pty.shown);
    pty.password("the same again: ", PASSWORD);
    let run = pty.end().ok();
    assert_eq!(words.split(' ').count(), 24, "{}", pty.shown);
    let who = "https://mempool.space tells it the chain, and sees its addresses";
    assert!(run.stderr.contains(who), "{run:?}");
    // The words are on the terminal and nowhere else.
    assert!(!format!("{run:?}").contains(&words[..20]));
    let again = nobody();
    let mut pty = again.at_terminal(&["init"]);
    pty.until("restore a wallet from its words? [y/N] ");
    pty.line("y");
    pty.password("its words, in their order: ", &words);
    pty.password("new password for the wallet: ", PASSWORD);
    pty.password("the same again: ", PASSWORD);
    pty.until("look for its coins now? [y/N] ");
    pty.line("n");
    pty.end().ok();
    assert_eq!(ada.address(), again.address());
}

#[test]
fn neither_an_executor_nor_a_variable_is_a_person() {
    let mut ada = nobody();
    ada.vars = vec![("GRANTED_DISCHARGE_ID".into(), "x".into())];
    for words in [
        &["init"][..],
        &["send", "x", "1"],
        &["tx", "broadcast", "x"],
        &["tx", "bump", "x", "--fee-rate", "1"],
    ] {
        says(ada.run(words), 1, "is a person's verb");
    }
    ada.vars = vec![("SATS_PASSWORD".into(), PASSWORD.into())];
    says(ada.run(&["init"]), 1, "this takes a person at a terminal");
}
