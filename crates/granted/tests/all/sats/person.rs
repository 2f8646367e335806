//! A person with a wallet.

use std::process::Command;
use std::sync::Arc;

use serde_json::Value;

use crate::bitcoin::{Esplora, Node};
use crate::home::{Home, Run};
use crate::pty::Pty;

/// The wallet's password.
pub const PASSWORD: &str = "correct horse";

/// The program `sats`.
const SATS: &str = env!("CARGO_BIN_EXE_sats");

/// A home with a wallet, and the provider that it is told of.
pub struct Person {
    pub home: Home,
    /// The flags of every command.
    pub flags: Vec<String>,
    /// What is in the environment besides.
    pub vars: Vec<(String, String)>,
}

impl Person {
    /// A home without a wallet.
    pub fn new(provider: &str) -> Person {
        let flags = ["--network", "regtest", "--provider", provider].map(str::to_owned).into();
        Person { home: Home::new(), flags, vars: Vec::new() }
    }

    /// One with a wallet, and a node whose chain an Esplora server tells.
    pub fn with_esplora() -> (Person, Arc<Node>, Esplora) {
        let node = Arc::new(Node::start());
        let esplora = Esplora::start(node.clone());
        let person = Person::new(&format!("esplora={}", esplora.url()));
        person.init();
        (person, node, esplora)
    }

    /// A command of the wallet.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.other(SATS);
        command.args(words).envs(self.vars.iter().cloned());
        // What a command says itself stands.
        for flag in self.flags.chunks(2).filter(|flag| !words.contains(&flag[0].as_str())) {
            command.args(flag);
        }
        command
    }

    /// Runs it where nobody can be asked.
    pub fn run(&self, words: &[&str]) -> Run {
        // A session of its own has no terminal.
        let mut command = Command::new("setsid");
        let ours = self.command(words);
        command.arg("--wait").arg(ours.get_program()).args(ours.get_args());
        command.current_dir(self.home.dir()).env_clear();
        for (name, value) in ours.get_envs() {
            command.env(name, value.unwrap());
        }
        command.stdin(std::process::Stdio::null()).output().unwrap().into()
    }

    /// Runs it, and reads its JSON.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        let mut words = words.to_vec();
        words.push("--json");
        self.run(&words).ok().json()
    }

    /// Starts it at a terminal.
    pub fn at_terminal(&self, words: &[&str]) -> Pty {
        Pty::start(&self.command(words))
    }

    /// Makes a wallet; its words.
    pub fn init(&self) -> String {
        let mut pty = self.at_terminal(&["init", "--words", "12"]);
        pty.password("new password for the wallet: ", PASSWORD);
        let words = words(&pty.shown);
        pty.password("the same again: ", PASSWORD);
        pty.end().ok();
        assert_eq!(words.split(' ').count(), 12, "{}", pty.shown);
        words
    }

    /// Restores a wallet from its words, and looks for its coins.
    pub fn restore(&self, words: &str) {
        let mut pty = self.at_terminal(&["init", "--restore"]);
        pty.password("its words, in their order: ", words);
        pty.password("new password for the wallet: ", PASSWORD);
        pty.password("the same again: ", PASSWORD);
        pty.until("look for its coins now?");
        pty.line("y");
        pty.end().ok();
    }

    pub fn address(&self) -> String {
        self.json(&["receive"])["address"].as_str().unwrap().to_owned()
    }

    /// Pays at a terminal, and answers what is asked there.
    pub fn send(&self, address: &str, amount: &str, more: &[&str]) -> Run {
        let mut words = vec!["send", address, amount, "--json"];
        words.extend(more);
        self.signs(&words)
    }

    /// A command that asks for a yes and for the password.
    pub fn signs(&self, words: &[&str]) -> Run {
        let mut pty = self.at_terminal(words);
        pty.answer(&[("[y/N] ", "y"), ("password of the wallet: ", PASSWORD)]);
        pty.end()
    }

    pub fn balance(&self) -> u64 {
        let run = self.run(&["balance", "--json"]).ok();
        let balance = run.json();
        assert_eq!(balance["synced"], true, "{run:?}");
        balance["balance_sat"].as_u64().unwrap()
    }

    pub fn history(&self) -> Vec<Value> {
        serde_json::from_value(self.json(&["history"])).unwrap()
    }

    /// The one record of a payment, as `status` has it.
    pub fn status(&self, txid: &str) -> Value {
        self.json(&["status", txid])
    }
}

/// The words that a terminal shows, each behind its number.
pub fn words(shown: &str) -> String {
    let mut found = Vec::new();
    let mut items = shown.split_whitespace().peekable();
    while let Some(item) = items.next() {
        if item == (found.len() + 1).to_string()
            && let Some(word) = items.peek()
        {
            found.push((*word).to_owned());
        }
    }
    found.join(" ")
}
