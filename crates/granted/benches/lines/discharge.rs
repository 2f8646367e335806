//! Durable discharges in one process.

use std::path::Path;

use granted::{Book, Config, Door, Request, discharge_through};
use serde_json::Value;

use crate::base::{Base, spawn_true};
use crate::{book, samples};

const CONFIG: &str = "[executors.true]\nargv = ['/bin/true']\ncwd = '/'\n";

/// Discharges through `/bin/true`, beside the base and `/bin/true` alone.
pub fn run(folder: &Path, program: &str, count: usize) -> Value {
    let warm = count / 10 + 1;
    let home = book::mint(program, &folder.join("home"), warm + count);
    let ledger = home.ledger().to_owned();
    let book = Book::open(home, Door::Library);
    let config = Config::parse(CONFIG).unwrap();
    let discharge = |number: usize| {
        let request = Request::new("report", &book::id(number), "true").unwrap();
        let report = discharge_through(&book, &config, &request).unwrap();
        assert_eq!(report.reason, granted::Reason::Confirmed, "{report}");
    };
    (0..warm).for_each(discharge);
    let mut base = Base::beside(&ledger);
    samples::in_turns(
        count,
        &mut [
            ("granted", Box::new(|turn| discharge(warm + turn))),
            ("base", Box::new(|_| base.act())),
            ("true", Box::new(|_| spawn_true())),
        ],
    )
}
