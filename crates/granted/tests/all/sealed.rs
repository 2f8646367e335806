//! Grants that are bound to an executor: what was bound runs, or nothing does, whoever writes meanwhile.

use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use granted::{Book, Config, Door, Home as Places, Request, Verdict};
use serde_json::{Value, json};

use crate::client::Client;
use crate::crowd::{Gate, ends, files, said, start, until};
use crate::home::{Home, Run};

const CONFIG: &str = "[executors.e]\nargv = [\"./run\", \"bound\"]\n";
/// What an attacker has in the place of the program.
const SWAPPED: &str = "#!/bin/sh\ntouch swapped\n";

fn home_with(config: &str) -> Home {
    let home = Home::new();
    home.write(".granted/config.toml", config);
    home
}

/// A binary, a shell's script and one of Python, each of which makes the file `bound`.
fn kinds() -> [(&'static str, Vec<u8>); 3] {
    let script = |text: &str| text.as_bytes().to_vec();
    [
        ("binary", std::fs::read("/usr/bin/touch").unwrap()),
        ("shell", script("#!/bin/sh\ntouch \"$1\"\n")),
        ("python", script("#!/usr/bin/env python3\nimport sys\nopen(sys.argv[1], 'w')\n")),
    ]
}

fn put(home: &Home, bytes: impl AsRef<[u8]>) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.write("run", bytes), mode).unwrap();
}

/// Writes it anew in place, as an editor may. A program that runs lets nobody write.
fn overwrite(path: &Path, bytes: &[u8]) {
    let _ = std::fs::write(path, bytes);
}

fn begin(home: &Home, id: &str) -> Child {
    start(home, &["discharge", "--type", "report", "--id", id, "--json", "--executor", "e"])
}

fn attempt(home: &Home, id: &str) -> Value {
    ends(vec![begin(home, id)])[0].json()
}

/// Whether it made the file, which is taken away.
fn took(home: &Home, name: &str) -> bool {
    std::fs::remove_file(home.dir().join(name)).is_ok()
}

#[track_caller]
fn detail(report: &Value, outcome: &str, holds: &str) {
    assert_eq!(said(report), outcome, "{report}");
    assert!(report["detail"].as_str().unwrap().contains(holds), "{report}");
}

#[test]
fn one_that_is_swapped_between_the_check_and_the_run_does_not_run() {
    for (kind, bytes) in kinds() {
        let home = home_with(CONFIG);
        put(&home, &bytes);
        home.mint("a", "--bind-executor e");
        // Once it has its act's file, it has checked all there is to check.
        let gate = Gate::closed(&home);
        let child = begin(&home, "a");
        until("it wants to claim", || files(&home.root().join("acts")) == 1);
        overwrite(&home.dir().join("run"), SWAPPED.as_bytes());
        gate.open();
        let report = ends(vec![child])[0].json();
        detail(&report, "uncertain: receipt_mismatch", "run has changed since the grant was");
        assert!(took(&home, "bound") && !took(&home, "swapped"), "{kind}");
        home.verify();
    }
}

/// A shell reads its script as it goes, and Python reads no line twice.
#[test]
fn one_that_is_rewritten_while_it_runs_does_what_it_would_have() {
    let wait = "touch begun; until test -e go; do sleep 0.01; done; ";
    let padding = format!("{}\n", "#".repeat(100)).repeat(200);
    for (kind, text, swapped) in [
        (
            "bash",
            format!("#!/bin/bash\n{wait}\ntouch bound  \n"),
            format!("#!/bin/bash\n{wait}\ntouch swapped\n"),
        ),
        (
            "sh",
            format!("#!/bin/sh\n{wait}\n{padding}touch bound  \n"),
            format!("#!/bin/sh\n{wait}\n{padding}touch swapped\n"),
        ),
        (
            "python",
            "#!/usr/bin/env python3\nimport os, time\nopen('begun', 'w')\n\
             while not os.path.exists('go'): time.sleep(0.01)\nopen('bound', 'w')\n"
                .to_owned(),
            "#!/usr/bin/env python3\nopen('swapped', 'w')\n".to_owned(),
        ),
    ] {
        let home = home_with(CONFIG);
        put(&home, &text);
        home.mint("a", "--bind-executor e");
        let child = begin(&home, "a");
        until("it runs", || home.dir().join("begun").exists());
        overwrite(&home.dir().join("run"), swapped.as_bytes());
        home.write("go", "");
        let report = ends(vec![child])[0].json();
        detail(&report, "uncertain: receipt_mismatch", "run has changed since the grant was");
        assert!(took(&home, "bound") && !took(&home, "swapped"), "{kind}");
        home.verify();
    }
}

