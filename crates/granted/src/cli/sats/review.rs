//! What the person is shown before a signature, and what is done once it is there.

use granted_core::spend::agent::{Address, Txid};
use granted_core::spend::chain::{Transaction, Transactions as _};
use granted_core::spend::{Network, Sats};
use granted_core::text::Shown;
use granted_core::time::Clock as _;
use granted_sats::bitcoin::{self, Amount, Psbt, consensus};
use granted_sats::chain::Live;
use granted_sats::payment::Payment;
use granted_sats::sign;
use granted_sats::wallet::Wallet;
use granted_sats::{Seed, bitcoin::FeeRate};

use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use crate::clock::SystemClock;
use crate::terminal::Terminal;

/// An amount as rows and JSON have it.
pub(super) fn sats(amount: Amount) -> Sats {
    // There are never so many as would not fit.
    Sats::new(amount.to_sat()).unwrap_or(Sats::MAX)
}

/// Reads a fee rate.
pub(super) fn read_rate(text: &str) -> Result<u16, String> {
    let rate = text.parse().ok().filter(|rate| (1..=10_000).contains(rate));
    rate.ok_or_else(|| "a fee rate is a whole number of sat for each vB, 1 to 10000".into())
}

/// A fee rate that was typed.
pub(super) fn fee_rate(given: Option<u16>) -> Option<FeeRate> {
    given.and_then(|rate| FeeRate::from_sat_per_vb(rate.into()))
}

/// Shows, at the terminal, what would be signed.
pub(super) fn show(
    payment: &Payment,
    network: Network,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let (amount, fee) = (sats(payment.amount), sats(payment.fee));
    terminal.line(&format!("pay    {amount:>15} sat to {}", payment.recipient))?;
    terminal.line(&format!("fee    {fee:>15} sat"))?;
    let total = amount.plus(fee).unwrap_or(Sats::MAX);
    terminal.line(&format!("total  {total:>15} sat on {network}"))?;
    if network == Network::Mainnet {
        terminal.line("this is money: what is sent does not come back")?;
    }
    Ok(())
}

/// Shows, at the terminal, the payments in whose place it is.
pub(super) fn show_others(
    wallet: &Wallet,
    others: &[bitcoin::Txid],
    terminal: &Terminal,
) -> Result<(), Failure> {
    for other in others {
        let Transaction { txid, recipient, amount, origin, .. } =
            wallet.records().find(&other.to_string())?;
        terminal.line(&format!("it takes the place of {txid}, {amount} sat to {recipient}:"))?;
        terminal.line("only one of the two can ever confirm")?;
        if let Some(origin) = origin {
            let (request, agent) = (origin.request, &origin.agent);
            terminal.line(&format!(
                "{agent} asked for that as {request}, which draws on its budget still"
            ))?;
        }
    }
    Ok(())
}

/// Asks the person.
pub(super) fn agree(terminal: &Terminal, question: &str) -> Result<(), Failure> {
    match terminal.confirm(question)? {
        true => Ok(()),
        false => Err(Failure::new(Kind::Declined, "nothing was signed, and nothing sent")),
    }
}

/// Signs a PSBT and keeps what came of it, durably. `replaced` are the payments that it takes the place of.
pub(super) fn sign(
    wallet: &Wallet,
    seed: Seed,
    mut psbt: Psbt,
    payment: &Payment,
    replaced: &[bitcoin::Txid],
) -> Result<Transaction, Failure> {
    let _turn = wallet.turn()?;
    let state = sign::check(wallet, &seed, &psbt, payment, replaced)?;
    let whole = sign::sign(&state, &seed, wallet.network(), &mut psbt)?;
    drop(seed);
    if !whole {
        return Err(Failure::new(Kind::Key, "it needs signatures that this wallet cannot give"));
    }
    let signed = sign::extract(psbt)?;
    let transaction = record(wallet.network(), &signed, payment)?;
    wallet.records().write(&transaction)?;
    Ok(transaction)
}

/// The record of what the person signed.
fn record(
    network: Network,
    signed: &bitcoin::Transaction,
    payment: &Payment,
) -> Result<Transaction, Failure> {
    let text = |e: granted_core::text::TextError| Failure::system(e);
    Ok(Transaction {
        txid: Txid::new(signed.compute_txid().to_string()).map_err(text)?,
        network,
        recipient: Address::new(payment.recipient.to_string()).map_err(text)?,
        amount: sats(payment.amount),
        fee: sats(payment.fee),
        created_at: SystemClock.now(),
        is_broadcast: false,
        bytes: consensus::serialize(signed),
        origin: None,
    })
}

/// Hands over what was signed and kept, and notes that.
pub(super) fn broadcast(live: &Live, transaction: &Transaction, out: &Out) -> Result<(), Failure> {
    let txid = &transaction.txid;
    let decoded = consensus::deserialize(&transaction.bytes).map_err(Failure::system)?;
    live.send(&decoded).map_err(|e| {
        let failure = Failure::from(e);
        let message = format!("{txid} is signed and kept, but {}", failure.message);
        let again = format!("to hand it over again, which signs nothing: sats tx broadcast {txid}");
        Failure { message, hint: Some(again), ..failure }
    })?;
    if let Err(why) = live.wallet.records().mark_broadcast(txid) {
        // It is on its way all the same.
        out.remark(format_args!("note: it was not noted that {txid} was sent: {}", Shown(&why)));
    }
    Ok(())
}
