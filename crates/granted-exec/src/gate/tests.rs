#![expect(clippy::disallowed_methods, reason = "files and processes of the tests")]

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};

use rustix::process::{Pid, Signal, getuid, kill_process};

use super::*;
use crate::boot;
use crate::tree::Tree;

struct Project {
    dir: tempfile::TempDir,
    tree: Tree,
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

impl Project {
    /// A project at `project`, and beside it `tmp` for folders of gates.
    fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        fs::create_dir_all(root.join("scripts")).unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        fs::write(root.join("secret"), "secret of the project").unwrap();
        fs::write(root.join("scripts/check"), "#!/bin/sh\ngrep -q good \"$1\"\n").unwrap();
        fs::set_permissions(root.join("scripts/check"), fs::Permissions::from_mode(0o755)).unwrap();
        Project { tree: Tree::open(&root).unwrap(), dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn bench(&self, proposed: &[(&str, &str)], needs: &[&str]) -> Result<Bench, GateError> {
        let paths: Vec<ProjectPath> = proposed.iter().map(|(file, _)| path(file)).collect();
        let proposed: Vec<Proposed<'_>> = paths
            .iter()
            .zip(proposed)
            .map(|(path, (_, content))| Proposed { path, content: content.as_bytes(), mode: 0o640 })
            .collect();
        let needs: Vec<ProjectPath> = needs.iter().map(|need| path(need)).collect();
        Bench::new(&self.at("tmp"), &self.tree, &proposed, &needs)
    }

    /// What is left of the folders of gates.
    fn left(&self) -> usize {
        fs::read_dir(self.at("tmp")).unwrap().count()
    }

    /// Runs a script of bash on a proposed file of `x`.
    fn sh(&self, script: &str, times: Times, confined: bool) -> Gated {
        let bench = self.bench(&[("src/x", "x")], &[]).unwrap();
        let argv = ["bash", "-c", script, "bash", "{file}", "{path}"].map(String::from);
        let command = Command { argv: &argv, timeout: times.timeout, allow_unconfined: false };
        let gated =
            bench.run_in(command, Some(&path("src/x")), times, confined, &Stop::new().unwrap());
        drop(bench);
        assert_eq!(self.left(), 0);
        gated.unwrap()
    }
}

fn run(bench: &Bench, argv: &[&str], file: &str) -> Result<Gated, GateError> {
    let argv: Vec<String> = argv.iter().map(|text| text.to_string()).collect();
    let timeout = Duration::from_secs(30);
    let command = Command { argv: &argv, timeout, allow_unconfined: false };
    bench.run_in(command, Some(&path(file)), TIMES, true, &Stop::new().unwrap())
}

const TIMES: Times = Times {
    timeout: Duration::from_secs(30),
    grace: Duration::from_millis(300),
    linger: Duration::from_secs(1),
    leaves: false,
};

#[test]
fn sees_the_proposed_files_and_what_it_needs_at_their_places() {
    let project = Project::new();
    let proposed = [("src/a", "good"), ("src/b", "bad"), ("scripts/check", "#!/bin/sh\nexit 0\n")];
    let bench = project.bench(&proposed, &["scripts/check"]).unwrap();
    let bytes = fs::read(project.at("project/scripts/check")).unwrap();
    let needed = Needed { path: path("scripts/check"), digest: Digest::of(&bytes) };
    assert_eq!(bench.needs(), [needed]);
    // What the project's script is changed to by now, or would be, says nothing.
    fs::write(project.at("project/scripts/check"), "#!/bin/sh\nexit 0\n").unwrap();
    let a = run(&bench, &["scripts/check", "{file}"], "src/a").unwrap();
    assert!(a.passed() && matches!(a.confinement, Confinement::Landlock { abi: 1.. }), "{a:?}");
    let b = run(&bench, &["./scripts/check", "{file}"], "src/b").unwrap();
    assert!(!b.passed() && b.run.ended == Ended::Exit(1), "{b:?}");
    let all = run(
        &bench,
        &["sh", "-c", "pwd; echo $1 $2 x{path}; ls -R; env", "sh", "{file}", "{path}"],
        "src/a",
    );
    let said = all.unwrap().run.stdout.tail;
    let root = fs::canonicalize(bench.root()).unwrap();
    let root = root.to_str().unwrap();
    for line in [
        root.to_owned(),
        format!("{root}/src/a src/a x{{path}}"),
        format!("HOME={}", bench.temporary().display()),
        "PYTHONSAFEPATH=1".into(),
        format!("TMPDIR={}", bench.temporary().display()),
        "PATH=/usr/local/bin:/usr/bin:/bin".into(),
        "LC_ALL=C.UTF-8".into(),
        "TERM=dumb".into(),
    ] {
        assert!(said.lines().any(|said| said == line), "{line} in {said}");
    }
    assert!(!said.contains("secret") && !said.contains("CARGO"), "{said}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(bench.folder()), 0o700);
    assert_eq!(mode(&bench.root().join("src/a")), 0o640);
    assert_eq!(mode(&bench.root().join("scripts/check")), 0o755);
    drop(bench);
    assert_eq!(project.left(), 0);
}

/// A proposed file has the name of a module of Python's own.
#[test]
fn python_imports_nothing_that_is_proposed() {
    let project = Project::new();
    let bench = project.bench(&[("src/a", "good"), ("json.py", "print('taken')")], &[]).unwrap();
    let argv = ["python3", "-c", "import json; print(json.dumps(1))"];
    let ran = run(&bench, &argv, "src/a").unwrap();
    assert!(ran.passed(), "{ran:?}");
    assert_eq!(&*ran.run.stdout.tail, "1\n");
}

#[test]
fn a_program_is_the_systems_or_one_that_the_gate_needs() {
    let project = Project::new();
    let in_project = project.at("project/scripts/check").to_str().unwrap().to_owned();
    symlink(&in_project, project.at("link")).unwrap();
    let link = project.at("link").to_str().unwrap().to_owned();
    let proposed = [("src/a", "good"), ("src/run", "#!/bin/sh\n")];
    let bench = project.bench(&proposed, &["scripts/check"]).unwrap();
    let in_bench = bench.root().join("src/run").to_str().unwrap().to_owned();
    fs::set_permissions(&in_bench, fs::Permissions::from_mode(0o755)).unwrap();
    for (argv, file, line) in [
        (&[][..], "src/a", "no program is named"),
        (&[""], "src/a", "no program is named"),
        (&["no-such-program"], "src/a", "no program `no-such-program` in `/usr/local/bin:"),
        (&["check"], "src/a", "no program `check`"),
        (&["src/run"], "src/a", "the program `src/run` is not among the files that the gate needs"),
        (&["scripts/../src/run"], "src/a", "is not among the files that the gate needs"),
        (&["../tmp/x"], "src/a", "is not among the files that the gate needs"),
        (&[&in_project], "src/a", "lies in the project; name it by its path in the project"),
        (&[&link], "src/a", "lies in the project"),
        (&[&in_bench], "src/a", "lies in the project"),
        (&["true"], "scripts/check", "`scripts/check` is a file that the gate itself needs"),
        (&["true"], "src/other", "`src/other` is not among the proposed files"),
    ] {
        let said = run(&bench, argv, file).unwrap_err().to_string();
        assert!(said.contains(line) && !said.contains('\n'), "{said}");
    }
    assert!(run(&bench, &["/usr/bin/true"], "src/a").unwrap().passed());
    // One of the system's that lies elsewhere may be run, and nothing beside it.
    fs::create_dir(project.at("tools")).unwrap();
    fs::copy("/usr/bin/true", project.at("tools/mine")).unwrap();
    let mine = project.at("tools/mine").to_str().unwrap().to_owned();
    assert!(run(&bench, &[&mine], "src/a").unwrap().passed());
    let gated = run(&bench, &["sh", "-c", &format!("exec {mine}")], "src/a").unwrap();
    assert_eq!(gated.run.ended, Ended::Exit(126), "{gated:?}");
    // What it needs must be there.
    let error = project.bench(&[], &["none"]).unwrap_err().to_string();
    assert!(error.contains("a file that the gate needs: `none` does not exist"), "{error}");
    symlink("../secret", project.at("project/scripts/l")).unwrap();
    let error = project.bench(&[], &["scripts/l"]).unwrap_err().to_string();
    assert!(error.contains("`scripts/l` is reached through a link"), "{error}");
    drop(bench);
    assert_eq!(project.left(), 0);
}

/// Each rule, by a program that breaks it: it succeeds where nothing confines it.
#[test]
fn touches_nothing_but_what_it_may() {
    let project = Project::new();
    let outside = project.at("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(outside.join(".ssh")).unwrap();
    fs::write(outside.join(".ssh/id"), "key").unwrap();
    fs::copy("/usr/bin/true", outside.join("program")).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let name = format!("granted-test-{}", std::process::id());
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let mut sleeper = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let (at, pid) = (outside.display(), sleeper.id());
    let secret = project.at("project/secret");
    let secret = secret.display();
    let us = std::process::id();
    let socket = "use Socket; my $s; socket($s,";
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let udp = udp.local_addr().unwrap().port();
    let _path = UnixListener::bind(project.at("socket")).unwrap();
    let path_socket = project.at("socket");
    let path_socket = path_socket.display();
    // Of the groups that this process may give to, one that is not its own.
    let groups = rustix::process::getgroups().unwrap();
    let own = rustix::process::getegid();
    let gid = groups.into_iter().find(|group| *group != own).map(|group| group.as_raw());
    let gid = gid.or(getuid().is_root().then_some(1));
    let gives = gid.is_some();
    let (gid, io_uring, attribute) = (gid.unwrap_or_default(), 425, "user.granted");
    let number = |x86: i64, arm: i64| if cfg!(target_arch = "x86_64") { x86 } else { arm };
    let (keyctl, ptrace) = (number(250, 219), number(101, 117));
    let clone = number(56, 220);
    let breaks = [
        ("writes elsewhere", format!("echo x > {at}/new && rm {at}/new")),
        ("writes a file that is there", format!("echo -n >> {at}/.ssh/id")),
        ("truncates", format!("perl -e 'truncate(\"{at}/.ssh/id\", 3) or die $!'")),
        ("makes a folder", format!("mkdir {at}/folder && rmdir {at}/folder")),
        ("makes a link", format!("ln -s x {at}/link && rm {at}/link")),
        ("moves out", format!("echo > moved && mv moved {at}/moved && rm {at}/moved")),
        ("links in", format!("ln {at}/.ssh/id here")),
        ("writes to memory", "echo > /dev/shm/granted-$$ && rm /dev/shm/granted-$$".into()),
        ("reads keys", format!("cat {at}/.ssh/id")),
        ("lists", format!("ls {at}/.ssh")),
        ("reads the project", format!("cat {secret}")),
        ("runs what lies elsewhere", format!("{at}/program")),
        ("reads through a link", format!("ln -s {at}/.ssh/id l && cat l")),
        ("reads our environment", format!("cat /proc/{us}/environ > env; test -s env")),
        ("reads our files", format!("cat /proc/{us}/root{at}/.ssh/id")),
        ("connects", format!("exec 3<>/dev/tcp/127.0.0.1/{port}")),
        (
            "listens",
            format!(
                "perl -e '{socket} PF_INET, SOCK_STREAM, 0) && bind($s, pack_sockaddr_in(0, INADDR_LOOPBACK)) or die $!'"
            ),
        ),
        (
            "connects to an abstract socket",
            format!(
                "perl -e '{socket} PF_UNIX, SOCK_STREAM, 0) && connect($s, pack(\"Sa*\", AF_UNIX, \"\\0{name}\")) or die $!'"
            ),
        ),
        ("signals its parent", "kill -0 $PPID".into()),
        ("signals others", format!("kill -CONT {pid}")),
        (
            "speaks UDP",
            format!(
                "perl -e '{socket} PF_INET, SOCK_DGRAM, 0) && send($s, q(x), 0, pack_sockaddr_in({udp}, INADDR_LOOPBACK)) or die $!'"
            ),
        ),
        (
            "connects to a socket that has a path",
            format!(
                "perl -e '{socket} PF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un(\"{path_socket}\")) or die $!'"
            ),
        ),
        ("asks for the network's state", format!("perl -e '{socket} 16, SOCK_RAW, 0) or die $!'")),
        ("gives a file away", format!("perl -e 'chown -1, {gid}, \"{at}/.ssh/id\" or die $!'")),
        ("gives its own away", format!("chgrp {gid} src/x")),
        (
            "sets an attribute",
            format!(
                "python3 -c 'import os; os.setxattr(\"{at}/.ssh/id\", \"{attribute}\", b\"x\")'"
            ),
        ),
        // PTRACE_TRACEME.
        ("is traced", format!("perl -e 'syscall({ptrace}, 0, 0, 0, 0) == 0 or die $!'")),
        // KEYCTL_GET_KEYRING_ID of the session.
        ("reads a keyring", format!("perl -e 'syscall({keyctl}, 0, -3, 0) >= 0 or die $!'")),
        (
            "has the kernel work for it",
            format!("perl -e 'my $p = qq(\\0) x 120; syscall({io_uring}, 1, $p) >= 0 or die $!'"),
        ),
        ("limits another process", format!("prlimit --pid {pid} --cpu=600:600")),
        ("slows another process", format!("renice -n 1 -p {pid}")),
        ("reschedules another process", format!("chrt --batch -p 0 {pid}")),
        (
            "shares memory",
            "perl -e 'my $m = shmget(0, 99, 0600) // die $!; shmctl($m, 0, 0)'".into(),
        ),
        ("has a queue", "perl -e 'my $q = msgget(0, 0600) // die $!; msgctl($q, 0, 0)'".into()),
        // CLONE_NEWUSER, and then the child ends.
        (
            "has users of its own",
            format!(
                "perl -e 'my $p = syscall({clone}, 0x10000011, 0, 0, 0, 0); exit($p < 0 ? 1 : 0)'"
            ),
        ),
        ("has a root of its own", "unshare -r true".into()),
        ("has rights of its own", "grep -qP 'CapPrm:\\t0*[1-9a-f]' /proc/self/status".into()),
        ("may gain rights", "grep -qP 'NoNewPrivs:\\t0' /proc/self/status".into()),
    ];
    for (what, script) in &breaks {
        if *what == "has rights of its own" && !getuid().is_root() {
            continue; // Then it has none either way.
        }
        if what.starts_with("gives") && !gives {
            continue; // There is nobody to give it to.
        }
        let free = project.sh(script, TIMES, false);
        assert!(free.passed() && free.confinement == Confinement::None, "{what}: {free:?}");
        let confined = project.sh(script, TIMES, true);
        assert!(matches!(confined.run.ended, Ended::Exit(1..)), "{what}: {confined:?}");
    }
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(outside.join(".ssh/id")).unwrap(), "key");
}

#[test]
fn may_do_what_a_check_does() {
    let project = Project::new();
    for script in [
        "echo x > new && mkdir d && mv new d/new && ln d/new d/other && rm -r d",
        "echo x > $TMPDIR/x && mv $TMPDIR/x src/y && cat < src/y",
        "cat /etc/passwd > /dev/null && head -c 9 /dev/urandom > r && head -c 9 /dev/zero > z",
        "python3 -c 'import json, tempfile; tempfile.TemporaryFile()'",
        "python3 -c 'import shutil; shutil.copy2(\"src/x\", \"y\")' && cp -a src z && touch -d @9 y",
        "python3 -c 'import asyncio; asyncio.run(asyncio.create_subprocess_exec(\"true\"))'",
        "python3 -c 'import multiprocessing as m; a, b = m.Pipe(); a.send(1); b.recv()'",
        "if command -v node; then node -e 'require(\"child_process\").spawn(\"sh\", [\"-c\", \"cat src/x\"]).stdout.on(\"data\", () => {})'; fi",
        "python3 -c 'import pwd, os; pwd.getpwuid(os.getuid())' && ls -l src && id",
        "echo x > s && chmod 755 s && tar cf t s && tar xf t && test -x s",
        "if command -v git; then git init -q . && git add src; fi",
        "if /usr/bin/python3 -m pytest --version; then \
         echo 'def test_x(tmp_path): (tmp_path / \"y\").touch()' > test_x.py && /usr/bin/python3 -m pytest -q test_x.py; fi",
        "test \"$(cat)\" = ''",
        "sleep 60 & kill $! && ! wait $!",
        "test \"$(cat \"$1\")\" = x && cat \"$2\"",
    ] {
        let gated = project.sh(script, TIMES, true);
        assert!(gated.passed(), "{script}: {gated:?}");
    }
}

/// Whether a process that has this number, as `$!` said, is there and not dead.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ") && !stat.contains(") X ")
}

#[test]
fn every_hostile_gate_has_one_end() {
    let project = Project::new();
    let quick = Times { timeout: Duration::from_millis(700), ..TIMES };
    let began = boot::now();
    // It is stopped, and what ignores that is killed.
    let deaf = project.sh("trap '' TERM; echo begun; while :; do sleep 0.05; done", quick, true);
    assert_eq!((deaf.run.ended, &*deaf.run.stdout.tail), (Ended::TimedOut, "begun\n"));
    assert!(deaf.run.detail.contains("killed"), "{deaf:?}");
    // It ends by itself, and its children with it.
    let forks = project.sh("sleep 600 > /dev/null 2>&1 & echo $!", TIMES, true);
    assert!(forks.passed() && !lives(&forks.run.stdout.tail), "{forks:?}");
    let holds = project.sh("sleep 600 & echo $!", TIMES, true);
    assert!(holds.passed() && !lives(&holds.run.stdout.tail), "{holds:?}");
    // A child that leaves the group holds the output: nothing waits for it, and it is told.
    let leaves = project.sh(
        "mkfifo gone; setsid sh -c 'echo > gone; exec sleep 600' & cat gone > /dev/null; echo $!",
        TIMES,
        true,
    );
    assert!(!leaves.passed() && leaves.run.left_behind == 1, "{leaves:?}");
    let pid = Pid::from_raw(leaves.run.stdout.tail.trim().parse().unwrap());
    kill_process(pid.unwrap(), Signal::KILL).unwrap();
    // It closes its output, and goes on.
    let closes = project.sh("exec >&- 2>&-; sleep 600", quick, true);
    assert_eq!(closes.run.ended, Ended::TimedOut);
    // It writes without end: the last of it is kept.
    let talks = project.sh("while :; do echo 0123456789; done", quick, true);
    assert_eq!((talks.run.ended, talks.run.stdout.tail.len()), (Ended::TimedOut, 4096));
    // It kills itself, and everything of its own.
    let dies = project.sh("kill -9 0", TIMES, true);
    assert_eq!(dies.run.ended, Ended::Signal(9));
    assert!(boot::now() - began < Duration::from_secs(60));
}

#[test]
fn the_folder_goes_whatever_is_in_it() {
    let project = Project::new();
    // Without rights of its own, where we have more: then the bits count.
    let script = "mkdir -p a/b/c moved-1/moved-2/x && echo > a/b/c/f && chmod 0 a/b/c/f a/b/c a/b a && chmod 500 moved-1 && \
         ln -s / root && mkfifo fifo && \
         perl -e 'for (1..3000) { mkdir \"deep\" or die; chdir \"deep\" or die }'";
    let gated = project.sh(script, TIMES, true);
    assert!(gated.passed(), "{gated:?}");
    assert!(Path::new("/usr").exists());
}

/// A disk that a gate fills is only its own folder's for as long as it runs.
#[test]
fn a_full_disk_is_emptied_again() {
    if !getuid().is_root() {
        return; // Only root mounts.
    }
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o mode=0700,size=1m tmpfs . || exit 77; \
                  exec \"$0\" gate::tests::on_a_small_disk --exact --ignored";
    let output = std::process::Command::new("unshare")
        .args(["-m", "/bin/sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .current_dir(dir.path())
        .output();
    match output.as_ref().map(|output| output.status.code()) {
        Err(_) | Ok(Some(77)) => {}
        Ok(code) => assert_eq!(code, Some(0), "{output:?}"),
    }
}

/// Run by the test above, in an empty folder on a small disk.
#[test]
#[ignore = "the test of full disks runs it on one"]
fn on_a_small_disk() {
    let project = Project::new();
    let argv = ["sh", "-c", "cat /dev/zero > x; cat /dev/zero > y"].map(String::from);
    let command =
        Command { argv: &argv, timeout: Duration::from_secs(30), allow_unconfined: false };
    // Ours is not there: it is `.` of this process, which is that disk.
    let here = std::env::current_dir().unwrap();
    let file = path("src/x");
    let proposed = Proposed { path: &file, content: b"x", mode: 0o644 };
    let bench = Bench::new(&here, &project.tree, &[proposed], &[]).unwrap();
    let gated = bench.run_in(command, Some(&file), TIMES, true, &Stop::new().unwrap()).unwrap();
    assert!(gated.run.stderr.tail.contains("No space left on device"), "{gated:?}");
    let more =
        Bench::new(&here, &project.tree, &[Proposed { content: &[0; 9000], ..proposed }], &[]);
    assert!(more.unwrap_err().to_string().contains("no space left on device"));
    drop(bench);
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0);
}

#[test]
fn without_landlock_it_runs_only_if_that_is_allowed() {
    granted_testkit::landlock::without("gate::tests::without_landlock");
}

/// Run by the test above, where there is no Landlock.
#[test]
#[ignore = "the test above runs it behind a filter"]
fn without_landlock() {
    let project = Project::new();
    let bench = project.bench(&[("src/x", "x")], &[]).unwrap();
    let argv = ["sh", "-c", "echo > ran"].map(String::from);
    let refuse = Command { argv: &argv, timeout: TIMES.timeout, allow_unconfined: false };
    let run =
        |command| bench.run_in(command, Some(&path("src/x")), TIMES, true, &Stop::new().unwrap());
    assert!(matches!(run(refuse), Err(GateError::Unconfined)));
    assert!(!bench.root().join("ran").exists());
    let gated = run(Command { allow_unconfined: true, ..refuse }).unwrap();
    assert!(gated.passed() && gated.confinement == Confinement::None, "{gated:?}");
    assert!(bench.root().join("ran").exists());
}

/// A process that was killed leaves its folder, and the next run of a gate removes it.
#[test]
fn a_folder_that_nobody_holds_is_swept() {
    let project = Project::new();
    let (left, tmp) = (project.at("tmp/granted-gate-0123456789abcdef"), project.at("tmp"));
    fs::create_dir_all(left.join("tree/src")).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o000)).unwrap();
    fs::create_dir(tmp.join("another")).unwrap();
    fs::create_dir(tmp.join("granted-gate-notes")).unwrap();
    symlink(project.at("project"), tmp.join("granted-gate-link0123456789ab")).unwrap();
    fs::write(tmp.join("granted-gate-file0123456789ab"), "x").unwrap();
    let held = project.bench(&[("src/x", "x")], &[]).unwrap();
    assert!(!left.exists());
    let other = project.bench(&[("src/x", "x")], &[]).unwrap();
    assert!(held.root().join("src/x").exists() && other.root().join("src/x").exists());
    drop((held, other));
    assert_eq!(project.left(), 4);
    assert!(project.at("project/secret").exists());
}

#[test]
fn a_word_stops_it() {
    let project = Project::new();
    let bench = project.bench(&[("src/x", "x")], &[]).unwrap();
    let stop = Stop::new().unwrap();
    stop.stop();
    let argv = ["true".to_owned()];
    let command = Command { argv: &argv, timeout: TIMES.timeout, allow_unconfined: false };
    let gated = bench.run(command, &path("src/x"), &stop).unwrap();
    assert_eq!(gated.run.ended, Ended::NotStarted);
}
