//! A person at a real pseudo-terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr};

use crate::home::Run;

/// What runs at a terminal of its own, in a session of its own.
pub struct Pty {
    master: File,
    // Held open so that the terminal's settings outlive the program.
    slave: OwnedFd,
    child: Child,
    pidfd: OwnedFd,
    stdout: File,
    stderr: File,
    /// All that the terminal showed.
    pub shown: String,
    /// How much of that was waited for.
    seen: usize,
}

impl Pty {
    /// Starts a command there. Its stdout and stderr are files, so what the terminal shows was written to
    /// it by its own name; its stdin is the terminal's.
    pub fn start(command: &Command) -> Pty {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        let (stdout, stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        // No child is the leader of a group yet, so this becomes the program itself.
        let mut ours = Command::new("setsid");
        ours.arg("--ctty").arg(command.get_program()).args(command.get_args());
        ours.env_clear();
        for (name, value) in command.get_envs() {
            ours.env(name, value.unwrap());
        }
        ours.current_dir(command.get_current_dir().unwrap());
        ours.stdin(File::from(slave.try_clone().unwrap()));
        ours.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
        let child = ours.spawn().unwrap();
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
        let (master, shown) = (File::from(master), String::new());
        Pty { master, slave, child, pidfd, stdout, stderr, shown, seen: 0 }
    }

    /// Waits until the terminal shows this, after what was waited for before.
    #[track_caller]
    pub fn until(&mut self, text: &str) {
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(self.more(), "`{text}` is not shown, but:\n{}", self.all());
        }
    }

    /// Reads what is shown next; whether there may be more.
    fn more(&mut self) -> bool {
        let ready = [self.master.as_fd(), self.pidfd.as_fd()]
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let mut fds = ready;
        // Nothing takes as long: this only ends a test that would hang.
        let long = Timespec { tv_sec: 120, tv_nsec: 0 };
        assert!(
            poll(&mut fds, Some(&long)).unwrap() > 0,
            "nothing happens; shown:\n{}",
            self.shown
        );
        if !fds[0].revents().contains(PollFlags::IN) {
            return false;
        }
        let mut buffer = [0; 4096];
        let count = self.master.read(&mut buffer).unwrap();
        self.shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        true
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) {
        self.master.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// Waits for a prompt that shows nothing of what is typed, and answers it.
    #[track_caller]
    pub fn password(&mut self, prompt: &str, password: &str) {
        self.until(prompt);
        assert!(!self.echoes(), "{prompt}");
        self.line(password);
    }

    /// Answers each of these as often as it is asked, until the program has ended.
    pub fn answer(&mut self, answers: &[(&str, &str)]) {
        while self.more() {
            for (prompt, answer) in answers {
                if let Some(at) = self.shown[self.seen..].find(prompt) {
                    self.seen += at + prompt.len();
                    self.line(answer);
                }
            }
        }
    }

    /// The program's own number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Presses Ctrl-C.
    pub fn interrupt(&mut self) {
        self.master.write_all(b"\x03").unwrap();
    }

    /// Whether the terminal shows what is typed.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// Whether Ctrl-Z suspends what runs there.
    pub fn suspends(&self) -> bool {
        tcgetattr(&self.slave).unwrap().special_codes[SpecialCodeIndex::VSUSP] == 0x1a
    }

    fn all(&mut self) -> String {
        format!("{}\n{:?}", self.shown, [read(&mut self.stdout), read(&mut self.stderr)])
    }

    /// Waits for its end, and checks that the terminal is as it was.
    #[track_caller]
    pub fn end(&mut self) -> Run {
        while self.more() {}
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        assert!(self.echoes(), "it left the terminal silent");
        Run { code, stdout: read(&mut self.stdout), stderr: read(&mut self.stderr) }
    }
}

fn read(file: &mut File) -> String {
    use std::io::Seek as _;
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}
