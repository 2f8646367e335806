//! The controlling terminal: the one door to passwords and to a person's yes.
//!
//! Every program that the person starts inherits arguments, environment and pipes, so nothing here reads
//! them. A terminal is opened by its own path, and is one or there is none.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use granted_core::text::Shown;
use granted_exec::Stop;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, isatty, tcgetattr, tcsetattr,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use zeroize::{Zeroize as _, Zeroizing};

/// The most bytes of a line that is typed: what a terminal takes.
const MAX_LINE: usize = 4_096;

/// The fewest characters of a new password.
pub const MIN_PASSWORD: usize = 8;

/// How often a new password is asked for.
const PASSWORD_TRIES: usize = 3;

/// In the place of a character of the terminal's: there is none.
const NO_KEY: u8 = 0;

/// Why the person was not asked, or did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TerminalError {
    /// This process has none.
    #[error("this takes a person at a terminal, and there is none")]
    None,
    /// The person left, or a signal came.
    #[error("told to stop while a person was asked")]
    Stopped,
    /// The new password is too short.
    #[error("a password has at least {MIN_PASSWORD} characters")]
    Short,
    /// The new password was not typed the same way twice.
    #[error("the two passwords are not the same")]
    Differ,
    /// The terminal does not do its part.
    #[error("the terminal: {0}")]
    Io(String),
}

impl From<Errno> for TerminalError {
    fn from(errno: Errno) -> TerminalError {
        match errno {
            // Nobody is there any more.
            Errno::IO => TerminalError::Stopped,
            errno => TerminalError::Io(granted_store::open::in_words(&errno.into())),
        }
    }
}

/// The terminal that controls this process.
pub struct Terminal {
    tty: OwnedFd,
    signals: &'static Signals,
}

/// Signals that end this process, held back while a line is read so that what was set is set back.
struct Signals {
    stop: Stop,
    /// Whether they end the process at once.
    at_once: Arc<AtomicBool>,
}