/// Ends the writer, also when the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn beside_one_who_writes_without_end_only_what_was_bound_runs() {
    const RUNS: usize = 8;
    for (kind, bytes) in kinds() {
        let home = home_with(CONFIG);
        put(&home, &bytes);
        let line = |id| format!("{{\"object\":{{\"type\":\"report\",\"id\":\"{id}\"}}}}\n");
        home.write("sheet.jsonl", (0..RUNS).map(line).collect::<String>());
        home.say("mint --sheet sheet.jsonl --by me --for 1h --bind-executor e").ok();
        let (path, done) = (home.dir().join("run"), AtomicBool::new(false));
        let race = || {
            while !done.load(Ordering::Relaxed) {
                overwrite(&path, &bytes);
                std::thread::yield_now();
                overwrite(&path, SWAPPED.as_bytes());
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            let _end = End(&done);
            scope.spawn(race);
            for id in 0..RUNS {
                // What is refused before the claim spends nothing, and is tried again.
                loop {
                    let report = attempt(&home, &id.to_string());
                    let ran = took(&home, "bound");
                    assert!(!took(&home, "swapped"), "{kind}: {report}");
                    match said(&report).as_str() {
                        "discharged: confirmed" | "uncertain: receipt_mismatch" => {
                            assert!(ran, "{kind}: {report}");
                            break;
                        }
                        "refused: binding_changed" => assert!(!ran, "{kind}: {report}"),
                        other => panic!("{kind}: {other}: {report}"),
                    }
                }
            }
        });
        home.verify();
    }
}

#[test]
fn whatever_changed_is_named_and_nothing_is_spent() {
    let home = home_with("");
    let dir = home.dir().display();
    let base = format!(
        "[executors.e]\nargv = [\"{dir}/run\", \"bound\"]\ncwd = \"{dir}\"\npath = \"/bin\"\n\
         env = [\"KEY\"]\nfiles = [\"list\"]\nconfirm = [\"true\"]\n"
    );
    let config = |text: &str| home.write(".granted/config.toml", text);
    config(&base);
    put(&home, "#!/bin/sh\ntouch bound\n");
    home.write("list", "1");
    home.mint("a", "--bind-executor e");
    let refused = |names: &str| {
        let report = attempt(&home, "a");
        detail(&report, "refused: binding_changed", &format!("the executor's {names}"));
        assert!(!took(&home, "bound"));
        assert_eq!(home.status("a"), "live");
    };
    for (from, to, names) in [
        ("\"bound\"", "\"bound\", \"x\"", "`argv` has changed"),
        ("cwd = \"", "cwd = \"/", "`cwd` has changed"),
        ("path = \"/bin\"", "path = \"/bin:/bin\"", "`path` has changed"),
        ("[\"KEY\"]", "[\"KEY\", \"LD_PRELOAD\"]", "`env` has changed"),
        ("[\"list\"]", "[\"list\", \"run\"]", "`files` has changed"),
        ("[\"true\"]", "[\"true\", \"x\"]", "`confirm` has changed"),
        ("confirm = [\"true\"]\n", "", "`confirm` has changed"),
    ] {
        assert!(base.contains(from));
        config(&base.replace(from, to));
        refused(names);
    }
    config(&base);
    put(&home, SWAPPED);
    refused(&format!("program {dir}/run has changed"));
    put(&home, "#!/bin/sh\ntouch bound\n");
    home.write("list", "2");
    refused(&format!("file {dir}/list has changed"));
    home.write("list", "1");
    assert_eq!(home.rows_of("decision.intent").len(), 0);
    assert_eq!(said(&attempt(&home, "a")), "discharged: confirmed");
    let digest = &home.rows_of("decision.intent")[0]["body"]["executor"]["digest"];
    let minted = &home.rows_of("decision.minted")[0]["body"]["grant"]["executor_bound"];
    assert_eq!(*digest, minted["digest"]);
    home.verify();
}

/// Another program of that name, earlier in the path.
#[test]
fn a_program_that_another_hides_is_another_one() {
    let home = home_with("");
    let dir = home.dir().display();
    home.write(
        ".granted/config.toml",
        format!(
            "[executors.e]\nargv = [\"run\", \"bound\"]\npath = \"{dir}/one:{dir}/two:/bin\"\n"
        ),
    );
    home.script("two/run", "#!/bin/sh\ntouch bound\n");
    home.mint("a", "--bind-executor e");
    home.script("one/run", "#!/bin/sh\ntouch bound\n");
    let names = format!("the executor's program is now {dir}/one/run; it was {dir}/two/run");
    detail(&attempt(&home, "a"), "refused: binding_changed", &names);
    std::fs::remove_file(home.dir().join("one/run")).unwrap();
    assert_eq!(said(&attempt(&home, "a")), "discharged: confirmed");
    assert!(took(&home, "bound"));
}

