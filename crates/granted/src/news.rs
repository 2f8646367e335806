//! What a person who is away is to be told, and telling it.
//!
//! The pipelines note what they come upon. The door tells it once the answer is out; nothing of it
//! changes the answer. No lock is held meanwhile, so that a notifier may run granted itself.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use granted_core::decision::notice::{MORE, Notice, in_one};
use granted_core::digest::Digest;
use granted_core::time::Clock;
use granted_exec::Notifier;
use granted_store::custody::Kept;
use granted_store::open::{self, OpenError};

use crate::clock::since_boot;
use crate::config::{Config, DEFAULT_PATH, NotifyEntry};
use crate::decision::actor::{default_cwd, environment};
use crate::home::Home;

/// How many notices are given one by one before the others are counted in one.
const SINGLY: usize = 20;

/// What was noted and not yet told.
pub struct News {
    home: Home,
    clock: Arc<dyn Clock>,
    noted: Mutex<Noted>,
    teller: Mutex<Option<JoinHandle<()>>>,
    remark: OnceLock<fn(&str)>,
}

#[derive(Default)]
struct Noted {
    notices: Vec<Notice>,
    /// A thread tells them, and takes what is noted meanwhile.
    teller_runs: bool,
    /// The trouble that was remarked last.
    trouble: String,
}

impl News {
    /// None yet. Those of this home are told by its config, once each.
    pub(crate) fn new(home: Home, clock: Arc<dyn Clock>) -> News {
        let (noted, teller, remark) = Default::default();
        News { home, clock, noted, teller, remark }
    }

    /// Says what to do with a line on a notifier or a witness that fails. Nothing, if this is not called.
    pub(crate) fn remark_by(&self, remark: fn(&str)) {
        // Whoever opened the book says it once.
        let _ = self.remark.set(remark);
    }

    /// Keeps these to be told.
    pub(crate) fn note(&self, notices: impl IntoIterator<Item = Notice>) {
        self.noted().notices.extend(notices);
    }

    /// Tells what was noted, and returns when the notifier has ended.
    pub(crate) fn tell(&self) {
        let notices = std::mem::take(&mut self.noted().notices);
        if !notices.is_empty()
            && let Err(trouble) = self.tell_these(notices)
        {
            self.complain(trouble);
        }
    }

    /// Tells what was noted in a thread, of which there is one at a time.
    pub(crate) fn tell_aside(self: &Arc<News>) {
        let mut noted = self.noted();
        if noted.notices.is_empty() || noted.teller_runs {
            return;
        }
        noted.teller_runs = true;
        drop(noted);
        let news = self.clone();
        let started = std::thread::Builder::new().spawn(move || {
            while news.goes_on() {
                news.tell();
            }
        });
        match started {
            Ok(teller) => *self.teller() = Some(teller),
            Err(e) => {
                let mut noted = self.noted();
                (noted.teller_runs, noted.notices) = (false, Vec::new());
                drop(noted);
                self.complain(format!("no notice was given: {e}"));
            }
        }
    }

    /// Whether there is more to tell. If not, the next note needs another thread.
    fn goes_on(&self) -> bool {
        let mut noted = self.noted();
        noted.teller_runs = !noted.notices.is_empty();
        noted.teller_runs
    }

    /// Waits until the thread that tells has ended.
    pub(crate) fn told(&self) {
        let teller = self.teller().take();
        // A thread that panicked has told what it could.
        let _ = teller.map(JoinHandle::join);
    }

    fn tell_these(&self, notices: Vec<Notice>) -> Result<(), String> {
        let unable = |why: String| format!("no notice was given: {why}");
        let config = Config::load(&self.home).map_err(|e| unable(e.to_string()))?;
        let Some(entry) = config.notify else { return Ok(()) };
        let bell = Bell::new(&entry, &self.home).map_err(unable)?;
        let begun = since_boot();
        let in_time = || since_boot().saturating_sub(begun) < entry.timeout;
        let (mut singly, mut others, mut ended) = (0, Vec::new(), Ok(()));
        for notice in notices {
            match self.is_first(&notice) {
                Ok(false) => {}
                Ok(true) if singly < SINGLY && in_time() => {
                    singly += 1;
                    ended = ended.and(bell.ring(&notice));
                }
                Ok(true) => others.push(notice),
                Err(why) => {
                    ended = ended.and(Err(unable(why)));
                    break;
                }
            }
        }
        match others.as_slice() {
            [] => ended,
            [other] => ended.and(bell.ring(other)),
            others => ended.and(bell.ring_for_all(others)),
        }
    }

