//! What the person is shown before something is signed, and the question.

use std::collections::BTreeMap;

use granted_core::text::Shown;
use granted_core::trust::{PublicKey, Statement};
use serde_json::value::RawValue;

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
    // A statement is an object. Its values are shown as they stand there; JSON escapes controls, and `Shown`
    // what else is not seen.
    let fields = serde_json::from_str::<BTreeMap<String, &RawValue>>(statement.payload());
    match fields {
        Ok(fields) => {
            lines.extend(
                fields.iter().map(|(name, value)| format!("  {name:<16} {}", Shown(value.get()))),
            );
            // What a person can compare of a key.
            let key = fields.get("key").and_then(|key| serde_json::from_str(key.get()).ok());
            lines.extend(key.map(|key: PublicKey| format!("fingerprint {}", key.fingerprint())));
        }
        Err(_) => lines.push(Shown(statement.payload()).to_string()),
    }
    lines.push(format!("digest     {}", statement.digest()));
    lines
}

#[cfg(test)]
mod tests {
    use granted_core::id::Id;
    use granted_core::text::is_shown;
    use granted_core::time::Stamp;
    use granted_core::trust::SecretKey;

    use super::*;

    #[test]
    fn a_key_is_shown_with_its_fingerprint() {
        let key = SecretKey::new(&[7; 32]).unwrap().public().clone();
        let id = Id::new(Stamp::parse("2026-09-30T08:00:00Z").unwrap(), 1);
        let shown = show(&Statement::trust(id, 1, &key, &"laptop".parse().unwrap()));
        assert!(shown.contains(&format!("fingerprint {}", key.fingerprint())), "{shown:?}");
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_escaped_and_whole() {
        let id = Id::new(Stamp::parse("2026-09-30T08:00:00Z").unwrap(), 1);
        let shown =
            |by: &str| show(&Statement::resolve(id, id, 1, true, &by.parse().unwrap(), None));
        let hostile = shown(&format!("a\u{202e}b\u{1b}[2J\n{}", "x".repeat(900)));
        assert!(hostile.iter().all(|line| line.chars().all(is_shown)), "{hostile:?}");
        let by = hostile.iter().find(|line| line.starts_with("  by ")).unwrap();
        let whole = format!(r#""a\u{{202e}}b\u001b[2J\n{}""#, "x".repeat(900));
        assert!(by.ends_with(&whole), "{by}");
        // What only looks like it is shown in another way.
        assert_ne!(shown("a\u{202e}b")[1..], shown(r"a\u{202e}b")[1..]);
        assert!(
            shown(r"a\u{202e}b")[2].ends_with(r#""a\\u{202e}b""#),
            "{:?}",
            shown(r"a\u{202e}b")
        );
    }
}
