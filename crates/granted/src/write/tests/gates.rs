//! Gates, when change sets are filed and when they are approved.

use std::os::unix::fs::PermissionsExt as _;

use granted_core::write::Refusal;
use granted_core::write::decide::NotNow;
use granted_core::write::event::Confinement;

use crate::write::approve::WordError;
use crate::write::file::Answer;
use crate::write::gates::identity;
use crate::write::ground::{BRIEF, Ground};
use crate::write::project::OpenProject;

/// With these gates, of which `check` is a program of the project.
fn ground(gates: &str) -> Ground {
    let ground = Ground::new();
    ground.put(
        "granted.toml",
        format!("{}\n{gates}", BRIEF.replace("'src/locked/'", "'src/locked/', 'gates/'")),
    );
    script(&ground, "#!/bin/sh\nexit 0\n");
    ground
}

fn script(ground: &Ground, text: &str) {
    ground.put("gates/check", text);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(ground.at("gates/check"), mode).unwrap();
}

const GOOD: &str =
    "[gates.good]\nargv = ['grep', '-q', 'good', '{file}']\npaths = ['src/**/*.PY']\n";
const CHECK: &str = "[gates.check]\nargv = ['gates/check', '{path}']\npaths = ['src/']\n";
const WHOLE: &str = "[gates.check]\nargv = ['gates/check']\npaths = ['src/']\n";