impl Terminal {
    /// Opens it.
    pub fn open() -> Result<Terminal, TerminalError> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let tty = rustix::fs::open("/dev/tty", flags, Mode::empty());
        // Where another file lies in its place, it is none either.
        let tty = tty.ok().filter(|tty| isatty(tty)).ok_or(TerminalError::None)?;
        Ok(Terminal { tty, signals: signals()? })
    }

    /// Shows a line.
    pub fn line(&self, text: &str) -> Result<(), TerminalError> {
        self.write(text)?;
        self.write("\n")
    }

    /// Asks for a password.
    pub fn password(&self, prompt: &str) -> Result<Zeroizing<Vec<u8>>, TerminalError> {
        self.ask(prompt, LocalModes::ECHONL)
    }

    /// Asks for a new password, twice; all over again where it was too short or mistyped, up to three times.
    pub fn new_password(&self, of: &str) -> Result<Zeroizing<Vec<u8>>, TerminalError> {
        let mut asked = self.new_password_once(of);
        for _ in 1..PASSWORD_TRIES {
            let Err(error @ (TerminalError::Short | TerminalError::Differ)) = &asked else { break };
            self.line(&error.to_string())?;
            asked = self.new_password_once(of);
        }
        asked
    }

    fn new_password_once(&self, of: &str) -> Result<Zeroizing<Vec<u8>>, TerminalError> {
        let password = self.password(&format!("new password for {of}: "))?;
        let characters = str::from_utf8(&password).map_or(password.len(), |p| p.chars().count());
        if characters < MIN_PASSWORD {
            return Err(TerminalError::Short);
        }
        match self.password("the same again: ")? == password {
            true => Ok(password),
            false => Err(TerminalError::Differ),
        }
    }

    /// Asks for a line, which is shown as it is typed.
    pub fn typed(&self, prompt: &str) -> Result<Zeroizing<Vec<u8>>, TerminalError> {
        self.ask(prompt, LocalModes::ECHO)
    }

    /// Asks for a yes; anything but `y` or `yes` is a no.
    pub fn confirm(&self, question: &str) -> Result<bool, TerminalError> {
        let answer = self.ask(&format!("{question} [y/N] "), LocalModes::ECHO)?;
        Ok(["y", "yes"].iter().any(|yes| answer.eq_ignore_ascii_case(yes.as_bytes())))
    }

    /// Reads a line after a prompt, with this much of it shown.
    fn ask(&self, prompt: &str, echo: LocalModes) -> Result<Zeroizing<Vec<u8>>, TerminalError> {
        let before = tcgetattr(&self.tty)?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ECHO);
        modes.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG | echo);
        // Nobody is left with a terminal that shows nothing, or comes back to one that shows the password.
        modes.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        self.signals.at_once.store(false, Ordering::SeqCst);
        // What was typed before the question is no answer to it.
        let read = tcsetattr(&self.tty, OptionalActions::Flush, &modes)
            .map_err(TerminalError::from)
            .and_then(|()| self.write(&Shown(prompt).to_string()))
            .and_then(|()| self.answer());
        let restored = tcsetattr(&self.tty, OptionalActions::Now, &before);
        if read.is_err() {
            // The cursor stands behind the prompt.
            let _ = self.write("\n");
        }
        self.signals.at_once.store(true, Ordering::SeqCst);
        restored?;
        // One that came behind the answer is not lost.
        match self.signals.stop.is_stopped() {
            true => Err(TerminalError::Stopped),
            false => read,
        }
    }

    /// The line that is typed, without its end.
    fn answer(&self) -> Result<Zeroizing<Vec<u8>>, TerminalError> {
        // With room for all, so that no part of it is left behind where it grew.
        let mut line = Zeroizing::new(Vec::with_capacity(2 * MAX_LINE));
        let mut buffer = Zeroizing::new([0_u8; MAX_LINE]);
        loop {
            let mut fds = [
                PollFd::new(&self.signals.stop, PollFlags::IN),
                PollFd::new(&self.tty, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                ready => ready?,
            };
            if self.signals.stop.is_stopped() {
                return Err(TerminalError::Stopped);
            }
            let count = rustix::io::read(&self.tty, &mut buffer[..])?;
            let typed = buffer.get(..count).unwrap_or_default();
            match typed.strip_suffix(b"\n") {
                // An end of file, in the middle of a line too.
                _ if typed.is_empty() => return Err(TerminalError::Stopped),
                Some(rest) if line.len() + rest.len() <= MAX_LINE => {
                    line.extend_from_slice(rest);
                    return Ok(line);
                }
                None if line.len() + typed.len() <= MAX_LINE => line.extend_from_slice(typed),
                _ => return Err(TerminalError::Io("the line is too long".into())),
            }
            buffer.zeroize();
        }
    }

    fn write(&self, text: &str) -> Result<(), TerminalError> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let count = match rustix::io::write(&self.tty, rest) {
                Err(Errno::INTR) => continue,
                count => count?,
            };
            rest = rest.get(count..).unwrap_or_default();
        }
        Ok(())
    }
}

/// The signals of this process; they are taken over once, since each handler stays.
fn signals() -> Result<&'static Signals, TerminalError> {
    static SIGNALS: OnceLock<Signals> = OnceLock::new();
    if let Some(signals) = SIGNALS.get() {
        return Ok(signals);
    }
    let made = (|| {
        let (stop, at_once) = (Stop::new()?, Arc::new(AtomicBool::new(true)));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register_conditional_default(signal, at_once.clone())?;
            signal_hook::low_level::pipe::register(signal, stop.writer()?)?;
        }
        Ok(Signals { stop, at_once })
    })();
    let made =
        made.map_err(|e: std::io::Error| TerminalError::Io(format!("no signal handler: {e}")))?;
    Ok(SIGNALS.get_or_init(|| made))
}