#[test]
fn a_file_that_changes_during_the_act_makes_it_uncertain() {
    let home = home_with("[executors.e]\nargv = [\"./run\"]\nfiles = [\"list\"]\n");
    home.write("list", "1");
    for (id, script, names) in [
        ("a", "echo 2 > list", "file"),
        ("b", "echo 2 > run", "program"),
        ("c", "rm run", "the executor that the grant is bound to: the program"),
    ] {
        home.write("list", "1");
        put(&home, format!("#!/bin/sh\n{script}\n"));
        home.mint(id, "--bind-executor e");
        detail(&attempt(&home, id), "uncertain: receipt_mismatch", names);
        assert_eq!(home.status(id), "consumed");
    }
    home.verify();
}

/// A timer's environment is not a terminal's, and neither is part of what was bound.
#[test]
fn the_callers_environment_is_not_bound() {
    let home = home_with("[executors.e]\nargv = [\"./run\"]\nenv = [\"KEY\"]\n");
    put(&home, "#!/bin/sh\necho $KEY > key\n");
    home.mint("a", "--bind-executor e");
    let mut command = home.command("discharge --type report --id a --executor e".split(' '));
    command.env("LANG", "C").env("LC_ALL", "C").env("KEY", "k");
    Run::from(command.output().unwrap()).ok();
    assert_eq!(std::fs::read_to_string(home.dir().join("key")).unwrap(), "k\n");
}

#[test]
fn without_proc_nothing_is_claimed() {
    let home = home_with(CONFIG);
    put(&home, "#!/bin/sh\ntouch \"$1\"\n");
    home.mint("a", "--bind-executor e");
    let without = |verb: &str| {
        let mut unshare = home.other("unshare");
        let user = if rustix::process::getuid().is_root() { "-m" } else { "-rm" };
        let script = format!("mount -t tmpfs none /proc && exec granted {verb}");
        Run::from(unshare.args([user, "sh", "-c", &script]).output().unwrap())
    };
    let why = "a sealed copy is run through /proc/self/fd, which is not there";
    let run = without("discharge --type report --id a --json --executor e").exits(3);
    detail(&run.json(), "refused: unknown_executor", why);
    let run = without("mint --type report --id b --by me --for 1h --bind-executor e").exits(1);
    assert!(run.stderr.contains(why), "{run:?}");
    assert!(!took(&home, "bound"));
    assert_eq!((home.rows_of("decision.intent").len(), home.status("a").as_str()), (0, "live"));
    assert_eq!(said(&attempt(&home, "a")), "discharged: confirmed");
}

#[test]
fn every_door_keeps_to_what_was_bound() {
    let home = home_with(CONFIG);
    put(&home, "#!/bin/sh\ntouch \"$1\"\n");
    for id in ["mcp", "library"] {
        home.mint(id, "--bind-executor e --decision APPROVE_SESSION");
    }
    let ask = json!({"type": "report", "id": "mcp", "executor": "e"});
    let mut client = Client::legacy(&home, &[]);
    let status = client.call("grant_status", json!({"type": "report", "id": "mcp"}));
    assert_eq!(status["grant"]["executor_bound"]["argv"], json!(["./run", "bound"]));
    assert_eq!(said(&client.call("grant_discharge", ask.clone())), "discharged: confirmed");
    let book = Book::open(Places::at(home.root()), Door::Library);
    let cwd = home.dir().display();
    let config = |argv: &str| {
        Config::parse(&format!("[executors.e]\nargv = {argv}\ncwd = \"{cwd}\"\n")).unwrap()
    };
    let request = Request::new("report", "library", "e").unwrap();
    let through = |config: &Config| {
        let report = granted::discharge_through(&book, config, &request).unwrap();
        serde_json::to_value(report).unwrap()
    };
    // The library's own config counts, and a closure is no program.
    assert_eq!(said(&through(&config("[\"./run\", \"other\"]"))), "refused: binding_changed");
    let closure = granted::discharge(&book, &request, |_, _| Verdict::Failed("it ran".into()));
    detail(&serde_json::to_value(closure).unwrap(), "refused: unknown_executor", "a closure");
    assert_eq!(said(&through(&config("[\"./run\", \"bound\"]"))), "discharged: confirmed");
    assert!(took(&home, "bound") && !took(&home, "other"));
    put(&home, SWAPPED);
    assert_eq!(said(&client.call("grant_discharge", ask)), "refused: binding_changed");
    assert_eq!(said(&through(&config("[\"./run\", \"bound\"]"))), "refused: binding_changed");
    assert!(!took(&home, "swapped"));
    home.verify();
}

/// A grant that is not bound runs its executor from its path, also beside one that is.
#[test]
fn a_grant_that_is_not_bound_runs_from_the_path() {
    let home = home_with(CONFIG);
    put(&home, "#!/bin/sh\necho $0 >> names\n");
    home.mint("a", "");
    home.say("mint --type report --id a --by me --for 2h --again --bind-executor e").ok();
    for _ in 0..2 {
        assert_eq!(said(&attempt(&home, "a")), "discharged: confirmed");
    }
    let names = std::fs::read_to_string(home.dir().join("names")).unwrap();
    assert_eq!(names, format!("{}/./run\n/proc/self/fd/3\n", home.dir().display()));
}
