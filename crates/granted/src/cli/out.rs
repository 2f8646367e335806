//! The one door to stdout and stderr.

use std::cell::{Cell, OnceCell, RefCell};
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use std::sync::Arc;

use granted_core::text::Shown;
use granted_store::open::in_words;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::failure::{Failure, Kind};
use crate::home;
use crate::news::News;

/// Where a verb prints.
///
/// A stream that was closed ends the printing quietly: the verb's own exit code stands. Any other
/// trouble with stdout is told. What a person is to be told elsewhere is told when all is printed.
pub(crate) struct Out {
    /// The program's name, as its errors have it.
    program: &'static str,
    json: bool,
    colour: bool,
    news: OnceCell<Arc<News>>,
    /// Whether stdout was found closed.
    closed: Cell<bool>,
    /// Why not all could be written to stdout.
    trouble: RefCell<Option<String>>,
    /// Where what is printed together waits.
    held: RefCell<Option<BufWriter<Stdout>>>,
}

/// While it lives, lines are printed many at once.
pub(crate) struct Together<'a>(&'a Out);

/// How many bytes are printed at once.
const CHUNK: usize = 64 << 10;

/// How a word is marked on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Well.
    Good,
    /// Not well.
    Bad,
    /// Worth a look.
    Doubt,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    kind: Kind,
    message: &'a str,
    hint: Option<&'a str>,
}

impl Out {
    /// Colour is for terminals only, and for none where `NO_COLOR` is set.
    pub(crate) fn new(json: bool) -> Out {
        Out::of("granted", json)
    }

    /// As [`Out::new`], of the program of this name.
    pub(crate) fn of(program: &'static str, json: bool) -> Out {
        let colour = !json && io::stdout().is_terminal() && home::var("NO_COLOR").is_none();
        Out {
            program,
            json,
            colour,
            news: OnceCell::new(),
            trouble: RefCell::default(),
            closed: Cell::default(),
            held: RefCell::default(),
        }
    }

    /// The program's name.
    pub(crate) fn program(&self) -> &'static str {
        self.program
    }

    /// Has what is noted here be told when all is printed.
    pub(crate) fn tell_later(&self, news: &Arc<News>) {
        news.remark_by(|text| Out::new(true).remark(format_args!("note: {}", Shown(text))));
        // A verb opens one book.
        let _ = self.news.set(news.clone());
    }

    /// Tells it.
    pub(crate) fn tell(&self) {
        if let Some(news) = self.news.get() {
            news.tell();
        }
    }

    /// Whether JSON was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether somebody watches stderr.
    pub(crate) fn is_watched(&self) -> bool {
        !self.json && io::stderr().is_terminal()
    }

    /// Whether somebody watches stdout.
    pub(crate) fn is_seen(&self) -> bool {
        !self.json && io::stdout().is_terminal()
    }

    /// Prints the lines of a list together, for as long as what it returns is kept.
    pub(crate) fn together(&self) -> Together<'_> {
        *self.held.borrow_mut() = Some(stdout());
        Together(self)
    }

    /// Prints what waits.
    fn flush(&self) {
        if let Some(held) = self.held.borrow_mut().as_mut() {
            self.printed(held.flush());
        }
    }

    /// One line for people.
    pub(crate) fn line(&self, text: impl std::fmt::Display) {
        self.put(|stream| writeln!(stream, "{text}"));
    }

    /// Prints, or has what is to be printed together wait.
    fn put(&self, print: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>) {
        if let Some(held) = self.held.borrow_mut().as_mut() {
            return self.printed(print(held));
        }
        let mut stream = stdout();
        self.printed(print(&mut stream).and_then(|()| stream.flush()));
    }

    /// Notes how it went to print something. Whoever closed the stream does not want the rest.
    pub(crate) fn printed(&self, result: io::Result<()>) {
        match result {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => self.closed.set(true),
            Err(e) => *self.trouble.borrow_mut() = Some(in_words(&e)),
        }
    }

    /// Whether nobody reads any more, as far as was printed or can be told.
    pub(crate) fn is_closed(&self) -> bool {
        let stdout = io::stdout();
        let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let gone = |fds: &[PollFd<'_>; 1]| {
            fds.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP))
        };
        self.closed.get() || (poll(&mut fds, Some(&at_once)).is_ok() && gone(&fds))
    }

    /// Why not all could be written to stdout, if not because it was closed.
    pub(crate) fn trouble(&self) -> Option<Failure> {
        let why = self.trouble.borrow_mut().take()?;
        Some(Failure::new(Kind::System, format!("not all could be printed: {why}")))
    }

    /// One line of JSON.
    pub(crate) fn value(&self, value: &impl Serialize) {
        self.put(|stream| {
            serde_json::to_writer(&mut *stream, value)?;
            stream.write_all(b"\n")
        });
    }

    /// One line to stderr, for people.
    pub(crate) fn remark(&self, text: impl std::fmt::Display) {
        self.flush();
        // There is nowhere else to say so.
        let _ = write(&mut io::stderr().lock(), format!("{text}\n").as_bytes());
    }

    /// Replaces the last line of a terminal's stderr.
    pub(crate) fn progress(&self, text: impl std::fmt::Display) {
        let _ = write(&mut io::stderr().lock(), format!("\r\u{1b}[K{text}").as_bytes());
    }

    /// A word, marked where colour is shown.
    pub(crate) fn marked(&self, word: impl std::fmt::Display, mark: Mark) -> String {
        let code = match mark {
            Mark::Good => 32,
            Mark::Bad => 31,
            Mark::Doubt => 33,
        };
        match self.colour {
            true => format!("\u{1b}[{code}m{word}\u{1b}[0m"),
            false => word.to_string(),
        }
    }

    /// Says what went wrong; the exit code.
    pub(crate) fn failure(&self, failure: &Failure) -> u8 {
        if self.json {
            let Failure { kind, message, hint, .. } = failure;
            let error = ErrorBody { kind: *kind, message, hint: hint.as_deref() };
            self.remark(serde_json::to_string(&ErrorLine { error }).unwrap_or_default());
        } else {
            self.remark(format_args!("{}: {}", self.program, Shown(&failure.message)));
            if let Some(hint) = &failure.hint {
                self.remark(format_args!("hint: {}", Shown(hint)));
            }
        }
        failure.code
    }
}

fn stdout() -> BufWriter<Stdout> {
    BufWriter::with_capacity(CHUNK, io::stdout())
}

impl Drop for Together<'_> {
    fn drop(&mut self) {
        self.0.flush();
        self.0.held.take();
    }
}

fn write(stream: &mut impl io::Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).and_then(|()| stream.flush())
}
