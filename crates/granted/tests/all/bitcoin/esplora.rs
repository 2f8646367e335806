//! The part of Esplora's HTTP interface that a wallet uses, over a real node's chain.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use bdk_bitcoind_rpc::bitcoincore_rpc::RpcApi as _;
use granted_sats::bitcoin::hashes::{Hash as _, sha256};
use granted_sats::bitcoin::{Block, BlockHash, ScriptBuf, Transaction, Txid, consensus};
use serde_json::{Value, json};

use super::Node;

/// In what way it is not to be relied on.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// It has this first block.
    pub genesis: Option<String>,
    /// It says this of fees.
    pub fees: Option<String>,
    /// It knows so many blocks less.
    pub behind: u64,
    /// It answers what begins like this with status 503.
    pub broken: Option<&'static str>,
    /// It never answers what begins like this.
    pub silent: Option<&'static str>,
    /// It hands a transaction over and closes without an answer.
    pub swallows: bool,
    /// It says that another transaction was handed over.
    pub lies: bool,
    /// It takes no transaction.
    pub refuses: bool,
    /// It knows of nothing that waits for a block.
    pub forgetful: bool,
    /// It has so many blocks more, all made up.
    pub ahead: u32,
}

/// A server of a node's chain, on a port of its own.
pub struct Esplora {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    node: Arc<Node>,
    faults: Mutex<Faults>,
    blocks: Mutex<HashMap<BlockHash, Block>>,
    /// The chain as it was last seen, with what it was then.
    chain: Mutex<Option<(Mark, Arc<Chain>)>>,
    asked: Mutex<Vec<String>>,
    came: Condvar,
}

/// The last block, how many are left out, and what waits.
type Mark = (BlockHash, u64, Vec<String>);

/// A transaction's block, if it has one: height, hash and time.
type Mined = Option<(u64, BlockHash, u64)>;

/// All that there is: each transaction with its block, in order.
struct Chain {
    all: BTreeMap<Txid, (Transaction, Mined)>,
}

