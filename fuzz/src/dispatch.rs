//! A dispatch is known by its nonce alone, and good for no more than was issued.

use granted_core::ledger::{Event, Row};
use granted_core::write::dispatch::{DispatchState, id};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if id(text).is_some() {
        assert!(text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    let lines = text.lines().filter_map(|line| Row::parse(line.as_bytes()).ok());
    let rows: Vec<Row> = lines.collect();
    let Some(first) = rows.first() else { return };
    let subject = first.refs.first().and_then(|(subject, _)| subject.dispatch_id());
    let (Event::WriteDispatched(issued), Some(digest)) = (&first.event, subject) else { return };
    let state = DispatchState::fold(digest, &rows).expect("it was issued");
    let allows = state.allows(&issued.agent, &issued.project, first.at);
    assert!(!allows || (state.uses < issued.uses.into() && first.at < issued.expires));
    assert!(!state.allows(&issued.agent, &issued.project, issued.expires));
}
