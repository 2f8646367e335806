//! The brief: what it may say, and what is wrong with one that says it badly.

use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::write::brief::{GateEntry, Tool};
use granted_core::write::{Brief, ProjectPath};

use super::world::{BRIEF, brief};

fn error(text: &str) -> String {
    toml::from_str::<Brief>(text).unwrap_err().to_string()
}

fn gate(argv: &str) -> GateEntry {
    brief(&format!("[gates.g]\nargv = {argv}")).gates.into_values().next().unwrap()
}

#[test]
fn a_good_brief_has_no_problems_and_its_defaults_are_narrow() {
    assert_eq!(brief(BRIEF).problems(), Vec::<String>::new());
    let empty = brief("");
    assert_eq!(empty.problems(), Vec::<String>::new());
    assert!(!empty.allow_unconfined_gates);
    let caps = &empty.caps;
    assert_eq!((caps.file_bytes, caps.files, caps.staged), (256 * 1024, 32, 50));
    assert_eq!(caps.bytes_a_day, 16 * 1024 * 1024);
    let one = brief("[agents.a]\ntools = [\"request_status\", \"write_file\"]");
    let entry = one.agents.values().next().unwrap();
    assert_eq!(entry.tools, [Tool::WriteFile, Tool::RequestStatus]);
    assert!(entry.write_scopes.is_empty() && entry.gates.is_empty());
    assert_eq!(gate("[\"ruff\"]").timeout, Duration::from_secs(120));
}

#[test]
fn what_is_not_known_is_an_error_with_its_line() {
    for (line, text) in [
        (2, "protected = []\nprotect = []"),
        (3, "[agents.a]\ntools = [\"write_file\"]\nwrite_scope = [\"src/\"]"),
        (3, "[gates.g]\nargv = [\"ruff\"]\nshell = true"),
        (3, "\n[caps]\nfile = 1"),
        (2, "[agents.a]\ntools = [\"run_command\"]"),
        (3, "[agents.a]\ntools = [\"write_file\"]\napproval = \"always\""),
        (3, "[agents.a]\ntools = [\"write_file\"]\ndispatch = \"never\""),
        (3, "[agents.a]\ntools = [\"write_file\"]\nwrite_scopes = [\"../x\"]"),
        (1, "protected = [\"../x\"]"),
        (1, "protected = \"src/\""),
        (2, "[agents.a]\ntools = []"),
        (2, "[agents.a]\ntools = [\"write_file\", \"write_file\"]"),
        (2, "\n[agents.A]\ntools = [\"write_file\"]"),
        (2, "\n[agents.\"a b\"]\ntools = [\"write_file\"]"),
        (3, "[gates.g]\nargv = [\"ruff\"]\ntimeout = \"11m\""),
        (3, "[gates.g]\nargv = [\"ruff\"]\ntimeout = \"0s\""),
        (3, "[gates.g]\nargv = [\"ruff\"]\ntimeout = 30"),
        (2, "[gates.g]\nargv = []"),
        (2, "[gates.g]\nargv = [\"\"]"),
        (2, "[gates.g]\nargv = \"ruff check\""),
        (3, "[gates.g]\nargv = [\"ruff\"]\nneeds = [\"/etc/passwd\"]"),
        (3, "[gates.g]\nargv = [\"ruff\"]\nneeds = [\"a/../b\"]"),
    ] {
        let found = error(text);
        assert!(found.contains(&format!("at line {line}")), "{text}\n{found}");
    }
    // Without tools an agent is nobody.
    assert!(error("[agents.a]").contains("tools"));
}

#[test]
fn a_shell_is_no_gate() {
    for shell in ["sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "busybox"] {
        for program in [shell.to_owned(), format!("/bin/{shell}"), format!("./{shell}")] {
            let found = error(&format!("[gates.g]\nargv = [\"{program}\", \"-c\", \"true\"]"));
            assert!(found.contains("no shell"), "{program}: {found}");
        }
    }
    assert_eq!(gate("[\"bash-lint\", \"{file}\"]").argv[0], "bash-lint");
}

