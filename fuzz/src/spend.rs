//! Rows of spends, one a line. A story that `ledger verify` takes for legal never has a grant pay more than
//! its budget, and no row makes a request approvable again that may have been signed.

use granted_core::ledger::audit::check_history;
use granted_core::ledger::{Event, Row, Subject};
use granted_core::spend::overview::Overview;
use granted_core::spend::{GrantId, GrantState, Network, Request, RequestId, State};

pub fn run(bytes: &[u8]) {
    let rows: Vec<Row> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| Row::parse(line).ok()).collect();
    for network in Network::ALL {
        let mut overview = Overview::new(network);
        for row in &rows {
            overview.apply(row);
        }
        overview.into_requests().for_each(|request| assert_eq!(request.filed.network, network));
    }
    let subjects = rows.iter().flat_map(|row| row.refs.iter().map(|(subject, _)| subject));
    for subject in subjects {
        let of: Vec<Row> = rows.iter().filter(|row| moves(row, subject)).cloned().collect();
        if let Some(id) = subject.as_str().strip_prefix("spend-grant:") {
            grant(id, &of, subject);
        } else if let Some(id) = subject.as_str().strip_prefix("spend:") {
            request(id, &of);
        }
    }
}

fn moves(row: &Row, subject: &Subject) -> bool {
    row.refs.iter().any(|(moved, _)| moved == subject)
}

fn grant(id: &str, rows: &[Row], subject: &Subject) {
    let Ok(id) = id.parse::<GrantId>() else { return };
    let Some(state) = GrantState::fold(&id, rows) else { return };
    let legal = check_history(state.grant.book, rows, std::slice::from_ref(subject)).is_ok();
    assert!(!legal || state.spent() <= state.grant.budget_sat);
}

fn request(id: &str, rows: &[Row]) {
    let Ok(id) = id.parse::<RequestId>() else { return };
    let (mut before, mut signed) = (None, false);
    for end in 1..=rows.len() {
        let request = Request::fold(id, &rows[..end]);
        let approvable = request.as_ref().is_some_and(|request| request.state.is_approvable());
        let last = rows.get(end - 1).map(|row| &row.event);
        // Only a new authorization begins anew, and only what stops before the signer gives it back.
        signed = match &request {
            Some(Request { state: State::Signing { signed, .. }, .. }) => *signed,
            _ => signed,
        };
        assert!(!(signed && approvable), "{before:?} and then {last:?}");
        before = last.map(Event::kind);
    }
}
