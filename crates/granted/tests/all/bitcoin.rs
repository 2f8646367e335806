//! A real node of a network of one's own, and what tells its chain to a wallet.

mod electrum;
mod esplora;
mod node;

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

pub use electrum::Electrum;
pub use esplora::{Esplora, Faults};
pub use node::Node;

/// Where scripts/bitcoin puts a program of the tests.
fn program(name: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bitcoin");
    let path = PathBuf::from(root).join(name);
    assert!(path.exists(), "`{}` is not there: run scripts/bitcoin first", path.display());
    path
}

/// A program of the tests, which ends with the thread that starts it, however that ends: a server that
/// outlives its test would be there for ever.
fn mortal(name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program(name));
    command
}

/// A port of loopback that nobody listened on just now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