#[test]
fn placeholders_are_whole_arguments() {
    assert!(gate("[\"ruff\", \"{file}\"]").is_per_file());
    assert!(gate("[\"ruff\", \"{path}\"]").is_per_file());
    assert!(!gate("[\"ruff\", \"src\"]").is_per_file());
    for bad in ["--file={file}", "{path}:1", "{file}{file}"] {
        let found = error(&format!("[gates.g]\nargv = [\"ruff\", \"{bad}\"]"));
        assert!(found.contains("whole arguments"), "{found}");
    }
    assert!(error("[gates.g]\nargv = [\"ruff\", \"a\\u0000b\"]").contains("whole arguments"));
}

#[test]
fn each_problem_is_found() {
    for (text, problem) in [
        (
            BRIEF.replace("dispatch = \"required\"", "dispatch = \"required\"\ngates = [\"lin\"]"),
            "agents.producer: there is no gate `lin`",
        ),
        (
            BRIEF.replace("dispatch = \"required\"\n", ""),
            "agents.producer: `approval = \"direct\"` needs `dispatch = \"required\"`",
        ),
        (
            BRIEF.replace("\"ruff\", \"check\"", "\"ruff\", \"--config=src/lint.toml\""),
            "agents.producer: scope `src/` takes in `src/lint.toml`, which gate `lint` runs or \
             needs: protect it",
        ),
        (
            BRIEF.replace("\"ruff\", \"check\"", "\"./src/check.py\""),
            "agents.producer: scope `src/` takes in `src/check.py`, which gate `lint` runs or \
             needs: protect it",
        ),
        (
            BRIEF.replace("paths =", "needs = [\"src/rules\"]\npaths ="),
            "agents.producer: scope `src/` takes in `src/rules`, which gate `lint` runs or needs: \
             protect it",
        ),
        (
            BRIEF.replace("gates.lint", "gates.\"li nt\""),
            "gates.li nt: a gate's name is of `A-Za-z0-9._-`",
        ),
        (format!("{BRIEF}[caps]\nfiles = 0"), "caps.files: it is 1 to 64"),
        (format!("{BRIEF}[caps]\nfiles = 65"), "caps.files: it is 1 to 64"),
        (format!("{BRIEF}[caps]\nfile_bytes = 0"), "caps.file_bytes: it is 1 to 4194304"),
        (format!("{BRIEF}[caps]\nfile_bytes = 4194305"), "caps.file_bytes: it is 1 to 4194304"),
        (format!("{BRIEF}[caps]\nstaged = 0"), "caps.staged: it is 1 to 10000"),
        (format!("{BRIEF}[caps]\nstaged = 10001"), "caps.staged: it is 1 to 10000"),
        (format!("{BRIEF}[caps]\nbytes_a_day = 0"), "caps.bytes_a_day: it is 1 to 1099511627776"),
        (
            format!("{BRIEF}[caps]\nbytes_a_day = 1099511627777"),
            "caps.bytes_a_day: it is 1 to 1099511627776",
        ),
    ] {
        assert_eq!(brief(&text).problems(), [problem], "{text}");
    }
    // What is protected may be named by a gate, and so may what no agent writes.
    let named =
        BRIEF.replace("\"ruff\", \"check\"", "\"ruff\", \"src/keys/lint.toml\", \"tools/x.py\"");
    assert_eq!(brief(&named).problems(), Vec::<String>::new());
    let most =
        "[caps]\nfiles = 64\nfile_bytes = 4194304\nstaged = 10000\nbytes_a_day = 1099511627776";
    assert_eq!(brief(most).problems(), Vec::<String>::new());
}

#[test]
fn the_files_of_a_gate_are_found() {
    for (argv, files) in [
        ("[\"ruff\", \"check\"]", &[][..]),
        ("[\"./check.sh\", \"{file}\"]", &["check.sh"]),
        ("[\"python3\", \"tools/lint.py\", \"-x\"]", &["tools/lint.py"]),
        ("[\"tool\", \"--config=a/b.toml\", \"--x=1\"]", &["a/b.toml"]),
        ("[\"python3\", \"lint.py\", \"lint.py\"]", &["lint.py"]),
        ("[\"/usr/bin/ruff\"]", &[]),
    ] {
        let found = gate(argv).files();
        let missing = files.iter().find(|file| !found.iter().any(|f| f.as_str() == **file));
        assert_eq!(missing, None, "{argv}: {found:?}");
    }
    // And none that only looks like one.
    assert_eq!(gate("[\"/usr/bin/ruff\", \"check\", \"{file}\"]").files(), []);
}

