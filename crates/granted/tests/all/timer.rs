//! The timers, run by a real systemd.

use std::path::Path;
use std::process::Command;

use granted_core::decision::Object;
use granted_core::timer::Instance;
use serde_json::Value;

use crate::home::{GRANTED, Home, Run};
use crate::manager::{Manager, until};

const MANUAL: &str = include_str!("../../../../docs/timer.md");
const SERVICES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/systemd");

const CONFIG: &str = r#"
[executors.done]
argv = ["/bin/sh", "-c", "printf '%s\\n' \"$GRANTED_OBJECT_ID\" >>done"]
[executors."of two %h ${HOME} \"words\""]
argv = ["/bin/sh", "-c", "printf '%s\\n' \"$GRANTED_OBJECT_ID\" >>done"]
[executors.decline]
argv = ["/bin/sh", "-c", "exit 75"]
[executors.fail]
argv = ["/bin/sh", "-c", "exit 1"]
[executors.doubt]
argv = ["true"]
confirm = ["false"]
"#;

/// The name of the unit of an object.
fn unit(object: &str, ending: &str) -> String {
    Instance::of(&object.parse().unwrap()).unwrap().unit(ending)
}

impl Manager {
    /// Runs the words of a line of granted.
    fn say(&self, line: &str) -> Run {
        self.run(GRANTED, line.split(' '))
    }

    fn install(&self, object: &str, executor: &str) -> Run {
        self.say(&format!("timer install --object {object} --executor {executor} --json")).ok()
    }

    /// What `timer status` says of one object.
    fn timer(&self, object: &str) -> Value {
        self.say(&format!("timer status --object {object} --json")).json()
    }

    /// Waits until the timer has stopped and its last run has ended.
    fn has_stopped(&self, object: &str) {
        until("the timer's stop", || {
            let timer = self.property(&unit(object, ".timer"), "ActiveState");
            let service = self.property(&unit(object, ".service"), "ActiveState");
            timer == "inactive" && !service.ends_with("activating")
        });
        assert!(!self.units().join("timers.target.wants").join(unit(object, ".timer")).exists());
    }
}

/// The outcomes and reasons of all attempts on an object.
fn outcomes(home: &Home, id: &str) -> Vec<String> {
    let rows = home.rows_of("decision.outcome").into_iter().map(|row| row["body"].clone());
    let of = rows.filter(|body| body["about"]["object"]["id"] == id);
    of.map(|body| format!("{}: {}", body["outcome"], body["reason"]).replace('"', "")).collect()
}