    /// Whether this was not told yet, here or elsewhere: whoever makes the file tells it. One who
    /// dies then has told it all the same, since twice is worse than the row alone.
    fn is_first(&self, notice: &Notice) -> Result<bool, String> {
        let key: Digest = notice.key(self.clock.now());
        let folder = self.home.ledger_folder().join("notices").make();
        let folder = folder.and_then(Kept::from_here).map_err(|e| e.to_string())?;
        match folder.file(key.to_string(), open::create_at) {
            Ok(_) => Ok(true),
            Err(OpenError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::AlreadyExists =>
            {
                Ok(false)
            }
            Err(e) => Err(e.to_string()),
        }
    }

    /// Remarks a trouble, unless it was the last one too.
    /// Says what went wrong beside an answer, once.
    pub(crate) fn complain(&self, trouble: String) {
        let mut noted = self.noted();
        let news = noted.trouble != trouble;
        noted.trouble.clone_from(&trouble);
        drop(noted);
        if let Some(remark) = self.remark.get().filter(|_| news) {
            remark(&trouble);
        }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn teller(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.teller.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notifier of this entry of the config.
pub(crate) fn prepare(entry: &NotifyEntry) -> Result<Notifier, String> {
    let path: OsString = entry.path.as_deref().unwrap_or(DEFAULT_PATH).into();
    let argv: Vec<OsString> = entry.command.iter().map(OsString::from).collect();
    let env = environment(&path, &entry.env);
    Notifier::prepare(&argv, &default_cwd(), &path, &env).map_err(|e| e.to_string())
}

/// The notifier, ready to run.
struct Bell {
    notifier: Notifier,
    places: [(&'static str, OsString); 3],
    timeout: Duration,
}

impl Bell {
    fn new(entry: &NotifyEntry, home: &Home) -> Result<Bell, String> {
        Ok(Bell {
            notifier: prepare(entry)?,
            places: [
                ("GRANTED_HOME", home.root().into()),
                ("GRANTED_STORE", home.documents().into()),
                ("GRANTED_LEDGER", home.ledger().into()),
            ],
            timeout: entry.timeout,
        })
    }

    fn ring(&self, notice: &Notice) -> Result<(), String> {
        let Notice { occasion, reason, object, grant, discharge, .. } = notice;
        let mut about = vec![
            ("GRANTED_NOTICE_EVENT", occasion.as_str().to_owned()),
            ("GRANTED_NOTICE_OBJECT_TYPE", object.r#type.to_string()),
            ("GRANTED_NOTICE_OBJECT_ID", object.id.to_string()),
        ];
        about.extend(reason.map(|reason| ("GRANTED_NOTICE_REASON", reason.to_string())));
        about.extend(grant.map(|id| ("GRANTED_NOTICE_GRANT_ID", id.to_string())));
        about.extend(discharge.map(|id| ("GRANTED_NOTICE_DISCHARGE_ID", id.to_string())));
        self.run(about, notice.to_string())
    }

    fn ring_for_all(&self, notices: &[Notice]) -> Result<(), String> {
        self.run(vec![("GRANTED_NOTICE_EVENT", MORE.to_owned())], in_one(notices))
    }

    fn run(&self, mut about: Vec<(&'static str, String)>, text: String) -> Result<(), String> {
        about.push(("GRANTED_NOTICE_TEXT", text.clone()));
        let about = about.into_iter().map(|(name, value)| (name, value.into()));
        let env = about.chain(self.places.clone());
        let env: Vec<(OsString, OsString)> =
            env.map(|(name, value)| (name.into(), value)).collect();
        let ended = self.notifier.run(&text, &env, self.timeout);
        ended.map_err(|why| format!("the notifier failed: {why}"))
    }
}
