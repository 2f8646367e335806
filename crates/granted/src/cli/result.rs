//! `granted result`

use granted_core::decision::resolve::MAX_RECEIPT;
use granted_core::id::Id;
use granted_core::json::Json;
use serde::Serialize;

use super::args::book;
use super::failure::Failure;
use super::out::Out;
use crate::decision::resolve::result;
use crate::home;

/// For executor scripts: write the act's own result, once, while it runs.
///
/// The attempt and the right to speak for it come from the environment that granted gives to the
/// executor (GRANTED_DISCHARGE_ID, GRANTED_RESULT_TOKEN).
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, group = clap::ArgGroup::new("how").args(["ok", "failed"]).required(true))]
pub(crate) struct Args {
    /// It was done.
    #[arg(long)]
    ok: bool,
    /// It was not.
    #[arg(long)]
    failed: bool,
    /// Evidence, such as {"message_id":"…"}: JSON without fractions, at most 4 KiB.
    #[arg(long, value_name = "JSON", value_parser = receipt)]
    receipt: Option<Json>,
}

const AFTER_HELP: &str = "\
Example, at the end of a script that sent a message:
  granted result --ok --receipt '{\"message_id\":\"<42@example.com>\"}'

With --ok, exit with 0. With --failed or without a result any exit code but 0 and 75 is a failure.
--ok and another exit code contradict each other: the outcome is uncertain.";

#[derive(Serialize)]
struct ResultJson {
    discharge_id: Id,
    ok: bool,
}

fn receipt(text: &str) -> Result<Json, String> {
    let receipt: Json = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if receipt.to_text().len() > MAX_RECEIPT {
        return Err(format!("a receipt has at most {MAX_RECEIPT} bytes"));
    }
    Ok(receipt)
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let variable = |name: &str| {
        let value = home::var(name).and_then(|value| value.into_string().ok());
        value.ok_or_else(|| {
            Failure::usage(format!("{name} is not set"))
                .hint("`granted result` is run by an executor, within its act")
        })
    };
    let id: Id = variable("GRANTED_DISCHARGE_ID")?
        .parse()
        .map_err(|e| Failure::usage(format!("GRANTED_DISCHARGE_ID: {e}")))?;
    let token = variable("GRANTED_RESULT_TOKEN")?;
    result(&book(out)?, id, &token, args.ok, args.receipt.as_ref())?;
    if out.is_json() {
        out.value(&ResultJson { discharge_id: id, ok: args.ok });
    }
    Ok(0)
}
