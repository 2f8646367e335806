//! An Electrum server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use granted_sats::bitcoin::Transaction;
use granted_sats::bitcoin::consensus::encode::deserialize_hex;
use granted_sats::bitcoin::hashes::{Hash as _, sha256};
use serde_json::Value;
use tempfile::TempDir;

use super::{Node, free_port, mortal};

/// A server of a node's chain, which ends with the value.
pub struct Electrum {
    child: Child,
    _dir: TempDir,
    port: u16,
}

impl Electrum {
    pub fn start(node: &Node) -> Electrum {
        let dir = tempfile::tempdir().unwrap();
        let (port, admin) = (free_port(), free_port());
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        let child = mortal("electrumx_server")
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("COIN", "Bitcoin")
            .env("NET", "regtest")
            .env("DB_DIRECTORY", dir.path())
            .env("DB_ENGINE", "leveldb")
            .env("DAEMON_URL", node.url_with_user())
            .env("SERVICES", format!("tcp://127.0.0.1:{port},rpc://127.0.0.1:{admin}"))
            .env("ALLOW_ROOT", "1")
            .env("PEER_DISCOVERY", "off")
            .env("DAEMON_POLL_INTERVAL_BLOCKS", "100")
            .env("DAEMON_POLL_INTERVAL_MEMPOOL", "100")
            .env("COST_SOFT_LIMIT", "0")
            .env("COST_HARD_LIMIT", "0")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = Electrum { child, _dir: dir, port };
        server.until(node);
        server
    }

    pub fn url(&self) -> String {
        format!("tcp://127.0.0.1:{}", self.port)
    }

    /// Waits until it knows the node's last block and what waits for one.
    pub fn until(&mut self, node: &Node) {
        loop {
            assert!(self.child.try_wait().unwrap().is_none(), "the Electrum server ended");
            if self.knows(node) == Some(true) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn knows(&self, node: &Node) -> Option<bool> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut ask = |method: &str, params: Value| {
            let line = serde_json::json!({"id": 0, "method": method, "params": params});
            (&stream).write_all(format!("{line}\n").as_bytes()).ok()?;
            let mut answer = String::new();
            reader.read_line(&mut answer).ok()?;
            Some(serde_json::from_str::<Value>(&answer).ok()?["result"].clone())
        };
        ask("server.version", serde_json::json!(["test", "1.4"]))?;
        let tip = ask("blockchain.headers.subscribe", serde_json::json!([]))?;
        if tip["height"].as_u64() != Some(node.height()) {
            return Some(false);
        }
        for txid in node.mempool() {
            let raw = node.call("getrawtransaction", &[serde_json::json!(txid)]);
            let tx: Transaction = deserialize_hex(raw.as_str().unwrap()).unwrap();
            let digest = sha256::Hash::hash(tx.output[0].script_pubkey.as_bytes());
            let digest: String =
                digest.as_byte_array().iter().rev().map(|b| format!("{b:02x}")).collect();
            let waiting = ask("blockchain.scripthash.get_mempool", serde_json::json!([digest]))?;
            let is_it = |entry: &Value| entry["tx_hash"] == txid.as_str();
            if !waiting.as_array()?.iter().any(is_it) {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl Drop for Electrum {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
