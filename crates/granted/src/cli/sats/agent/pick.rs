//! Choosing a request at the terminal.

use std::time::Duration;

use granted_core::spend::chain::Transactions;
use granted_core::spend::{Request, RequestId};
use granted_core::text::Shown;

use super::super::super::failure::Failure;
use crate::clock;
use crate::spend::Spends;
use crate::spend::outlook::Outlook;
use crate::spend::requests::{look, requests};
use crate::terminal::{Terminal, TerminalError};

/// What was chosen.
pub(super) enum Picked {
    /// A request, which is as it was when it was shown.
    Request(RequestId),
    /// None.
    None,
    /// There was none to choose.
    Nothing,
}

/// What can be approved now, and what else waits for the person.
fn open(
    spends: &Spends<'_>,
    transactions: &dyn Transactions,
) -> Result<(Vec<Request>, Vec<Request>), Failure> {
    let (mut waiting, mut others) = (Vec::new(), Vec::new());
    let mut outlook = Outlook::new(spends);
    for request in requests(spends, false, transactions)? {
        let can = request.state.is_approvable() && outlook.outside(&request)?.is_none();
        if can { &mut waiting } else { &mut others }.push(request);
    }
    Ok((waiting, others))
}

/// Shows what waits, and has the person choose. Where nothing can be approved, nobody is asked.
pub(super) fn pick(
    spends: &Spends<'_>,
    transactions: &dyn Transactions,
) -> Result<Picked, Failure> {
    if open(spends, transactions)?.0.is_empty() {
        return Ok(Picked::Nothing);
    }
    let terminal = Terminal::open()?;
    loop {
        let (waiting, others) = open(spends, transactions)?;
        for (number, request) in (1..).zip(&waiting) {
            terminal.line(&format!("{number:>3}  {}", told(request)))?;
        }
        for request in &others {
            terminal.line(&format!("  !  {} (attention)", told(request)))?;
        }
        if waiting.is_empty() {
            terminal.line("nothing waits for approval")?;
        }
        let typed = match terminal.typed("number, r to refresh, w to wait, q to cancel: ") {
            Ok(typed) => typed,
            Err(TerminalError::Stopped) => return Ok(Picked::None),
            Err(error) => return Err(error.into()),
        };
        match str::from_utf8(&typed).unwrap_or("").trim() {
            "q" => return Ok(Picked::None),
            "" | "r" => {}
            "w" => clock::pause(Duration::from_secs(1)),
            number => {
                let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                match index.and_then(|index| waiting.get(index)) {
                    Some(chosen) => return unchanged(spends, chosen),
                    None => terminal.line("there is no such number")?,
                }
            }
        }
    }
}

/// The chosen request, if it is still what was shown.
fn unchanged(spends: &Spends<'_>, chosen: &Request) -> Result<Picked, Failure> {
    match look(spends)?.contains(chosen) {
        true => Ok(Picked::Request(chosen.id)),
        false => Err(Failure::refused(format!("request {} has changed meanwhile", chosen.id))),
    }
}

fn told(request: &Request) -> String {
    let filed = &request.filed;
    let status = request.state.status();
    format!(
        "{}  {}  {} sat to {}  {status}",
        request.id,
        Shown(filed.agent.as_str()),
        filed.amount_sat,
        filed.recipient
    )
}
