//! Full disks, size limits, read-only homes, and a lock whose holder stands still.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use crate::home::{Home, Run};

/// A mount namespace of its own, in which a home looks different. It goes with the value.
struct World<'h> {
    home: &'h Home,
    holder: Child,
}

impl<'h> World<'h> {
    /// Mounts by a script, in which `$R` is the home proper; `None`, and it says so, where that is
    /// not permitted.
    fn new(home: &'h Home, mounts: &str) -> Option<World<'h>> {
        std::fs::create_dir_all(home.root()).unwrap();
        let mut unshare = home.other("unshare");
        unshare.args(["-m", "sh", "-c", &format!("{mounts} && echo ready && exec cat")]);
        unshare.env("R", home.root()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut world = World { home, holder: unshare.spawn().unwrap() };
        let mut line = String::new();
        BufReader::new(world.holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line != "ready\n" {
            let mut stderr = std::io::stderr();
            let _ = std::io::Write::write_all(
                &mut stderr,
                b"not tested: mounting is not permitted here\n",
            );
            return None;
        }
        Some(world)
    }

    /// A shell script in this world; `granted` is the program.
    fn run(&self, script: &str) -> Run {
        let mut nsenter = self.home.other("nsenter");
        nsenter.args(["-t", &self.holder.id().to_string(), "-m", "sh", "-c"]);
        nsenter.arg(format!("cd \"$HOME\" && {script}"));
        nsenter.output().unwrap().into()
    }

    /// The program in this world, by the words of a line.
    fn say(&self, line: &str) -> Run {
        self.run(&format!("exec granted {line}"))
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn mint(id: impl std::fmt::Display) -> String {
    format!("mint --type report --id {id} --by me --for 1h")
}

fn status(id: impl std::fmt::Display) -> String {
    format!("status --type report --id {id}")
}

fn discharge(id: impl std::fmt::Display) -> String {
    format!("discharge --type report --id {id} --exec 'echo ran >> ran'")
}

#[test]
fn a_disk_that_fills_up_loses_nothing() {
    let home = Home::new();
    let Some(world) = World::new(&home, "mount -t tmpfs -o mode=0700,size=160k none \"$R\"") else {
        return;
    };
    let minted = (0..1_000).take_while(|id| world.say(&mint(id)).code == 0).count();
    assert!((3..1_000).contains(&minted), "{minted}");
    let full = world.say(&mint("more")).exits(1);
    assert!(full.stderr.contains("No space left"), "{full:?}");

    let rows = |kind: &str| {
        world.say(&format!("ledger --json --tail 100000 --kind {kind}")).ok().stdout.lines().count()
    };
    assert_eq!(rows("decision.minted"), minted, "what was acknowledged, and nothing else");
    assert_eq!(world.run("ls .granted/grants/report | wc -l").stdout.trim(), minted.to_string());
    world.say("ledger verify").ok();

    // The last page of the ledger may have room for a row; then there is none.
    world.run("cat /dev/zero > .granted/filler; for i in $(seq 20); do granted discharge --type report --id none --exec true; done");
    let refused = world.say(&discharge(1)).exits(3);
    assert!(refused.stdout.contains("refused: ledger_unwritable"), "{refused:?}");
    assert_eq!(home.count("ran"), 0);
    world.say(&status(1)).ok();
    world.say("revoke --type report --id 2").exits(1);
    world.say("ledger verify").ok();

    world.run("rm .granted/filler; mount -o remount,size=1m \"$PWD/.granted\"").ok();
    for id in 0..minted {
        world.say(&discharge(id)).ok();
    }
    assert_eq!(home.count("ran"), minted);
    world.say("ledger verify").ok();
}

#[test]
fn a_disk_that_fills_up_during_the_act_leaves_it_uncertain_and_spent() {
    let home = Home::new();
    let Some(world) = World::new(&home, "mount -t tmpfs -o mode=0700,size=256k none \"$R\"") else {
        return;
    };
    world.say(&mint("x")).ok();
    // The output makes the result longer than what the ledger's last page has room for.
    let exec = "echo ran >> ran; head -c 9000 /dev/zero; head -c 9000 /dev/zero >&2; cat /dev/zero > .granted/filler; true";
    let told =
        world.say(&format!("discharge --type report --id x --exec '{exec}' 2>/dev/null")).exits(4);
    assert!(told.stdout.starts_with("uncertain: no_result_row (report/x) -- "), "{told:?}");
    world.say("ledger verify").ok();
    world.say(&status("x")).exits(3);
    world.run("rm .granted/filler").ok();
    let ticked = world.say("tick").ok();
    assert!(ticked.stdout.starts_with("interrupted report/x"), "{ticked:?}");
    let again = world.say(&discharge("x")).exits(3);
    assert!(again.stdout.starts_with("refused: consumed"), "{again:?}");
    assert_eq!(home.count("ran"), 1);
    world.say("ledger verify").ok();
}

#[test]
fn a_read_only_home_is_read_and_refuses_the_rest() {
    let home = Home::new();
    home.mint("x", "");
    let before = home.bytes();
    let mounts = "mount --bind \"$R\" \"$R\" && mount -o remount,ro,bind \"$R\"";
    let Some(world) = World::new(&home, mounts) else { return };
    for reads in [&status("x"), "list --all", "ledger", "ledger verify", "executors", "tick"] {
        world.say(reads).ok();
    }
    for writes in [&mint("y"), "revoke --type report --id x", "ledger accept --by me --reason none"]
    {
        let run = world.say(writes).exits(1);
        assert!(run.stderr.contains("read-only file system"), "{run:?}");
        assert!(run.stderr.contains(".granted/"), "{run:?}");
    }
    let refused = world.say(&discharge("x")).exits(3);
    assert!(refused.stdout.contains("refused: ledger_unwritable"), "{refused:?}");
    assert_eq!(home.count("ran"), 0);
    assert_eq!(home.bytes(), before);
    drop(world);
    home.run(["discharge", "--type", "report", "--id", "x", "--exec", "true"]).ok();
}

#[test]
fn a_home_of_another_user_is_read_at_most() {
    let home = Home::new();
    home.mint("x", "");
    let setpriv = |line: &str| -> Run {
        let mut setpriv = home.other("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups", "/bin/sh", "-c"]);
        setpriv.arg(format!("exec granted {line}"));
        setpriv.output().unwrap().into()
    };
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(home.dir(), 0o755);
    if setpriv("--version").code != 0 {
        let mut stderr = std::io::stderr();
        let _ = std::io::Write::write_all(
            &mut stderr,
            b"not tested: no other user may run the program here\n",
        );
        return;
    }
    // Its folders are for its owner only.
    for line in [status("x"), mint("y"), "ledger verify".into(), "tick".into()] {
        let run = setpriv(&line).exits(1);
        assert!(run.stderr.to_lowercase().contains("permission denied"), "{run:?}");
    }
    setpriv(&discharge("x")).exits(3);

    let document = home.document("x");
    for folder in [home.root(), home.root().join("grants"), home.root().join("grants/report")] {
        open(&folder, 0o755);
    }
    open(&home.ledger(), 0o644);
    let unread = setpriv(&status("x")).exits(3);
    assert!(unread.stdout.starts_with("unreadable report/x: "), "{unread:?}");
    open(&document, 0o644);
    setpriv(&status("x")).ok();
    setpriv("ledger verify").ok();
    let refused = setpriv(&discharge("x")).exits(3);
    assert!(refused.stdout.contains("refused: ledger_unwritable"), "{refused:?}");
    setpriv(&mint("y")).exits(1);
    assert_eq!(home.rows().len(), 2);
    assert_eq!(home.status("x"), "live");
}

#[test]
fn a_file_size_limit_kills_nobody_and_loses_nothing() {
    let home = Home::new();
    // In blocks of 512 bytes: from none of the rows fits to all do.
    let (mut refused, mut uncertain, mut done) = (0, 0, 0);
    for more in 0..=5 {
        let id = format!("x{more}");
        home.mint(&id, "");
        let before = home.bytes();
        let limit = before.len() / 512 + more;
        let limited = |line: &str| -> Run {
            home.shell(&format!("ulimit -f {limit}; exec granted {line}")).output().unwrap().into()
        };
        if more == 0 {
            let documents = std::fs::read_dir(home.root().join("grants/report")).unwrap().count();
            let run = limited(&mint("never")).exits(1);
            assert!(run.stderr.contains("file too large"), "{run:?}");
            assert_eq!(
                std::fs::read_dir(home.root().join("grants/report")).unwrap().count(),
                documents
            );
        }
        let exec = format!("discharge --type report --id {id} --exec 'echo ran >> {id}.ran'");
        let run = limited(&exec);
        home.verify();
        assert!(home.bytes().starts_with(&before), "what was acknowledged stays");
        let ran = home.count(&format!("{id}.ran"));
        match run.code {
            3 => {
                refused += 1;
                assert!(run.stdout.contains("refused: ledger_unwritable"), "{run:?}");
                assert_eq!((ran, home.bytes()), (0, before));
                assert_eq!(home.status(&id), "live");
                home.run(["discharge", "--type", "report", "--id", &id, "--exec", "true"]).ok();
            }
            4 => {
                uncertain += 1;
                assert!(run.stdout.contains("uncertain: no_result_row"), "{run:?}");
                assert_eq!(ran, 1);
                assert!(home.say("tick").ok().stdout.starts_with("interrupted report/"));
            }
            0 => {
                done += 1;
                assert_eq!(ran, 1);
            }
            _ => panic!("{run:?}"),
        }
        assert_eq!(home.status(&id), "consumed");
        home.verify();
    }
    assert!(refused > 0 && uncertain > 0 && done > 0, "{refused} {uncertain} {done}");
}

#[test]
fn an_executor_meets_the_file_size_limit_as_ever() {
    let home = Home::new();
    home.mint("x", "");
    let script = "ulimit -f 200; exec granted discharge --type report --id x --exec 'exec cat /dev/zero > big'";
    let run: Run = home.shell(script).output().unwrap().into();
    let run = run.exits(3);
    assert!(run.stdout.contains("executor_failed") && run.stdout.contains("signal 25"), "{run:?}");
}

#[test]
fn a_stopped_process_that_holds_the_lock_is_named_after_a_while() {
    let home = Home::new();
    home.mint("x", "");
    let before = home.bytes();
    let mut holder =
        home.shell("exec 9<>.granted/ledger.jsonl && flock 9 && echo held && kill -STOP $$");
    let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
    let mut held = [0; 5];
    holder.stdout.as_mut().unwrap().read_exact(&mut held).unwrap();

    let lines = [
        discharge("x"),
        mint("y"),
        "revoke --type report --id x".into(),
        "ledger accept --by me --reason none".into(),
    ];
    let start = |line: &String| {
        let mut command = home.shell(&format!("exec granted {line}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let waiting: Vec<Child> = lines.iter().map(start).collect();
    // Readers take no lock.
    assert_eq!(home.status("x"), "live");
    home.verify();
    for (line, child) in lines.iter().zip(waiting) {
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, if line.starts_with("discharge") { 3 } else { 1 }, "{run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("ledger.jsonl` is locked by another process"), "{said}");
        assert!(said.contains("waited 10 s"), "{said}");
    }
    assert_eq!(home.bytes(), before);
    assert_eq!(home.count("ran"), 0);
    assert_eq!(std::fs::read_dir(home.root().join("grants/report")).unwrap().count(), 1);

    // Its end frees the lock, whatever state it was in.
    holder.kill().unwrap();
    holder.wait().unwrap();
    home.run(["discharge", "--type", "report", "--id", "x", "--exec", "true"]).ok();
    home.verify();
}
