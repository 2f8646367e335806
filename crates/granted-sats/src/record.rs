//! The records of what was signed: a file for each transaction, written before it is handed over, so that
//! whatever happens then, the same bytes can be handed over again.

use std::io;

use bdk_wallet::bitcoin::consensus;
use granted_core::spend::agent::{Address, Txid};
use granted_core::spend::chain::{Origin, Transaction, Transactions, Turn};
use granted_core::spend::{AgentName, IntentDigest, Network, RequestId, Sats};
use granted_core::time::Stamp;
use granted_store::custody::Folder;
use granted_store::open::{self, OpenError};
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError, failed};
use crate::wallet::Wallet;

/// The form of a record's file.
const FORMAT: u32 = 1;

/// The records of one wallet.
#[derive(Clone, Debug)]
pub struct Records {
    wallet: Wallet,
    folder: Folder,
    network: Network,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format_version: u32,
    txid: Txid,
    network: Network,
    recipient: Address,
    amount_sat: Sats,
    fee_sat: Sats,
    created_at: Stamp,
    status: Status,
    tx_hex: String,
    origin: From,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Pending,
    Broadcast,
}

/// Who asked for it.
#[derive(Serialize, Deserialize)]
#[serde(tag = "surface", rename_all = "lowercase", deny_unknown_fields)]
enum From {
    Cli,
    Agent { agent: AgentName, request_id: RequestId, intent_digest: IntentDigest },
}

/// Why a record is not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No record begins like this.
    #[error("there is no record of a transaction `{0}`")]
    None(String),
    /// Several begin like this.
    #[error("several records begin with `{0}`")]
    Several(String),
    /// It is not what it says.
    #[error("`{path}`: {why}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Its file.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Wallet {
    /// The records of what was signed with it.
    pub fn records(&self) -> Records {
        let (folder, network) = (self.folder().join("transactions"), self.network());
        Records { wallet: self.clone(), folder, network }
    }
}

impl Records {
    /// Writes a record, durably, in the place of one that is there.
    pub fn write(&self, transaction: &Transaction) -> Result<(), RecordError> {
        let Transaction { txid, network, recipient, amount, fee, created_at, .. } = transaction;
        let status = match transaction.is_broadcast {
            true => Status::Broadcast,
            false => Status::Pending,
        };
        let origin = match &transaction.origin {
            None => From::Cli,
            Some(Origin { agent, request, intent }) => {
                From::Agent { agent: agent.clone(), request_id: *request, intent_digest: *intent }
            }
        };
        let written = Written {
            format_version: FORMAT,
            txid: txid.clone(),
            network: *network,
            recipient: recipient.clone(),
            amount_sat: *amount,
            fee_sat: *fee,
            created_at: *created_at,
            status,
            tx_hex: transaction.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            origin,
        };
        let name = file(txid.as_str());
        let text = serde_json::to_string_pretty(&written);
        let text = text.map_err(|e| self.damaged(&name, e.to_string()))?;
        Ok(files::replace(&self.folder, &name, &(text + "\n"))?)
    }

    /// The record of a transaction.
    pub fn read(&self, txid: &str) -> Result<Transaction, RecordError> {
        let name = file(txid);
        let text = files::read(&self.folder, &name)?;
        let text = text.ok_or_else(|| RecordError::None(txid.to_owned()))?;
        let written: Written =
            serde_json::from_str(&text).map_err(|e| self.damaged(&name, e.to_string()))?;
        self.checked(written, txid).map_err(|why| self.damaged(&name, why))
    }