#[test]
fn a_timer_ends_as_its_outcome_says() {
    let manager = Manager::start();
    let home = &manager.home;
    home.write(".granted/config.toml", CONFIG);
    for id in ["once", "declined", "failed", "doubt"] {
        home.mint(id, "");
    }
    let window = "--not-before 2099-01-01T00:00:00Z --for 1h";
    home.say(&format!("mint --type report --id early --by me {window}")).ok();
    home.say("mint --type report --id late --by me --for 1s").ok();
    until("the deadline", || home.status("late") == "expired");

    for (id, executor, outcome, state) in [
        ("once", "done", "discharged: confirmed", "stopped"),
        ("failed", "fail", "refused: executor_failed", "stopped"),
        ("late", "done", "expired: expired", "stopped"),
        ("nothing", "done", "refused: none", "stopped"),
        ("doubt", "doubt", "uncertain: not_confirmed", "failed"),
    ] {
        let object = format!("report/{id}");
        manager.install(&object, executor);
        manager.has_stopped(&object);
        assert_eq!(outcomes(home, id), [outcome], "{id}");
        let timer = manager.timer(&object);
        assert_eq!(timer["state"], state, "{id}");
        let attempt = &timer["attempt"];
        let told = format!("{}: {}", attempt["outcome"], attempt["reason"]).replace('"', "");
        assert_eq!(told, outcome, "{id}");
    }
    assert_eq!(home.count("done"), 1);
    assert_eq!(manager.property(&unit("report/doubt", ".service"), "Result"), "exit-code");
    assert_eq!(manager.timer("report/doubt")["run"]["status"], 4);
    let all = manager.say("timer status").exits(1);
    assert!(all.stdout.contains("failed   report/doubt; last attempt 20"), "{all:?}");
    assert!(all.stdout.contains("): uncertain: not_confirmed\n"), "{all:?}");
    assert!(all.stdout.contains("stopped  report/once; last attempt 20"), "{all:?}");

    // These go on: each tick is an attempt of its own.
    for (id, executor, outcome) in [
        ("early", "done", "refused: not_yet"),
        ("declined", "decline", "refused: executor_declined"),
    ] {
        let object = format!("report/{id}");
        manager.install(&object, executor);
        until("a second tick", || outcomes(home, id).len() > 1);
        assert!(outcomes(home, id).iter().all(|was| was == outcome), "{id}");
        let timer = manager.timer(&object);
        assert!(["waiting", "running"].contains(&timer["state"].as_str().unwrap()), "{timer}");
        // Between two looks it may be running again, and then there is no last run.
        until("the last run", || {
            let run = &manager.timer(&object)["run"];
            assert!(run.is_null() || run["result"] == "success", "{run}");
            run["status"] == 3
        });
    }
    home.verify();

    // A config that cannot be read is no outcome: the service fails, and the timer goes on.
    home.write(".granted/config.toml", "broken");
    until("a failed run", || {
        let early = manager.say("timer status --object report/early").stdout;
        early.contains("): refused: not_yet; last run 20") && early.contains("): exit code 1\n")
    });
    home.write(".granted/config.toml", CONFIG);
    let before = outcomes(home, "early").len();
    until("another tick", || outcomes(home, "early").len() > before);

    // Installed again, a timer that had stopped goes on.
    manager.install("report/doubt", "done");
    until("another attempt", || outcomes(home, "doubt").len() > 1);
    manager.has_stopped("report/doubt");
    assert_eq!(outcomes(home, "doubt")[1], "refused: consumed");

    // Removed, nothing of it is left: the units of all with the last of them.
    let wants = manager.units().join("timers.target.wants");
    for id in ["once", "failed", "late", "nothing", "doubt", "early", "declined"] {
        assert!(manager.units().join("granted-discharge@.service").exists());
        let object = format!("report/{id}");
        manager.say(&format!("timer remove --object {object}")).ok();
        assert!(!manager.units().join(unit(&object, ".service.d")).exists());
        assert_eq!(manager.property(&unit(&object, ".timer"), "ActiveState"), "inactive");
        let again = manager.say(&format!("timer remove --object {object}")).ok();
        assert_eq!(again.stderr, format!("no timer is installed for {object}\n"));
    }
    assert!(!wants.exists() || std::fs::read_dir(wants).unwrap().count() == 0);
    assert_eq!(manager.systemctl("list-units --failed --plain --no-legend").ok().stdout, "");
    assert_eq!(left(&manager), OFTEN);
    assert_eq!(manager.say("timer status --json").ok().stdout, "");
    let stamps = home.dir().join(".local/share/systemd/timers");
    assert!(!stamps.exists() || std::fs::read_dir(stamps).unwrap().count() == 0);
}

/// The person's own drop-ins.
const OFTEN: [&str; 4] = [
    "granted-discharge@.service.d/often.conf",
    "granted-discharge@.timer.d/often.conf",
    "granted-tick.service.d/often.conf",
    "granted-tick.timer.d/often.conf",
];

/// The files below the folder of the units.
fn left(manager: &Manager) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![manager.units()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let path = path.strip_prefix(manager.units()).unwrap();
                    found.push(path.to_str().unwrap().to_owned());
                }
            }
        }
    }
    found.sort();
    found
}

/// Program, home and object with all that a unit or a shell could take for something else.
#[test]
fn a_timer_takes_every_path_and_id_as_it_is() {
    let manager = Manager::start();
    let home = &manager.home;
    let hostile = "%h $HOME ${HOME} é;& (x)";
    let program = home.write(&format!("bin {hostile}/granted"), std::fs::read(GRANTED).unwrap());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let root = home.dir().join(format!("home \"'\\ {hostile}"));
    let id = format!("-a/b \"c' \\x41 {hostile} ~");
    let config = home.write(root.join("config.toml").to_str().unwrap(), CONFIG);
    assert!(config.starts_with(&root));
    let granted = |args: &[&str]| -> Run {
        let mut command = manager.command(&program, args);
        command.env("GRANTED_HOME", &root).output().unwrap().into()
    };
    granted(&["mint", "--type=-r", &format!("--id={id}"), "--by=me", "--for=1h"]).ok();
    let object = format!("--object=-r/{id}");
    let executor = "--executor=of two %h ${HOME} \"words\"";
    let installed = granted(&["timer", "install", &object, executor, "--json"]).ok().json();
    assert_eq!(installed["object"]["id"], id.as_str());
    let name = installed["unit"].as_str().unwrap();
    verify(&manager, name);
    manager.has_stopped(&format!("-r/{id}"));
    let done = std::fs::read_to_string(home.dir().join("done")).unwrap();
    assert_eq!(done, format!("{id}\n"));
    let status = granted(&["timer", "status", &object, "--json"]).ok().json();
    assert_eq!(status["state"], "stopped");
    assert_eq!(status["object"]["id"], id.as_str());
    granted(&["timer", "remove", &object]).ok();
    assert_eq!(left(&manager), OFTEN);
}

