//! A book, opened: everything that a verb needs to gather facts, append and act.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use granted_core::decision::notice::Notice;
use granted_core::id::Id;
use granted_core::ledger::event::Opened;
use granted_core::ledger::{By, Door, Draft, Event, Head};
use granted_core::store::{AppendError, Appended, Documents, Ledger, NotWritten, ReadError};
use granted_core::text::Name;
use granted_core::time::{Clock, Stamp};
use granted_store::{Acts, Blobs, FileDocuments, FileLedger, entropy};

use crate::clock::SystemClock;
use crate::config::{Config, ConfigError};
use crate::home::Home;
use crate::ledger::checkpoint::CheckpointError;
use crate::ledger::witness::{self, Doubt, Witnesses};
use crate::news::News;
use crate::write::gather::Days;

/// One owner's ledger and grants, opened. Opening creates nothing.
///
/// Dropping it waits until the person has been told of what happened, which is bounded.
pub struct Book {
    home: Home,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) documents: Arc<dyn Documents>,
    pub(crate) acts: Acts,
    pub(crate) blobs: Blobs,
    pub(crate) days: Days,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) news: Arc<News>,
    pub(crate) witnesses: Witnesses,
    by: By,
    given_up: Mutex<HashSet<Id>>,
}

impl Book {
    /// Opens the book of this home, in its files, by the system's clock.
    pub fn open(home: Home, door: Door) -> Book {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ledger = FileLedger::new(home.ledger(), clock.clone(), by(door)).within(home.folder());
        let documents = FileDocuments::new(home.documents()).within(home.folder());
        let (ledger, documents) = (Arc::new(ledger), Arc::new(documents));
        Book::with(home, door, ledger, documents, clock)
    }

    /// Opens the book of this home with another store or clock. The clock is to be the ledger's.
    pub fn with(
        home: Home,
        door: Door,
        ledger: Arc<dyn Ledger>,
        documents: Arc<dyn Documents>,
        clock: Arc<dyn Clock>,
    ) -> Book {
        let acts = Acts::beside(&home.ledger_folder());
        let blobs = Blobs::beside(&home.ledger_folder());
        let news = Arc::new(News::new(home.clone(), clock.clone()));
        let (by, given_up, witnesses) = (by(door), Mutex::default(), Witnesses::default());
        let days = Days::default();
        Book { home, ledger, documents, acts, blobs, days, clock, news, witnesses, by, given_up }
    }

    /// The clock's reading.
    pub fn now(&self) -> Stamp {
        self.clock.now()
    }

    /// The book's places.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The book and its ledger, in one line.
    pub(crate) fn describe(&self) -> String {
        let id = match self.ledger.row(1) {
            Ok(Some(_)) => self.id().map_or_else(|e| format!("({e})"), |id| id.to_string()),
            Ok(None) => "(still empty)".to_owned(),
            Err(e) => format!("({e})"),
        };
        format!("book {id} in {}", self.home.ledger().display())
    }

    /// The config as it is now; its witnesses count as they were when it was first read. Only what
    /// uses or widens authority needs it: a person who comes to take a grant back is not held up by a
    /// typo.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let config = Config::load(&self.home)?;
        self.witnesses.learn(&config);
        Ok(config)
    }

    /// Who writes, for an attempt of this agent.
    pub(crate) fn by(&self, agent: Option<&Name>) -> By {
        By { agent: agent.cloned(), ..self.by.clone() }
    }

    /// Remembers that nothing of this attempt runs any more, although a claim of it may stand in
    /// the ledger without an outcome: whoever comes next, here or elsewhere, is to find it
    /// interrupted.
    pub(crate) fn give_up(&self, attempt: Id) {
        self.acts.keep();
        self.given_up().insert(attempt);
    }

    /// Whether this process gave that attempt up.
    pub(crate) fn gave_up(&self, attempt: Id) -> bool {
        self.given_up().contains(&attempt)
    }

    fn given_up(&self) -> MutexGuard<'_, HashSet<Id>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new id.
    pub(crate) fn new_id(&self) -> Result<Id, std::io::Error> {
        Ok(Id::new(self.now(), u128::from_ne_bytes(entropy::random()?)))
    }

    /// The book's id, from the ledger's first row; opens the ledger if it holds nothing yet.
    pub(crate) fn id(&self) -> Result<Id, BookError> {
        loop {
            match self.ledger.row(1)? {
                Some(row) => match row.event {
                    Event::Opened(opened) => return Ok(opened.book),
                    _ => return Err(BookError::NoOpening),
                },
                None => self.open_ledger()?,
            }
        }
    }

    /// Appends, after the opening row if the ledger holds nothing yet, notes what of it a person is to
    /// be told, and has the witnesses hold what spends a grant or takes one back.
    pub(crate) fn append(&self, drafts: &[Draft]) -> Result<Appended, AppendError> {
        let head = self.ledger.head().map_err(unwritable)?;
        self.append_after(head, drafts)
    }

    /// The same where the last row was just looked for.
    pub(crate) fn append_after(
        &self,
        head: Option<Head>,
        drafts: &[Draft],
    ) -> Result<Appended, AppendError> {
        if head.is_none() {
            self.open_ledger()?;
        }
        let appended = self.ledger.append(drafts)?;
        self.news.note(drafts.iter().filter_map(Notice::of_draft));
        if let Some(last) = appended.lines.last().filter(|_| drafts.iter().any(Draft::narrows)) {
            witness::tell(self, last.seq);
        }
        Ok(appended)
    }

    /// Whether there is any document: a book is opened before the first of its grants is.
    fn has_documents(&self) -> bool {
        let mut any = false;
        // A folder that cannot be listed is told when a document is made in it.
        let _ = self.documents.list(&mut |_| any = true);
        any
    }

    /// Writes the opening row, unless somebody else has.
    fn open_ledger(&self) -> Result<(), AppendError> {
        if self.has_documents() {
            let path = self.home.ledger().display();
            return Err(NotWritten::RolledBack(format!(
                "`{path}` holds no row, but there are grants in `{}`: put the ledger back, or \
                 move the grants away to begin a new book",
                self.home.documents().display()
            ))
            .into());
        }
        // Without randomness nothing is written.
        let book = self
            .new_id()
            .map_err(|e| AppendError::NotWritten(NotWritten::Unwritable(e.to_string())))?;
        let draft = Draft::new(Event::Opened(Opened { book }), self.by(None), Vec::new());
        match self.ledger.append(&[draft]) {
            Ok(_) | Err(AppendError::Conflict) => Ok(()),
            Err(e) => Err(e),
        }
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        self.news.told();
    }
}

/// Why a book cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The first row does not open a book.
    #[error("line 1 does not open a book")]
    NoOpening,
    /// A witness keeps authority from being used.
    #[error(transparent)]
    Doubt(#[from] Doubt),
    /// A checkpoint could not be made.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The documents cannot be listed.
    #[error("{0}")]
    Documents(String),
    /// The system has no randomness for an id.
    #[error("no random bytes are to be had: {0}")]
    NoRandomness(String),
}

/// A ledger that cannot be read is not written either.
pub(crate) fn unwritable(error: ReadError) -> AppendError {
    AppendError::NotWritten(NotWritten::Unwritable(error.to_string()))
}

/// Who writes through this door.
pub(crate) fn by(door: Door) -> By {
    By { agent: None, door, host: host(), uid: rustix::process::getuid().as_raw() }
}

fn host() -> Box<str> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    granted_core::text::cut(&name, 64).into()
}