impl Esplora {
    pub fn start(node: Arc<Node>) -> Esplora {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (faults, blocks, chain, asked, came) = Default::default();
        let shared = Arc::new(Shared { node, faults, blocks, chain, asked, came });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = serving.clone();
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Esplora { port, shared }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/secret-path", self.port)
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn set(&self, faults: Faults) {
        *self.shared.faults.lock().unwrap() = faults;
    }

    /// How often it was asked for what begins like this.
    pub fn count(&self, begin: &str) -> usize {
        self.shared.asked.lock().unwrap().iter().filter(|path| path.starts_with(begin)).count()
    }

    /// Waits until it is asked for what begins like this.
    pub fn until(&self, begin: &str) {
        let end = Instant::now() + Duration::from_secs(120);
        let mut asked = self.shared.asked.lock().unwrap();
        while !asked.iter().any(|path| path.starts_with(begin)) {
            assert!(Instant::now() < end, "nobody asks for {begin}");
            asked = self.shared.came.wait_timeout(asked, Duration::from_secs(1)).unwrap().0;
        }
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        if reader.read_line(&mut head).is_err() {
            return;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                break;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = path.strip_prefix("/secret-path").unwrap_or(path);
        self.asked.lock().unwrap().push(format!("{method} {path}"));
        self.came.notify_all();
        let faults = self.faults.lock().unwrap().clone();
        let what = format!("{method} {path}");
        if faults.silent.is_some_and(|begin| what.starts_with(begin)) {
            // Until the other side has had enough.
            let _ = reader.read(&mut [0]);
            return;
        }
        let answer = match faults.broken.is_some_and(|begin| what.starts_with(begin)) {
            true => Err((503, "secret-text".to_owned())),
            false => self.answer(method, path, &body, &faults),
        };
        let Some((status, text)) = answer.map_or_else(Some, |text| text.map(|text| (200, text)))
        else {
            return;
        };
        let length = text.len();
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close");
        let _ = stream.write_all(format!("{head}\r\n\r\n{text}").as_bytes());
    }

    /// The answer; none where the connection is closed without one.
    fn answer(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
        faults: &Faults,
    ) -> Result<Option<String>, (u16, String)> {
        let rpc = self.node.client();
        let tip = self.node.height() - faults.behind;
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let none = || (404, "secret-text".to_owned());
        let text = match (method, parts.as_slice()) {
            ("GET", ["block-height", height]) => {
                let height: u64 = height.parse().unwrap();
                match &faults.genesis {
                    Some(genesis) if height == 0 => genesis.clone(),
                    _ if height > tip + u64::from(faults.ahead) => return Err(none()),
                    _ if height > tip => made_up(height).to_string(),
                    _ => rpc.get_block_hash(height).map_err(|_| none())?.to_string(),
                }
            }
            ("GET", ["blocks", "tip", "height"]) => (tip + u64::from(faults.ahead)).to_string(),
            ("GET", ["blocks"]) => {
                let (last, mut infos) = (tip + u64::from(faults.ahead), vec![]);
                for height in (last.saturating_sub(9)..=last).rev() {
                    infos.push(match height > tip {
                        true => {
                            let mut info = self.info(tip);
                            info["id"] = json!(made_up(height));
                            info["height"] = json!(height);
                            info
                        }
                        false => self.info(height),
                    });
                }
                json!(infos).to_string()
            }
            ("GET", ["fee-estimates"]) => match &faults.fees {
                Some(fees) => fees.clone(),
                None => json!({"1": 3.0, "2": 2.0, "6": 1.0}).to_string(),
            },
            ("GET", ["scripthash", hash, "txs"]) => self.of_script(hash, None, tip),
            ("GET", ["scripthash", hash, "txs", "chain", last]) => {
                self.of_script(hash, Some(last), tip)
            }
            ("GET", ["tx", txid]) => {
                let chain = self.chain(tip);
                let txid: Txid = txid.parse().unwrap();
                chain.json(&txid).ok_or_else(none)?.to_string()
            }
            ("GET", ["tx", txid, "status"]) => {
                let chain = self.chain(tip);
                let txid: Txid = txid.parse().unwrap();
                chain.json(&txid).ok_or_else(none)?["status"].to_string()
            }
            ("GET", ["tx", txid, "outspend", vout]) => {
                let (txid, vout): (Txid, u32) = (txid.parse().unwrap(), vout.parse().unwrap());
                self.chain(tip).spender(txid, vout).to_string()
            }
            ("POST", ["tx"]) => {
                if faults.refuses {
                    return Err((400, "secret-text".to_owned()));
                }
                let hex = str::from_utf8(body).unwrap();
                let sent = self.node.try_call("sendrawtransaction", &[json!(hex)]);
                let txid = sent.map_err(|e| (400, format!("secret-text {e}")))?;
                if faults.swallows {
                    return Ok(None);
                }
                match faults.lies {
                    true => "00".repeat(32),
                    false => txid.as_str().unwrap().to_owned(),
                }
            }
            _ => return Err(none()),
        };
        Ok(Some(text))
    }

    fn block(&self, hash: BlockHash) -> Block {
        let mut blocks = self.blocks.lock().unwrap();
        let fetch = || self.node.client().get_block(&hash).unwrap();
        blocks.entry(hash).or_insert_with(fetch).clone()
    }

    fn info(&self, height: u64) -> Value {
        let hash = self.node.client().get_block_hash(height).unwrap();
        let block = self.block(hash);
        json!({
            "id": hash, "height": height, "version": block.header.version.to_consensus(),
            "timestamp": block.header.time, "tx_count": block.txdata.len(),
            "size": block.total_size(), "weight": block.weight().to_wu(),
            "merkle_root": block.header.merkle_root,
            "previousblockhash": block.header.prev_blockhash, "mediantime": block.header.time,
            "nonce": block.header.nonce, "bits": block.header.bits.to_consensus(),
            "difficulty": 0.0,
        })
    }

    fn chain(&self, tip: u64) -> Arc<Chain> {
        let mut last = self.chain.lock().unwrap();
        let waiting = match self.faults.lock().unwrap().forgetful {
            true => vec![],
            false => self.node.mempool(),
        };
        let mark = (self.node.tip(), tip, waiting);
        match last.as_ref() {
            Some((before, chain)) if *before == mark => chain.clone(),
            _ => {
                let chain = Arc::new(self.read_chain(tip, &mark.2));
                *last = Some((mark, chain.clone()));
                chain
            }
        }
    }

    fn read_chain(&self, tip: u64, waiting: &[String]) -> Chain {
        let mut all = BTreeMap::new();
        for height in 0..=tip {
            let hash = self.node.client().get_block_hash(height).unwrap();
            let block = self.block(hash);
            for tx in block.txdata {
                let place = Some((height, hash, block.header.time.into()));
                all.insert(tx.compute_txid(), (tx, place));
            }
        }
        for txid in waiting {
            let raw = self.node.call("getrawtransaction", &[json!(txid)]);
            let tx: Transaction =
                consensus::encode::deserialize_hex(raw.as_str().unwrap()).unwrap();
            all.insert(tx.compute_txid(), (tx, None));
        }
        Chain { all }
    }

    /// What pays to a script or spends from it: what waits, then the newest first, a page of it.
    fn of_script(&self, hash: &str, last: Option<&str>, tip: u64) -> String {
        let chain = self.chain(tip);
        let is_it = |script: &ScriptBuf| {
            let digest = sha256::Hash::hash(script.as_bytes());
            format!("{digest:x}") == hash
        };
        let mut found: Vec<(Option<u64>, Txid)> = Vec::new();
        for (txid, (tx, place)) in &chain.all {
            let pays = tx.output.iter().any(|output| is_it(&output.script_pubkey));
            let spends = tx.input.iter().any(|input| {
                let before = chain.all.get(&input.previous_output.txid);
                before.is_some_and(|(before, _)| {
                    is_it(&before.output[input.previous_output.vout as usize].script_pubkey)
                })
            });
            if pays || spends {
                found.push((place.map(|(height, ..)| height), *txid));
            }
        }
        found.sort_by_key(|(height, txid)| (std::cmp::Reverse(height.unwrap_or(u64::MAX)), *txid));
        let found: Vec<Txid> = match last {
            None => found.iter().map(|(_, txid)| *txid).collect(),
            Some(last) => {
                let confirmed = found.iter().filter(|(height, _)| height.is_some());
                let after = confirmed.skip_while(|(_, txid)| txid.to_string() != last).skip(1);
                after.map(|(_, txid)| *txid).collect()
            }
        };
        let page: Vec<Value> =
            found.iter().take(25).map(|txid| chain.json(txid).unwrap()).collect();
        json!(page).to_string()
    }
}

/// The hash of a block that there is not.
fn made_up(height: u64) -> BlockHash {
    BlockHash::from_byte_array(sha256::Hash::hash(&height.to_le_bytes()).to_byte_array())
}

impl Chain {
    fn json(&self, txid: &Txid) -> Option<Value> {
        let (tx, place) = self.all.get(txid)?;
        let mut spent = 0;
        let vin: Vec<Value> = tx
            .input
            .iter()
            .map(|input| {
                let at = input.previous_output;
                let before = self.all.get(&at.txid).map(|(tx, _)| &tx.output[at.vout as usize]);
                spent += before.map_or(0, |output| output.value.to_sat());
                let witness: Vec<String> =
                    input.witness.iter().map(|item| item.iter().map(|b| format!("{b:02x}")).collect()).collect();
                json!({
                    "txid": at.txid, "vout": at.vout,
                    "prevout": before.map(|output| json!({"value": output.value.to_sat(), "scriptpubkey": output.script_pubkey.to_hex_string()})),
                    "scriptsig": input.script_sig.to_hex_string(), "witness": witness,
                    "sequence": input.sequence.0, "is_coinbase": tx.is_coinbase(),
                })
            })
            .collect();
        let paid: u64 = tx.output.iter().map(|output| output.value.to_sat()).sum();
        let vout: Vec<Value> = tx.output.iter().map(|output| json!({"value": output.value.to_sat(), "scriptpubkey": output.script_pubkey.to_hex_string()})).collect();
        Some(json!({
            "txid": txid, "version": tx.version.0, "locktime": tx.lock_time.to_consensus_u32(),
            "vin": vin, "vout": vout, "size": tx.total_size(), "weight": tx.weight().to_wu(),
            "fee": spent.saturating_sub(paid), "status": status(place),
        }))
    }

    fn spender(&self, txid: Txid, vout: u32) -> Value {
        for (spender, (tx, place)) in &self.all {
            let at = |input: &granted_sats::bitcoin::TxIn| {
                input.previous_output.txid == txid && input.previous_output.vout == vout
            };
            if let Some(vin) = tx.input.iter().position(at) {
                return json!({"spent": true, "txid": spender, "vin": vin, "status": status(place)});
            }
        }
        json!({"spent": false})
    }
}

fn status(place: &Option<(u64, BlockHash, u64)>) -> Value {
    match place {
        Some((height, hash, time)) => {
            json!({"confirmed": true, "block_height": height, "block_hash": hash, "block_time": time})
        }
        None => json!({"confirmed": false}),
    }
}
