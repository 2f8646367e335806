//! The node.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use bdk_bitcoind_rpc::bitcoincore_rpc::{Auth, Client, RpcApi as _};
use granted_sats::bitcoin::{Amount, BlockHash, Txid};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{free_port, mortal};

/// A node on regtest, which ends with the value.
pub struct Node {
    child: Child,
    dir: TempDir,
    port: u16,
    client: Client,
}

impl Node {
    /// Starts one that has coins to spend.
    pub fn start() -> Node {
        let node = Node::bare();
        node.call("createwallet", &[json!("w")]);
        node.mine(101);
        node
    }

    fn bare() -> Node {
        // Another process may take the port first.
        (0..5).find_map(|_| Node::try_start()).expect("the node does not start")
    }

    fn try_start() -> Option<Node> {
        let dir = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut child = mortal("bitcoind")
            .arg(format!("-datadir={}", dir.path().display()))
            .arg(format!("-rpcport={port}"))
            .args(["-regtest", "-server=1", "-listen=0", "-connect=0", "-dnsseed=0"])
            .args(["-fixedseeds=0", "-natpmp=0", "-txindex=1", "-fallbackfee=0.0001"])
            .args(["-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1", "-printtoconsole=0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cookie = dir.path().join("regtest/.cookie");
        let url = format!("http://127.0.0.1:{port}");
        loop {
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            let auth = Auth::CookieFile(cookie.clone());
            if let Ok(client) = Client::new(&url, auth)
                && client.get_block_count().is_ok()
            {
                return Some(Node { child, dir, port, client });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Its RPC interface, as a wallet is told of it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn cookie(&self) -> PathBuf {
        self.dir.path().join("regtest/.cookie")
    }

    /// The URL with the cookie as its user.
    pub fn url_with_user(&self) -> String {
        let cookie = std::fs::read_to_string(self.cookie()).unwrap();
        format!("http://{}@127.0.0.1:{}", cookie.trim(), self.port)
    }

    #[track_caller]
    pub fn call(&self, method: &str, args: &[Value]) -> Value {
        self.try_call(method, args).unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    pub fn try_call(&self, method: &str, args: &[Value]) -> Result<Value, String> {
        self.client.call(method, args).map_err(|e| e.to_string())
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn height(&self) -> u64 {
        self.client.get_block_count().unwrap()
    }

    pub fn tip(&self) -> BlockHash {
        self.client.get_best_block_hash().unwrap()
    }

    /// Mines with what waits.
    pub fn mine(&self, count: u64) {
        let address = self.address();
        self.call("generatetoaddress", &[json!(count), json!(address)]);
    }

    /// Mines without what waits.
    pub fn mine_empty(&self, count: u64) {
        for _ in 0..count {
            let address = self.address();
            self.call("generateblock", &[json!(address), json!([])]);
        }
    }

    /// Takes the last block back.
    pub fn invalidate_tip(&self) {
        self.call("invalidateblock", &[json!(self.tip())]);
    }

    /// An address of the node's own.
    pub fn address(&self) -> String {
        self.call("getnewaddress", &[json!(""), json!("bech32")]).as_str().unwrap().to_owned()
    }

    /// Pays.
    pub fn pay(&self, address: &str, sats: u64) -> Txid {
        let bitcoins = Amount::from_sat(sats).to_btc();
        let txid = self.call("sendtoaddress", &[json!(address), json!(bitcoins)]);
        txid.as_str().unwrap().parse().unwrap()
    }

    /// What the node's own wallet got at an address and is confirmed, in satoshis.
    pub fn received(&self, address: &str) -> u64 {
        let got = self.call("getreceivedbyaddress", &[json!(address), json!(1)]);
        Amount::from_btc(got.as_f64().unwrap()).unwrap().to_sat()
    }

    pub fn mempool(&self) -> Vec<String> {
        serde_json::from_value(self.call("getrawmempool", &[])).unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
