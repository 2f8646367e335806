//! A real systemd, as the service manager of one person: in a mount namespace of its own, in which
//! the machine seems to have been booted with systemd.

use std::ffi::OsStr;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::home::{Home, Run};

/// What is waited for at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// Has timers of objects start every second, and services as often as they are told to.
const OFTEN: [(&str, &str); 4] = [
    ("granted-discharge@.timer.d", EVERY_SECOND),
    ("granted-tick.timer.d", EVERY_SECOND),
    ("granted-discharge@.service.d", "[Unit]\nStartLimitIntervalSec=0\n"),
    ("granted-tick.service.d", "[Unit]\nStartLimitIntervalSec=0\n"),
];

const EVERY_SECOND: &str = "[Unit]\nStartLimitIntervalSec=0\n[Timer]\nOnCalendar=\n\
                            OnCalendar=*:*:0/1\nRandomizedDelaySec=0\nAccuracySec=50ms\n";

/// Makes the namespace, a cgroup where that is allowed, and becomes the manager.
const BEGIN: &str = r#"
mount -t tmpfs none /run && mkdir -p /run/systemd/system
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
for root in /sys/fs/cgroup/unified /sys/fs/cgroup; do
  if [ -f "$root/cgroup.procs" ] && mkdir "$root$own/granted-test-$$" 2>/dev/null; then
    echo $$ >"$root$own/granted-test-$$/cgroup.procs"
    break
  fi
done
exec /lib/systemd/systemd --user
"#;

/// A service manager that ends with the value.
pub struct Manager {
    pub home: Home,
    process: Child,
    is_root: bool,
}

impl Manager {
    /// Starts one and waits until it is ready.
    pub fn start() -> Manager {
        let home = Home::new();
        let run = home.dir().join("run");
        std::fs::create_dir(&run).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&run, mode).unwrap();
        let ready = UnixDatagram::bind(home.dir().join("ready")).unwrap();
        ready.set_read_timeout(Some(PATIENCE)).unwrap();
        let is_root = rustix::process::getuid().is_root();
        let mut command = home.other("unshare");
        command.arg(if is_root { "-m" } else { "-rm" }).args(["sh", "-c", BEGIN]);
        command.env("XDG_RUNTIME_DIR", &run).env("NOTIFY_SOCKET", home.dir().join("ready"));
        let process = command.spawn().expect("`unshare`, which belongs to util-linux");
        let manager = Manager { home, process, is_root };
        let mut message = [0; 4096];
        loop {
            let length = ready.recv(&mut message).expect("systemd, which scripts/test installs");
            if String::from_utf8_lossy(&message[..length]).contains("READY=1") {
                break;
            }
        }
        for (folder, text) in OFTEN {
            manager.home.write(&format!(".config/systemd/user/{folder}/often.conf"), text);
        }
        manager
    }

    /// The folder of the person's units.
    pub fn units(&self) -> PathBuf {
        self.home.dir().join(".config/systemd/user")
    }

    /// A program in the same place as the manager.
    pub fn command<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = self.home.other("nsenter");
        let target = format!("--target={}", self.process.id());
        command.args([target.as_str(), "--mount"]);
        if !self.is_root {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--").arg(program).args(args);
        command.env("XDG_RUNTIME_DIR", self.home.dir().join("run"));
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, program: &str, args: impl IntoIterator<Item = S>) -> Run {
        self.command(Path::new(program), args).output().unwrap().into()
    }

    /// Runs `systemctl --user` with the words of a line.
    pub fn systemctl(&self, line: &str) -> Run {
        self.run("systemctl", ["--user"].into_iter().chain(line.split(' ')))
    }

    /// One property of a unit.
    pub fn property(&self, unit: &str, name: &str) -> String {
        let args = ["--user", "show", "--value", "--property", name, unit];
        self.run("systemctl", args).ok().stdout.trim().to_owned()
    }
}

/// Waits until this holds.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not come about");
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let group = std::fs::read_to_string(format!("/proc/{}/cgroup", self.process.id()));
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.process.wait();
        // What it made: the cgroup that it was put into, and those of its units below.
        for line in group.unwrap_or_default().lines() {
            let Some(own) = line.strip_prefix("0::") else { continue };
            let Some((above, _)) = own.split_once("/init.scope") else { continue };
            for root in ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"] {
                if above.contains("/granted-test-") {
                    let args = [&format!("{root}{above}"), "-depth", "-type", "d", "-delete"];
                    let _ = Command::new("find").args(args).output();
                }
            }
        }
    }
}
