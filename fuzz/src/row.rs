//! A line is a row only if writing the row gives the same bytes; and the cheaper readings of a line
//! agree with the whole one.

use granted_core::ledger::Row;
use granted_core::ledger::row::{Link, Moves};

pub fn run(line: &[u8]) {
    let link = Link::parse(line);
    let moves = Moves::parse(line);
    if let Ok(row) = Row::parse(line) {
        assert_eq!(row.line(), line);
        let link = link.expect("a row is a link");
        assert_eq!((link.seq, link.at, link.prev, link.of), (row.seq, row.at, row.prev, row.of));
        let moves = moves.expect("a row moves subjects");
        let refs = moves.refs.iter().map(|(subject, seq)| (&**subject, *seq));
        assert!(refs.eq(row.refs.iter().map(|(subject, seq)| (subject.as_str(), *seq))));
    }
}
