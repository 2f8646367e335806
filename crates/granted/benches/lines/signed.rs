//! Durable discharges of signed grants, beside such of grants that need no signature.

use std::path::Path;
use std::sync::Arc;

use granted::{Book, Config, Door, Grant, Home, Request, discharge_through};
use granted_core::decision::document::{DocumentName, render};
use granted_core::decision::event::Minted;
use granted_core::id::Id;
use granted_core::ledger::{Draft, Event, Subject};
use granted_core::store::{Documents as _, Ledger as _};
use granted_core::time::Clock as _;
use granted_core::trust::{Change, Mode, SecretKey, Statement, Trust};
use granted_store::{FileDocuments, FileLedger};
use serde_json::Value;

use crate::base::spawn_true;
use crate::book::{self, Wall};
use crate::samples;

const CONFIG: &str = "[executors.true]\nargv = ['/bin/true']\ncwd = '/'\n";

/// Discharges through `/bin/true` in a book that asks for signatures and in one that does not.
pub fn run(folder: &Path, program: &str, count: usize) -> Value {
    let all = count + count / 10 + 1;
    let plain = book::mint(program, &folder.join("plain"), all);
    let signed = book::mint(program, &folder.join("signed"), 1);
    sign(&signed, all);
    let config = Config::parse(CONFIG).unwrap();
    let [plain, signed] = [plain, signed].map(|home| Book::open(home, Door::Library));
    let discharge = |book: &Book, number: usize| {
        let request = Request::new("report", &book::id(number), "true").unwrap();
        let report = discharge_through(book, &config, &request).unwrap();
        assert_eq!(report.reason, granted::Reason::Confirmed, "{report}");
    };
    for number in count..all {
        discharge(&plain, number);
        discharge(&signed, number);
    }
    samples::in_turns(
        count,
        &mut [
            ("signed", Box::new(|turn| discharge(&signed, turn))),
            ("plain", Box::new(|turn| discharge(&plain, turn))),
            ("true", Box::new(|_| spawn_true())),
        ],
    )
}

/// Has this book trust a key and ask for signatures, and mints so many signed grants in it; the first object
/// has one already, which is not signed.
fn sign(home: &Home, grants: usize) {
    let first = FileLedger::new(home.ledger(), Arc::new(Wall), granted_testkit::sample::by());
    let Some(Event::Minted(Minted { grant })) = first.row(2).unwrap().map(|row| row.event) else {
        panic!("the second row mints");
    };
    let secret = SecretKey::new(&[8; 32]).unwrap();
    let by = granted_testkit::sample::by();
    let trusted = Change::Trust(secret.public().clone(), "me".parse().unwrap());
    for change in [trusted, Change::Mode(Mode::Signed)] {
        let trust = Trust::fold(grant.book, &first.rows(&Subject::trust()).unwrap());
        first.append(&[change.draft(grant.book, &trust, None, &by).unwrap()]).unwrap();
    }
    let (mut documents, mut drafts) = (Vec::new(), Vec::new());
    for number in 0..grants {
        let id = Id::new(Wall.now(), number as u128);
        let object =
            granted::Object { id: book::id(number).parse().unwrap(), ..grant.object.clone() };
        let bare = Grant { id, object, ..grant.clone() };
        let signatures = vec![secret.sign(&Statement::grant(&bare))];
        let grant = Grant { signatures, ..bare };
        documents.push((DocumentName::new(&grant.object, id), render(&grant).into_bytes()));
        let seen = if number == 0 { 2 } else { 0 };
        let refs = vec![(Subject::grant(id), 0), (Subject::object(&grant.object), seen)];
        drafts.push(Draft::new(Event::Minted(Minted { grant }), by.clone(), refs));
    }
    FileDocuments::new(home.documents()).create(&documents).unwrap();
    first.append(&drafts).unwrap();
}
