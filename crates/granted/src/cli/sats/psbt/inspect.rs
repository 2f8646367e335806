//! `sats psbt inspect`

use std::path::PathBuf;

use granted_sats::bitcoin::{Address, Psbt};
use granted_sats::network;
use serde::Serialize;

use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::read;

/// Say what a PSBT pays. It looks at the file and at nothing else.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The PSBT, in base64 or as it is.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

const AFTER_HELP: &str = "\
Example:
  sats psbt inspect payment.psbt";

#[derive(Serialize)]
struct PsbtJson {
    txid: String,
    num_inputs: usize,
    signed_inputs: usize,
    finalized: bool,
    fee_sat: Option<u64>,
    outputs: Vec<OutputJson>,
}

/// An output; without an address where its script has none.
#[derive(Serialize)]
pub(super) struct OutputJson {
    address: Option<String>,
    value_sat: u64,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let psbt = read(&args.file)?;
    let is_final = |input: &&granted_sats::bitcoin::psbt::Input| {
        input.final_script_witness.is_some() || input.final_script_sig.is_some()
    };
    let is_signed = |input: &&granted_sats::bitcoin::psbt::Input| {
        is_final(input)
            || input.tap_key_sig.is_some()
            || !input.tap_script_sigs.is_empty()
            || !input.partial_sigs.is_empty()
    };
    let shown = PsbtJson {
        txid: psbt.unsigned_tx.compute_txid().to_string(),
        num_inputs: psbt.inputs.len(),
        signed_inputs: psbt.inputs.iter().filter(is_signed).count(),
        finalized: psbt.inputs.iter().all(|input| is_final(&input)),
        fee_sat: psbt.fee().ok().map(granted_sats::bitcoin::Amount::to_sat),
        outputs: outputs(&psbt, place),
    };
    if out.is_json() {
        out.value(&shown);
        return Ok(0);
    }
    out.line(&shown.txid);
    for output in &shown.outputs {
        out.line(output);
    }
    match shown.fee_sat {
        Some(fee) => out.line(format_args!("fee {fee} sat, if its inputs hold what they say")),
        None => out.line("its inputs do not say what they hold, so its fee is not known"),
    }
    let PsbtJson { num_inputs, signed_inputs, .. } = shown;
    out.line(format_args!("{signed_inputs} of {num_inputs} inputs are signed"));
    Ok(0)
}

/// Every output of a PSBT.
pub(super) fn outputs(psbt: &Psbt, place: &Place) -> Vec<OutputJson> {
    let network = network::bitcoin(place.network);
    let output = |output: &granted_sats::bitcoin::TxOut| OutputJson {
        address: Address::from_script(&output.script_pubkey, network).ok().map(|a| a.to_string()),
        value_sat: output.value.to_sat(),
    };
    psbt.unsigned_tx.output.iter().map(output).collect()
}

impl std::fmt::Display for OutputJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let address = self.address.as_deref().unwrap_or("a script that has no address");
        write!(f, "{:>15} sat to {address}", self.value_sat)
    }
}
