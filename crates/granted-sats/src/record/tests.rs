#![allow(clippy::disallowed_methods)]
use super::*;
use crate::files::Home;
use crate::funded::{ELSEWHERE, NETWORK, elsewhere, funded, pays};

/// A record of the person's own, and the wallet's home.
fn sample() -> (tempfile::TempDir, Records, Transaction) {
    let dir = tempfile::tempdir().unwrap();
    let records = Home::new(Folder::new(dir.path())).wallet(NETWORK).records();
    let (_, mut wallet) = funded();
    let tx = pays(&mut wallet, &elsewhere()).unsigned_tx;
    let transaction = Transaction {
        txid: Txid::new(tx.compute_txid().to_string()).unwrap(),
        network: NETWORK,
        recipient: Address::new(ELSEWHERE).unwrap(),
        amount: Sats::new(50_000).unwrap(),
        fee: Sats::new(300).unwrap(),
        created_at: Stamp::parse("2026-09-30T08:00:00Z").unwrap(),
        is_broadcast: false,
        bytes: consensus::serialize(&tx),
        origin: None,
    };
    (dir, records, transaction)
}

fn origin(agent: &str) -> Origin {
    let (agent, key) = (AgentName::new(agent).unwrap(), "invoice-1".parse().unwrap());
    let recipient = Address::new(ELSEWHERE).unwrap();
    let intent = IntentDigest::new(NETWORK, &agent, &recipient, Sats::new(50_000).unwrap());
    Origin { request: RequestId::new("g1", &agent, &key), agent, intent }
}

#[test]
fn what_is_written_is_found_and_marked() {
    let (_dir, records, own) = sample();
    assert_eq!(records.find("a"), Err(RecordError::None("a".into())));
    records.write(&own).unwrap();
    assert_eq!(records.read(own.txid.as_str()).as_ref(), Ok(&own));
    assert_eq!(records.find(&own.txid.as_str()[..6]).as_ref(), Ok(&own));
    records.mark_broadcast(&own.txid).unwrap();
    assert!(records.find("").unwrap().is_broadcast);
    records.mark_broadcast(&own.txid).unwrap();
}

#[test]
fn a_request_has_the_transaction_that_all_of_its_origin_names() {
    let (_dir, records, own) = sample();
    let asked = Transaction { origin: Some(origin("claude")), ..own };
    records.write(&asked).unwrap();
    assert_eq!(records.of_request(&origin("claude")), Ok(Some(asked)));
    let id_alone = Origin { intent: origin("codex").intent, ..origin("claude") };
    assert_eq!(records.of_request(&id_alone), Ok(None));
    assert_eq!(records.of_request(&origin("codex")), Ok(None));
}

#[test]
fn a_record_that_is_not_what_it_says_is_not_believed() {
    let (_dir, records, own) = sample();
    records.write(&own).unwrap();
    let name = file(own.txid.as_str());
    let good = files::read(&records.folder, &name).unwrap().unwrap();
    let hex: String = own.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let another = {
        let (_, mut wallet) = funded();
        let own = wallet.reveal_next_address(bdk_wallet::KeychainKind::External).address;
        let tx = pays(&mut wallet, &own).unsigned_tx;
        consensus::encode::serialize_hex(&tx)
    };
    for (from, to, why) in [
        (hex.as_str(), another.as_str(), "its transaction has another id"),
        (hex.as_str(), "00", "its transaction is none"),
        (hex.as_str(), "x", "its transaction is no hexadecimal text"),
        ("\"signet\"", "\"mainnet\"", "it is a record of mainnet"),
        ("\"format_version\": 1", "\"format_version\": 2", "it was written by a newer version"),
        ("\"fee_sat\"", "\"more\": 1, \"fee_sat\"", "unknown field"),
        ("}", "", "EOF"),
    ] {
        assert!(good.contains(from), "{from}");
        files::replace(&records.folder, &name, &good.replace(from, to)).unwrap();
        let error = records.read(own.txid.as_str()).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("signet/transactions/"), "{error}");
        assert_eq!(records.all().unwrap().1.len(), 1);
        // It might be the one that is looked for.
        assert!(records.of_request(&origin("claude")).is_err());
    }
}