#[track_caller]
fn detail(answer: Answer) -> String {
    match answer {
        Answer::Refused { denied, .. } => format!("{}: {}", denied.reason, denied.detail),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a1_a_gate_sees_what_is_proposed() {
    let ground = ground(GOOD);
    ground.put("src/deep/a.py", "good\n");
    assert_eq!(ground.refused("src/deep/a.py", Some("bad\n")), Refusal::GateFailed);
    assert_eq!(ground.refused("src/b.py", Some("bad\n")), Refusal::GateFailed);
    // Others are none of its business, and what is deleted is not looked at.
    let state = ground.staged([ground.change("src/b.txt", Some("bad\n"))]);
    assert!(state.request().unwrap().gates.is_empty());
    ground.staged([ground.change("src/deep/a.py", None)]);
    let state = ground.staged([
        ground.change("src/b.py", Some("good\n")),
        ground.change("src/c.py", Some("good too\n")),
    ]);
    let gates = &state.request().unwrap().gates;
    let on: Vec<_> = gates.iter().map(|run| run.path.as_ref().unwrap().as_str()).collect();
    assert_eq!(
        (on.as_slice(), gates[0].confined),
        (&["src/b.py", "src/c.py"][..], Confinement::Landlock)
    );
    ground.approve(state.id).unwrap();
}

#[test]
fn what_a_gate_wrote_is_quoted() {
    let ground = ground(CHECK);
    script(
        &ground,
        "#!/bin/sh\nhead -c 2000 /dev/zero | tr '\\0' x; printf '%s\\033[2J is bad' $1 >&2; exit 3\n",
    );
    let said = detail(ground.file(&ground.proposal([ground.change("src/a.txt", Some("two\n"))])));
    assert!(
        said.starts_with("gate_failed: gate `check` on `src/a.txt` did not pass: exit 3: xxx"),
        "{said}"
    );
    assert!(said.ends_with("src/a.txt\\u{1b}[2J is bad"), "{said}");
    assert!(said.len() < 800, "{said}");
}

#[test]
fn a_gate_that_names_no_file_looks_at_the_whole() {
    let ground = ground(WHOLE);
    script(&ground, "#!/bin/sh\ntest ! -e src/a.txt || test -e src/b.txt\n");
    let a = || ground.change("src/a.txt", Some("two\n"));
    assert_eq!(ground.file(&ground.proposal([a()])).refused(), Refusal::GateFailed);
    let state = ground.staged([a(), ground.change("src/b.txt", Some("b\n"))]);
    let gates = &state.request().unwrap().gates;
    assert_eq!((gates.len(), &gates[0].path), (1, &None));
    // A deletion alone is a tree without the file.
    let state = ground.staged([ground.change("src/a.txt", None)]);
    assert_eq!(state.request().unwrap().gates.len(), 1);
    ground.approve(state.id).unwrap();
}

#[test]
fn a2_a_gate_writes_nothing_and_learns_nothing() {
    let ground = ground(CHECK);
    let outside = ground.at("src/a.txt");
    for evil in [
        format!("echo x > {}", outside.display()),
        format!("cat {}", outside.display()),
        "cat /root/.profile $HOME/../../.profile".into(),
        "test -n \"$GRANTED_HOME$SSH_AUTH_SOCK\"".into(),
    ] {
        script(&ground, &format!("#!/bin/sh\n{evil}\n"));
        assert_eq!(ground.refused("src/b.txt", Some("x")), Refusal::GateFailed, "{evil}");
    }
    assert_eq!(ground.text("src/a.txt"), "one\n");
}

#[test]
fn g11_a_gate_counts_as_it_is_when_it_is_approved() {
    let ground = ground(CHECK);
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    script(&ground, "#!/bin/sh\nexit 1\n");
    match ground.approve(state.id) {
        Err(WordError::Not(NotNow::Denied(_, denied))) => {
            assert_eq!(denied.reason, Refusal::GateFailed);
        }
        other => panic!("{other:?}"),
    }
    std::fs::remove_file(ground.at("gates/check")).unwrap();
    match ground.approve(state.id) {
        Err(WordError::Not(NotNow::Denied(_, denied))) => {
            assert_eq!(denied.reason, Refusal::GateUnavailable);
        }
        other => panic!("{other:?}"),
    }
    script(&ground, "#!/bin/sh\nexit 0\n");
    ground.approve(state.id).unwrap();
    assert_eq!(ground.text("src/a.txt"), "two\n");
}

#[test]
fn an_agent_adds_gates_and_removes_none() {
    let ground = ground(
        "[gates.extra]\nargv = ['false']\n[gates.always]\nargv = ['true']\npaths = ['src/']\n",
    );
    let mut proposal = ground.proposal([ground.change("src/a.txt", Some("two\n"))]);
    assert_eq!(ground.file(&proposal).staged().request().unwrap().gates.len(), 1);
    proposal.gates = vec!["extra".parse().unwrap()];
    assert_eq!(ground.file(&proposal).refused(), Refusal::GateFailed);
    proposal.gates = vec!["none".parse().unwrap()];
    assert_eq!(ground.file(&proposal).refused(), Refusal::UnknownGate);
}

#[test]
fn a9_a_gate_is_its_definition_its_program_and_its_files() {
    let gates = |timeout: &str| format!("{CHECK}needs = ['gates/list']\ntimeout = '{timeout}'\n");
    let ground = ground(&gates("5s"));
    ground.put("gates/list", "a\n");
    let is = || {
        let project = OpenProject::named(&ground.root()).unwrap();
        let brief = project.brief().unwrap().brief;
        identity(&project, &brief.gates[&"check".parse().unwrap()]).unwrap()
    };
    let first = is();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    assert_eq!(state.request().unwrap().gates[0].digest, first);
    ground.put("gates/list", "b\n");
    assert_ne!(is(), first);
    ground.put("gates/list", "a\n");
    assert_eq!(is(), first);
    script(&ground, "#!/bin/sh\nexit 0 # changed\n");
    assert_ne!(is(), first);
    script(&ground, "#!/bin/sh\nexit 0\n");
    let brief = ground.text("granted.toml").replace("5s", "6s");
    ground.put("granted.toml", brief);
    assert_ne!(is(), first);
}

#[test]
fn a3_without_a_sandbox_a_gate_is_refused_unless_the_brief_allows_it() {
    granted_testkit::landlock::without("write::tests::gates::without_landlock");
}

/// Run by the test above, where there is no Landlock.
#[test]
#[ignore = "the test above runs it behind a filter"]
fn without_landlock() {
    let ground = ground(CHECK);
    let change = || [ground.change("src/a.txt", Some("two\n"))];
    let refused = ground.file(&ground.proposal(change()));
    let said = detail(refused);
    assert!(
        said.starts_with("gate_unavailable: gate `check`: this kernel cannot confine"),
        "{said}"
    );
    let brief = std::fs::read_to_string(ground.at("granted.toml")).unwrap();
    ground.put("granted.toml", format!("allow_unconfined_gates = true\n{brief}"));
    let state = ground.staged(change());
    assert_eq!(state.request().unwrap().gates[0].confined, Confinement::None);
}