#[test]
fn a9_a_gate_is_its_definition_and_the_bytes_of_its_files() {
    let program = ("/usr/bin/ruff", Digest::of(b"ruff"));
    let path = |text: &str| ProjectPath::parse(text).unwrap();
    let of = |text: &str, program, files: &[(ProjectPath, Option<Digest>)]| {
        let gate = brief(&format!("[gates.g]\n{text}")).gates.into_values().next().unwrap();
        gate.identity(program, files)
    };
    let base = "argv = [\"ruff\", \"lint.toml\"]\npaths = [\"src/**\"]";
    let files = [(path("lint.toml"), Some(Digest::of(b"rules")))];
    let identity = of(base, program, &files);
    assert_eq!(of(base, program, &files), identity);
    for (what, other) in [
        ("argv", of(&base.replace("\"ruff\"", "\"ruff2\""), program, &files)),
        ("paths", of(&base.replace("src/**", "src/*"), program, &files)),
        ("timeout", of(&format!("{base}\ntimeout = \"1s\""), program, &files)),
        ("needs", of(&format!("{base}\nneeds = [\"x\"]"), program, &files)),
        ("program", of(base, (program.0, Digest::of(b"other")), &files)),
        ("place", of(base, ("/bin/ruff", program.1), &files)),
        ("bytes", of(base, program, &[(path("lint.toml"), Some(Digest::of(b"none")))])),
        ("gone", of(base, program, &[(path("lint.toml"), None)])),
        ("name", of(base, program, &[(path("lint.tom"), Some(Digest::of(b"rules")))])),
        ("one less", of(base, program, &[])),
    ] {
        assert_ne!(other, identity, "{what}");
    }
}

#[test]
fn the_gates_that_look_at_a_file_are_those_listed_asked_for_and_of_its_path() {
    let text = "[agents.a]\ntools = [\"write_file\"]\ngates = [\"listed\"]\n\
        [gates.asked]\nargv = [\"x\"]\n[gates.listed]\nargv = [\"x\"]\n\
        [gates.other]\nargv = [\"x\"]\n[gates.paths]\nargv = [\"x\"]\npaths = [\"src/*.py\"]\n";
    let brief = brief(text);
    let entry = brief.agents.values().next();
    let names = |agent, path: &str, asked: &[&str]| -> Vec<String> {
        let asked: Vec<_> = asked.iter().map(|name| name.parse().unwrap()).collect();
        let gates = brief.gates_for(agent, &ProjectPath::parse(path).unwrap(), &asked);
        gates.iter().map(|(name, _)| name.to_string()).collect()
    };
    assert_eq!(names(entry, "src/a.py", &["asked"]), ["asked", "listed", "paths"]);
    // A1: whatever its case.
    assert_eq!(names(None, "SRC/A.PY", &[]), ["paths"]);
    assert_eq!(names(entry, "docs/a.md", &[]), ["listed"]);
    assert_eq!(names(None, "docs/a.md", &[]), Vec::<String>::new());
}

#[test]
fn what_steers_agents_is_protected_unless_the_brief_says_otherwise() {
    let agent = "[agents.a]\ntools = [\"write_file\"]\nwrite_scopes = [\"src/\", \"CLAUDE.md\"]\n";
    let is = |text: &str, path: &str| brief(text).is_protected(&path.parse().unwrap());
    for path in ["CLAUDE.md", "src/Agents.md", "src/.husky/pre-commit", "src/.gitattributes"] {
        assert!(is(agent, path), "{path}");
        assert!(!is(&format!("protected = []\n{agent}"), path), "{path}");
    }
    assert!(!is(agent, "src/AGENTS.md.txt") && !is(agent, "src/husky"));
    assert_eq!(brief(agent).protected.len(), granted_core::write::brief::PROTECTED.len());
}

#[test]
fn a_gate_that_is_listed_twice_is_a_mistake() {
    let text = "[agents.a]\ntools = [\"write_file\"]\ngates = [\"g\", \"h\", \"g\"]\n\
                [gates.g]\nargv = [\"true\"]\n[gates.h]\nargv = [\"true\"]";
    assert_eq!(brief(text).problems(), ["agents.a: `gates` names `g` twice"]);
}