    /// A record that is what its name says.
    fn checked(&self, written: Written, txid: &str) -> Result<Transaction, String> {
        if written.format_version != FORMAT {
            return Err("it was written by a newer version".into());
        }
        if written.network != self.network {
            return Err(format!("it is a record of {}", written.network));
        }
        let bytes = from_hex(&written.tx_hex).ok_or("its transaction is no hexadecimal text")?;
        let decoded = consensus::deserialize::<bdk_wallet::bitcoin::Transaction>(&bytes);
        let decoded = decoded.map_err(|_| "its transaction is none")?;
        let id = decoded.compute_txid().to_string();
        if id != txid || id != written.txid.as_str() {
            return Err("its transaction has another id".into());
        }
        let origin = match written.origin {
            From::Cli => None,
            From::Agent { agent, request_id, intent_digest } => {
                Some(Origin { agent, request: request_id, intent: intent_digest })
            }
        };
        Ok(Transaction {
            txid: written.txid,
            network: written.network,
            recipient: written.recipient,
            amount: written.amount_sat,
            fee: written.fee_sat,
            created_at: written.created_at,
            is_broadcast: written.status == Status::Broadcast,
            bytes,
            origin,
        })
    }

    /// The record whose transaction's id is this or begins like this.
    pub fn find(&self, prefix: &str) -> Result<Transaction, RecordError> {
        let mut found = self.ids()?.into_iter().filter(|id| id.starts_with(prefix));
        match (found.next(), found.next()) {
            (Some(id), None) => self.read(&id),
            (None, _) => Err(RecordError::None(prefix.to_owned())),
            (Some(_), Some(_)) => Err(RecordError::Several(prefix.to_owned())),
        }
    }

    /// All records, the newest first, and what is wrong with those that cannot be read.
    pub fn all(&self) -> Result<(Vec<Transaction>, Vec<RecordError>), RecordError> {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for id in self.ids()? {
            match self.read(&id) {
                Ok(transaction) => good.push(transaction),
                Err(error) => bad.push(error),
            }
        }
        good.sort_by(|a, b| (b.created_at, &b.txid).cmp(&(a.created_at, &a.txid)));
        Ok((good, bad))
    }

    /// The ids that there are records of.
    fn ids(&self) -> Result<Vec<String>, RecordError> {
        let names = match self.folder.open() {
            Ok(kept) => open::names(&kept.handle).map_err(|e| self.unreadable(&e))?,
            Err(OpenError::Missing(_)) => Vec::new(),
            Err(e) => return Err(FileError::from(e).into()),
        };
        let id = |name: &String| name.strip_suffix(".json").map(str::to_owned);
        let mut ids: Vec<String> = names.iter().filter_map(id).collect();
        ids.retain(|id| Txid::new(id.as_str()).is_ok());
        ids.sort();
        Ok(ids)
    }

    fn unreadable(&self, error: &io::Error) -> FileError {
        failed(self.folder.path(), error)
    }

    fn damaged(&self, name: &str, why: String) -> RecordError {
        RecordError::Damaged { path: self.folder.path().join(name).display().to_string(), why }
    }
}

fn file(txid: &str) -> String {
    format!("{txid}.json")
}

/// The bytes of hexadecimal text.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    use bdk_wallet::bitcoin::hex::FromHex as _;
    Vec::from_hex(text).ok()
}

impl Transactions for Records {
    fn turn(&self) -> Result<Turn, String> {
        self.wallet.turn().map_err(|e| e.to_string())
    }

    fn save(&self, transaction: &Transaction) -> Result<(), String> {
        self.write(transaction).map_err(|e| e.to_string())
    }

    fn of_request(&self, origin: &Origin) -> Result<Option<Transaction>, String> {
        let (good, bad) = self.all().map_err(|e| e.to_string())?;
        match (good.into_iter().find(|tx| tx.origin.as_ref() == Some(origin)), bad.first()) {
            (Some(found), _) => Ok(Some(found)),
            // It might be this one.
            (None, Some(error)) => Err(error.to_string()),
            (None, None) => Ok(None),
        }
    }

    fn mark_broadcast(&self, txid: &Txid) -> Result<(), String> {
        let transaction = self.read(txid.as_str()).map_err(|e| e.to_string())?;
        match transaction.is_broadcast {
            true => Ok(()),
            false => self.save(&Transaction { is_broadcast: true, ..transaction }),
        }
    }
}

#[cfg(test)]
mod tests;
