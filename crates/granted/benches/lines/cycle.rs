//! A grant's life in one process: minted as the command line does it, discharged as the library does.

use std::fs::File;

use granted::{Book, Door, Home, Reason, Request, Verdict};
use serde_json::{Value, json};

use crate::book;
use crate::samples::timed;

/// Mints and discharges so many objects, from this number on, in the home of the environment.
pub fn run(first: usize, count: usize) -> Value {
    let book = Book::open(Home::from_env().unwrap(), Door::Library);
    // What `mint` prints is not to stand before the samples.
    let stdout = rustix::io::dup(rustix::stdio::stdout()).unwrap();
    rustix::stdio::dup2_stdout(File::create("/dev/null").unwrap()).unwrap();
    let (mut mints, mut discharges, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for number in first..first + count {
        let id = book::id(number);
        let line = format!("granted mint --json --type report --id {id} --by bench --for 1h");
        let (micros, code) = timed(|| granted::cli::run(line.split(' ').map(Into::into)));
        assert_eq!(code, 0);
        mints.push(micros);
        let request = Request::new("report", &id, "nothing").unwrap();
        let began = std::time::Instant::now();
        let (micros, report) = timed(|| {
            granted::discharge(&book, &request, |_, act| {
                claims.push(began.elapsed().as_secs_f64() * 1e6);
                act.result(true, None);
                Verdict::Done
            })
        });
        assert_eq!(report.reason, Reason::Confirmed, "{report}");
        discharges.push(micros);
    }
    rustix::stdio::dup2_stdout(stdout).unwrap();
    json!({ "mint": mints, "discharge": discharges, "claim": claims })
}