/// systemd finds no fault with these units as they were installed.
fn verify(manager: &Manager, timer: &str) {
    let path = manager.units().join(timer);
    let run = manager.run("systemd-analyze", ["--user", "verify", path.to_str().unwrap()]).ok();
    assert_eq!(format!("{}{}", run.stdout, run.stderr), "");
}

#[test]
fn the_tick_does_its_work_inside_its_bounds() {
    let manager = Manager::start();
    let home = &manager.home;
    home.say("mint --type report --id late --by me --for 1s").ok();
    until("the deadline", || home.status("late") == "expired");
    let installed = manager.say("timer install").ok();
    verify(&manager, "granted-tick.timer");
    for part in ["installed granted-tick.timer\n", "  for      tick, every 15 minutes\n"] {
        assert!(installed.stdout.contains(part), "{installed:?}");
    }
    for part in ["  next     20", "granted-tick.service.d/granted.conf\n", "journalctl --user"] {
        assert!(installed.stdout.contains(part), "{installed:?}");
    }
    assert!(installed.stderr.contains("loginctl enable-linger"), "{installed:?}");
    until("the row of an expiry", || home.rows_of("decision.expired").len() == 1);
    until("the end of the tick", || {
        manager.say("timer status --json").json()["run"]["status"] == 0
    });
    let bounded = manager.property("granted-tick.service", "NoNewPrivileges");
    assert_eq!(bounded, "yes");
    home.verify();

    // Again: the same files, and the timer goes on.
    let before = left(&manager);
    manager.say("timer install --json").ok();
    assert_eq!(left(&manager), before);
    assert_eq!(manager.property("granted-tick.timer", "ActiveState"), "active");
    manager.say("timer remove").ok();
    assert_eq!(manager.property("granted-tick.timer", "ActiveState"), "inactive");
    assert_eq!(left(&manager), OFTEN);
}

#[test]
fn what_systemd_refuses_is_not_half_installed() {
    let manager = Manager::start();
    let home = &manager.home;
    // The manager looks elsewhere, as with another XDG_CONFIG_HOME than it was started with.
    let elsewhere = home.dir().join("elsewhere");
    let mut command = manager.command(Path::new(GRANTED), ["timer", "install"]);
    let run: Run = command.env("XDG_CONFIG_HOME", &elsewhere).output().unwrap().into();
    assert!(run.stderr.starts_with("granted: `systemctl --user enable "), "{run:?}");
    let run = run.exits(1);
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let units = elsewhere.join("systemd/user");
    assert_eq!(std::fs::read_dir(units).unwrap().count(), 0);
}

/// What granted did not write is neither overwritten nor removed.
#[test]
fn a_unit_of_the_person_s_is_left() {
    let manager = Manager::start();
    let home = &manager.home;
    let own = "[Unit]\nDescription=the person's own\n";
    let at = |name: &str| format!(".config/systemd/user/{name}");
    let refused = |name: &str, before: &[String]| {
        let run = manager.say("timer install").exits(1);
        let path = manager.units().join(name);
        let said = format!("granted: `{}` is there, and `granted timer`", path.display());
        assert!(run.stderr.starts_with(&said), "{run:?}");
        assert!(run.stderr.ends_with("\nhint: move it away, then install again\n"), "{run:?}");
        assert_eq!(left(&manager), before);
    };
    for name in ["granted-tick.timer", "granted-tick.service.d/granted.conf"] {
        let path = home.write(&at(name), own);
        refused(name, &left(&manager));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), own);
        std::fs::remove_file(path).unwrap();
    }
    let (drop_ins, moved) = (manager.units().join("granted-tick.service.d"), home.dir().join("d"));
    std::fs::rename(&drop_ins, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &drop_ins).unwrap();
    let before = left(&manager);
    refused("granted-tick.service.d", &before);
    std::fs::remove_file(&drop_ins).unwrap();
    std::fs::rename(&moved, &drop_ins).unwrap();

    manager.say("timer install").ok();
    let path = home.write(&at("granted-tick.service"), own);
    let run = manager.say("timer remove").ok();
    let note = format!("note: `{}` is left: `granted timer` did not write it\n", path.display());
    assert_eq!(run.stderr, note);
    assert_eq!(run.stdout.lines().count(), 3, "{run:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), own);
    std::fs::remove_file(path).unwrap();
    assert_eq!(left(&manager), OFTEN);
}

