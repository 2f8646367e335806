//! Requests for payments, filed in one process.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use granted::asking::{Asked, Session, Spends, file};
use granted::{Book, Door, Home};
use granted_core::spend::chain::Addresses;
use granted_core::spend::{Address, Network, Sats, State, Token};
use serde_json::Value;

use crate::base::spawn_true;
use crate::samples;

/// Reads addresses as the wallet does.
struct Spelling;

impl Addresses for Spelling {
    fn canonical(&self, text: &str, network: Network) -> Result<Address, String> {
        let read = granted_sats::network::address(network, text).map_err(|e| e.to_string())?;
        Address::new(read.to_string()).map_err(|e| e.to_string())
    }
}

/// Files so many requests of `bench` on signet, in the home of GRANTED_HOME, beside synced appends of as many bytes.
pub fn run(token: &str, address: &str, count: usize) -> Value {
    let home = Home::from_env().unwrap();
    let ledger = home.ledger().to_owned();
    let sats = ledger.with_file_name("sats");
    let book = Book::open(home, Door::Library);
    let spends = Spends::new(&book, Network::Signet, &sats);
    let token = Token::parse(token).unwrap();
    let session = Session::new("bench".parse().unwrap(), token);
    let ask = |turn: usize| {
        let (amount, key) = (Sats::new(1_000).unwrap(), format!("turn-{turn}"));
        let asked = Asked { address, amount, key: &key };
        let request = file(&spends, &session, &asked, &Spelling).unwrap();
        assert_eq!(request.state, State::PendingApproval);
    };
    ask(count);
    let text = std::fs::read_to_string(&ledger).unwrap();
    let row = text.lines().last().unwrap().len() + 1;
    let base = ledger.with_file_name("base");
    let mut base = OpenOptions::new().append(true).create_new(true).mode(0o600).open(base).unwrap();
    samples::in_turns(
        count,
        &mut [
            ("granted", Box::new(ask)),
            (
                "base",
                Box::new(|_| {
                    base.write_all(&vec![b'x'; row]).unwrap();
                    base.sync_data().unwrap();
                }),
            ),
            ("true", Box::new(|_| spawn_true())),
        ],
    )
}
