//! A ledger whose appends go wrong on demand.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::{Draft, Head, Row, Subject};
use granted_core::store::{
    AppendError, Appended, Condition, Ledger, Moved, NotWritten, RawLine, ReadError, Unfinished,
};

/// What goes wrong with an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not written, and the caller knows.
    NotWritten,
    /// It is not written, and the caller cannot know.
    Lost,
    /// It is written, although the caller is told that this is not known.
    Landed,
    /// Something else was written first.
    Conflict,
    /// It takes longer.
    Delayed(Duration),
}

/// A ledger with faults at chosen appends.
pub struct FaultyLedger {
    inner: Arc<dyn Ledger>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    appends: usize,
    faults: BTreeMap<usize, Fault>,
}

impl FaultyLedger {
    /// A ledger in which nothing goes wrong yet.
    pub fn new(inner: Arc<dyn Ledger>) -> FaultyLedger {
        FaultyLedger { inner, state: Mutex::default() }
    }

    /// Makes the append with this number, counted from 1 over the ledger's life, go wrong.
    pub fn at(self, append: usize, fault: Fault) -> FaultyLedger {
        self.state.lock().unwrap().faults.insert(append, fault);
        self
    }

    /// Makes the next append go wrong.
    pub fn next(&self, fault: Fault) {
        let mut state = self.state.lock().unwrap();
        let next = state.appends + 1;
        state.faults.insert(next, fault);
    }

    /// How many appends were tried.
    pub fn appends(&self) -> usize {
        self.state.lock().unwrap().appends
    }
}

fn unknown() -> AppendError {
    AppendError::Unknown("injected fault".into())
}

impl Ledger for FaultyLedger {
    fn head(&self) -> Result<Option<Head>, ReadError> {
        self.inner.head()
    }

    fn rows_after(&self, subject: &Subject, seq: u64) -> Result<Vec<Row>, ReadError> {
        self.inner.rows_after(subject, seq)
    }

    fn row(&self, seq: u64) -> Result<Option<Row>, ReadError> {
        self.inner.row(seq)
    }

    fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Unfinished>, ReadError> {
        self.inner.scan(from, visit)
    }

    fn append(&self, drafts: &[Draft]) -> Result<Appended, AppendError> {
        let fault = {
            let mut state = self.state.lock().unwrap();
            state.appends += 1;
            let append = state.appends;
            state.faults.remove(&append)
        };
        match fault {
            None => self.inner.append(drafts),
            Some(Fault::NotWritten) => Err(NotWritten::Unwritable("injected fault".into()).into()),
            Some(Fault::Lost) => Err(unknown()),
            Some(Fault::Landed) => self.inner.append(drafts).and(Err(unknown())),
            Some(Fault::Conflict) => Err(AppendError::Conflict),
            Some(Fault::Delayed(delay)) => {
                wait(delay);
                self.inner.append(drafts)
            }
        }
    }

    fn condition(&self) -> Result<Condition, ReadError> {
        self.inner.condition()
    }

    fn accept(
        &self,
        drafts: &mut dyn FnMut(&Moved<'_>) -> Result<Vec<Draft>, ReadError>,
    ) -> Result<Appended, AppendError> {
        self.inner.accept(drafts)
    }

    fn holds(&self, appended: &[&Appended]) -> Result<bool, ReadError> {
        self.inner.holds(appended)
    }

    fn digest_at(&self, offset: u64) -> Result<Option<Digest>, ReadError> {
        self.inner.digest_at(offset)
    }
}

#[expect(clippy::disallowed_methods, reason = "the delay is the fault")]
fn wait(delay: Duration) {
    std::thread::sleep(delay);
}