#[test]
fn instances_are_those_of_systemd() {
    let ids =
        ["2026-09-30", "a/b", ".a", "..", "a b", "-x", "\\x2d", "é日😀", "%i$HOME", "a:b_c~@"];
    let objects: Vec<Object> = ids
        .into_iter()
        .flat_map(|id| [format!("report/{id}"), format!(".r-p/{id}/{id}")])
        .map(|object| object.parse().unwrap())
        .collect();
    for object in objects {
        let text = format!("{}/{}", object.r#type.as_str(), object.id.as_str());
        let escaped = escape(&["--", &text]);
        let instance = Instance::of(&object).unwrap();
        assert_eq!(escaped, instance.to_string());
        assert_eq!(escape(&["--unescape", "--", &escaped]), text);
        assert_eq!(instance.object(), Some(object));
    }
}

fn escape(args: &[&str]) -> String {
    let output = Command::new("systemd-escape").args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end_matches('\n').to_owned()
}

/// How exposed systemd finds the services, in tenths. docs/timer.md has the figures of one systemd;
/// another may count a little differently.
#[test]
fn the_services_are_as_hard_as_the_manual_says() {
    let home = Home::new();
    for (service, most) in [("granted-tick.service", 65), ("granted-discharge@.service", 98)] {
        let mut command = home.other("systemd-analyze");
        command.args(["security", "--user", "--offline=true", "--no-pager"]);
        command.arg(format!("--threshold={most}")).arg(format!("{SERVICES}/{service}"));
        let run: Run = command.env("XDG_RUNTIME_DIR", home.dir()).output().unwrap().into();
        assert_eq!(run.code, 0, "{service}: {}", run.stdout.lines().last().unwrap_or_default());
    }
}

/// The manual's parts in this language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let parts = MANUAL.split(&format!("\n```{language}\n")).skip(1).collect::<Vec<_>>();
    parts.into_iter().map(|part| part.split_once("```").unwrap().0)
}

/// A home as the manual's lines without systemd expect it: granted in its place, an executor, two
/// grants, of which one has expired.
fn without_systemd() -> Home {
    let home = Home::new();
    home.write(".granted/config.toml", "[executors.send_report]\nargv = [\"true\"]\n");
    std::fs::create_dir_all(home.dir().join(".local/bin")).unwrap();
    std::os::unix::fs::symlink(GRANTED, home.dir().join(".local/bin/granted")).unwrap();
    home.mint("2026-09-30", "--allow send");
    home.say("mint --type report --id late --by me --for 1s").ok();
    until("the deadline", || home.status("late") == "expired");
    home
}

/// Runs these lines twice: they do what they are for, and no more once the grant is spent.
fn run_twice(lines: &[String]) {
    let home = without_systemd();
    for _ in 0..2 {
        for line in lines {
            home.shell(line).output().unwrap();
        }
        assert_eq!(outcomes(&home, "2026-09-30"), ["discharged: confirmed"]);
        assert_eq!(home.rows_of("decision.expired").len(), 1);
    }
}

#[test]
fn the_manual_s_lines_for_cron_run() {
    let lines = blocks("text").next().unwrap().lines();
    let lines = lines.map(|line| line.strip_prefix("*/15 * * * * ").unwrap().to_owned());
    run_twice(&lines.collect::<Vec<_>>());
}

#[test]
fn the_manual_s_files_for_launchd_run() {
    let home = Home::new();
    let script =
        "import plistlib,sys,json; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
    let labels = ["granted.tick", "granted.report-2026-09-30"];
    let files: Vec<&str> = blocks("xml").collect();
    assert_eq!(files.len(), labels.len());
    let lines = files.iter().zip(labels).map(|(file, label)| {
        let mut command = Command::new("python3");
        let path = home.write("plist", file);
        let run: Run = command.args(["-c", script]).arg(path).output().unwrap().into();
        let plist = run.ok().json();
        assert_eq!((&plist["Label"], &plist["StartInterval"]), (&label.into(), &900.into()));
        assert_eq!(plist["ProgramArguments"][1], "-c");
        plist["ProgramArguments"][2].as_str().unwrap().to_owned()
    });
    run_twice(&lines.collect::<Vec<_>>());
}
