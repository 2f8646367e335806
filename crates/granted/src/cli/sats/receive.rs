//! `sats receive`

use granted_core::spend::agent::Address;
use granted_sats::wallet::Revealed;
use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use serde::Serialize;

use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;

/// Give an address to be paid at, another one at each call.
///
/// Once 20 in a row have got nothing, it is the first of those again: who restores the wallet from its words looks no
/// further. On a terminal it is also shown for a phone to read.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {}

const AFTER_HELP: &str = "\
Example:
  sats receive";

#[derive(Serialize)]
struct AddressJson<'a> {
    address: &'a Address,
    index: u32,
}

pub(super) fn run(_: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let Revealed { address, index, again } = place.wallet()?.reveal()?;
    if out.is_json() {
        out.value(&AddressJson { address: &address, index });
        return Ok(0);
    }
    out.line(&address);
    if again {
        out.remark("note: it was given before: the last 20 addresses have got nothing yet");
    }
    if out.is_seen() {
        out.line(code(address.as_str())?);
    }
    Ok(0)
}

/// The address as a picture. In capitals it is a smaller one.
fn code(address: &str) -> Result<String, Failure> {
    let text = format!("bitcoin:{address}").to_uppercase();
    let code = QrCode::with_error_correction_level(text, EcLevel::L);
    let code = code.map_err(|e| Failure::system(format!("no code can be made: {e}")))?;
    Ok(code.render::<Dense1x2>().build())
}
