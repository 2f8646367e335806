//! What the person is shown before something is signed, and the question.

use granted_core::text::Shown;
use granted_core::trust::Statement;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::failure::{Failure, Kind};
use crate::terminal::Terminal;

/// Shows the person, on the terminal, exactly what is to be signed, and asks for a yes.
pub(crate) fn agree(statements: &[Statement]) -> Result<(), Failure> {
    let terminal = Terminal::open()?;
    for statement in statements {
        for line in show(statement) {
            terminal.line(&line)?;
        }
    }
    let question = match statements {
        [_] => "sign this?".to_owned(),
        all => format!("sign these {}?", all.len()),
    };
    match terminal.confirm(&question)? {
        true => Ok(()),
        false => Err(Failure::new(Kind::Declined, "nothing was signed, and nothing done")),
    }
}

/// A statement, a line for each of its fields with nothing cut, and its digest.
pub(crate) fn show(statement: &Statement) -> Vec<String> {
    let mut lines = vec![format!("to sign    {}", statement.purpose().payload_type())];
    // A statement is an object. Its fields are shown as they stand there, which `Shown` does for what JSON
    // does not escape.
    let fields = serde_json::from_str::<BTreeMap<String, &RawValue>>(statement.payload());
    match fields {
        Ok(fields) => lines.extend(
            fields.iter().map(|(name, value)| format!("  {name:<16} {}", Shown(value.get()))),
        ),
        Err(_) => lines.push(Shown(statement.payload()).to_string()),
    }
    lines.push(format!("digest     {}", statement.digest()));
    lines
}
