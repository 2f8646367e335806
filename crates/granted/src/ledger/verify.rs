//! `granted ledger verify`: one pass over the lines, then one over what they moved.
//!
//! The first pass checks each line and puts its moves aside by subject; the second folds them,
//! part by part. The rules are in [`granted_core::ledger::audit`]; memory stays under 32 MiB
//! whatever the ledger's size.

use std::borrow::Cow;
use std::ops::ControlFlow;

use granted_core::digest::Digest;
use granted_core::ledger::audit::{Audit, Fault, Illegal, check_subject_events};
use granted_core::store::{Ledger, RawLine, ReadError, Unfinished};

mod spill;
mod tally;

use spill::Spill;
pub use tally::{Sum, Tally};

/// How many bytes are checked between two calls of `progress`.
const STRIDE: u64 = 1 << 20;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many rows are good; after a fault, those before it.
    pub rows: u64,
    /// How many bytes these rows have, with their LFs.
    pub bytes: u64,
    /// The digest of the last good row; `None` if there is none.
    pub head: Option<Digest>,
    /// An append at the end that was never finished. It counts as not written and is no fault.
    pub unfinished: Option<Unfinished>,
    /// The first thing that is wrong. `rows` is the number of the last good row before it.
    pub fault: Option<Fault>,
    /// Whether the fault keeps rows from being appended, so that a person can have it moved aside
    /// with all that follows it.
    pub acceptable: bool,
}

/// Why a ledger could not be verified: this says nothing of its rows.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The ledger could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The temporary file could not be written or read back.
    #[error("the temporary file of `verify`: {0}")]
    Spill(#[from] std::io::Error),
}

/// Shows lines from a row on, as [`Ledger::scan`] does.
pub type Scan<'a> = dyn Fn(u64, &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>) -> Result<Option<Unfinished>, ReadError>
    + 'a;

/// Checks every row of the ledger and every transition.
///
/// `progress` is told now and then how many bytes are done.
pub fn verify(ledger: &dyn Ledger, progress: &mut dyn FnMut(u64)) -> Result<Report, VerifyError> {
    verify_and_sum(ledger, &mut Tally::default(), progress)
}

/// As [`verify`], and says what the first rows came to, as often as the tally asks.
pub fn verify_and_sum(
    ledger: &dyn Ledger,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, VerifyError> {
    let scan: &Scan<'_> = &|from, visit| ledger.scan(from, visit);
    let mut report = check_lines(scan, tally, progress)?;
    if let Some(fault) = &report.fault
        && let Some(damage) = ledger.condition()?.damage
    {
        report.acceptable = true;
        // The line that is named is the one from which everything would be moved.
        if damage.line < fault.line {
            go_back_to(&mut report, damage.line, damage.cause.into(), scan)?;
        }
    }
    Ok(report)
}

/// As [`verify`], over lines from anywhere. They must be the same lines whenever they are shown,
/// though lines may be added at the end.
pub fn verify_lines(scan: &Scan<'_>, progress: &mut dyn FnMut(u64)) -> Result<Report, VerifyError> {
    check_lines(scan, &mut Tally::default(), progress)
}

fn check_lines(
    scan: &Scan<'_>,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, VerifyError> {
    let mut audit = Audit::default();
    let mut spill = Spill::default();
    let (unfinished, line_fault) = read(scan, &mut audit, &mut spill, tally, progress)?;
    let illegal = fold(&mut spill)?;
    progress(audit.bytes());
    let mut report = Report {
        rows: audit.rows(),
        bytes: audit.bytes(),
        head: audit.head().map(|head| head.hash),
        unfinished,
        fault: line_fault,
        acceptable: false,
    };
    // A transition is only known to be illegal among lines that are good, so it comes first.
    if let Some(illegal) = illegal {
        go_back_to(&mut report, illegal.line, illegal.cause.into(), scan)?;
    }
    Ok(report)
}

/// Checks the lines in order, until the first bad one.
fn read(
    scan: &Scan<'_>,
    audit: &mut Audit,
    spill: &mut Spill,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64),
) -> Result<(Option<Unfinished>, Option<Fault>), VerifyError> {
    let (mut fault, mut failed, mut told) = (None, None, 0);
    let unfinished = scan(1, &mut |line| {
        let checked = audit.line(line, |m| {
            if let Err(error) = spill.push(m) {
                failed.get_or_insert(error);
            }
        });
        fault = checked.err();
        if let Some(head) = audit.head().filter(|_| fault.is_none()) {
            tally.add(head);
        }
        if audit.bytes() >= told + STRIDE {
            told = audit.bytes();
            progress(told);
        }
        match fault.is_some() || failed.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok((unfinished, fault.or_else(|| audit.finish().err()))),
    }
}

/// The first illegal transition, if there is one.
fn fold(spill: &mut Spill) -> Result<Option<Illegal>, VerifyError> {
    let mut first: Option<Illegal> = None;
    for part in 0..spill::PARTS {
        let mut failed = None;
        let moves = spill.part(part).map_while(|read| read.map_err(|e| failed = Some(e)).ok());
        let illegal = check_subject_events(moves).err();
        if let Some(error) = failed {
            return Err(error.into());
        }
        let earlier = |found: &Illegal| first.as_ref().is_none_or(|known| found.line < known.line);
        if let Some(illegal) = illegal.filter(earlier) {
            first = Some(illegal);
        }
    }
    Ok(first)
}

/// Makes this the report's fault: finds where its line lies and the last row before it.
fn go_back_to(
    report: &mut Report,
    bad: u64,
    cause: Cow<'static, str>,
    scan: &Scan<'_>,
) -> Result<(), VerifyError> {
    let good = bad.saturating_sub(1);
    let (mut offset, mut head) = (None, None);
    scan(good.max(1), &mut |line| {
        if line.seq == bad {
            offset = Some(line.offset);
            return ControlFlow::Break(());
        }
        head = Some(Digest::of(line.bytes));
        ControlFlow::Continue(())
    })?;
    let offset = offset.ok_or_else(|| {
        let cause = "its rows changed while they were read".into();
        ReadError::Damaged { line: bad, offset: 0, cause }
    })?;
    report.rows = good;
    report.bytes = offset;
    report.head = head;
    report.fault = Some(Fault { line: bad, offset, cause });
    Ok(())
}

#[cfg(test)]
mod tests;
