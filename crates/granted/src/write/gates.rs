//! Gates: the programs that must find proposed contents good.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use granted_core::decision::Ended;
use granted_core::digest::Digest;
use granted_core::text::{Name, Shown};
use granted_core::write::brief::GateEntry;
use granted_core::write::decide::{Asker, Denied};
use granted_core::write::event::Confinement;
use granted_core::write::{FileChange, GateRun, ProjectPath, Refusal};
use granted_exec::apply::NEW_MODE;
use granted_exec::gate::{self, Bench, Command, Gated, Needed, Proposed};
use granted_exec::tree::{Found, TreeFault};
use granted_exec::{Stop, find_program};

use super::project::OpenProject;
use crate::config::DEFAULT_PATH;
use crate::files;

/// The most bytes of a file that a gate needs.
const MAX_NEED: usize = 16 << 20;

/// How much of a failed gate's output is quoted, in characters.
const QUOTED: usize = 600;

/// The contents of a change set, by their digests.
pub type Contents = BTreeMap<Digest, Vec<u8>>;

/// One run of a gate that a change set needs: on this file, or on all of them at once.
type Due<'a> = (&'a Name, &'a GateEntry, Option<&'a ProjectPath>);

/// Runs every gate that a change set needs, in the order of their names, until one does not pass.
pub fn run(
    project: &OpenProject,
    asker: &Asker<'_>,
    asked: &[Name],
    changes: &[FileChange],
    contents: &Contents,
    stop: &Stop,
) -> Result<Vec<GateRun>, Denied> {
    let due = due(asker, asked, changes);
    let mut proposed = Vec::new();
    for change in changes {
        let Some(after) = change.after else { continue };
        let content = contents.get(&after.sha256).ok_or_else(|| {
            let detail = format!("the content of `{}` is gone", change.path);
            Denied::new(Refusal::LedgerUnwritable, detail)
        })?;
        let mode = change.before.map(|before| before.mode).or(after.mode).unwrap_or(NEW_MODE);
        proposed.push(Proposed { path: &change.path, content, mode });
    }
    let unconfined = asker.brief.allow_unconfined_gates;
    due.into_iter().map(|gate| one(project, gate, &proposed, unconfined, stop)).collect()
}

/// The runs that a change set needs. A deletion is looked at only by gates that look at the whole.
fn due<'a>(asker: &Asker<'a>, asked: &[Name], changes: &'a [FileChange]) -> Vec<Due<'a>> {
    let entry = asker.agent.map(|(_, entry)| entry);
    let mut due: BTreeMap<(&Name, Option<&ProjectPath>), &GateEntry> = BTreeMap::new();
    for change in changes {
        for (name, gate) in asker.brief.gates_for(entry, &change.path, asked) {
            match gate.is_per_file() {
                true if change.is_deletion() => {}
                true => _ = due.insert((name, Some(&change.path)), gate),
                false => _ = due.insert((name, None), gate),
            }
        }
    }
    due.into_iter().map(|((name, path), gate)| (name, gate, path)).collect()
}

fn one(
    project: &OpenProject,
    (name, gate, path): Due<'_>,
    proposed: &[Proposed<'_>],
    allow_unconfined: bool,
    stop: &Stop,
) -> Result<GateRun, Denied> {
    let unavailable =
        |why: String| Denied::new(Refusal::GateUnavailable, format!("gate `{name}`: {why}"));
    let found = found(project, gate).map_err(unavailable)?;
    let needs: Vec<ProjectPath> =
        found.iter().filter(|(_, digest)| digest.is_some()).map(|(path, _)| path.clone()).collect();
    let program = program(gate, &found).map_err(unavailable)?;
    // A tree for each run: what one leaves behind is nothing to the next.
    let bench = Bench::new(&std::env::temp_dir(), project.tree(), proposed, &needs)
        .map_err(|e| unavailable(e.to_string()))?;
    // The very bytes that the gate sees.
    let files = copied(&found, bench.needs());
    let digest = gate.identity((&program.0, program.1), &files);
    let command = Command { argv: &gate.argv, timeout: gate.timeout, allow_unconfined };
    let gated = match path {
        Some(path) => bench.run(command, path, stop),
        None => bench.run_on_all(command, stop),
    };
    let gated = gated.map_err(|e| unavailable(e.to_string()))?;
    if !gated.passed() {
        return Err(Denied::new(Refusal::GateFailed, failed(name, path, &gated)));
    }
    Ok(GateRun {
        confined: match gated.confinement {
            gate::Confinement::Landlock { .. } => Confinement::Landlock,
            gate::Confinement::None => Confinement::None,
        },
        digest,
        duration_ms: u64::try_from(gated.run.spent.as_millis()).unwrap_or(u64::MAX),
        gate: name.clone(),
        path: path.cloned(),
    })
}

/// How a gate failed, with the end of what it wrote.
fn failed(name: &Name, path: Option<&ProjectPath>, gated: &Gated) -> String {
    let run = &gated.run;
    let on = path.map(|path| format!(" on `{path}`")).unwrap_or_default();
    let output = format!("{}{}", run.stdout.tail, run.stderr.tail);
    let all = output.chars().count();
    let end: String = output.chars().skip(all.saturating_sub(QUOTED)).collect();
    let ended = match run.ended {
        Ended::Exit(0) => "it left processes behind".into(),
        Ended::Exit(code) => format!("exit {code}"),
        Ended::Signal(signal) => format!("ended by signal {signal}"),
        Ended::TimedOut => "it took too long".into(),
        Ended::Stopped => "it was stopped".into(),
        Ended::NotStarted => format!("it could not be started: {}", run.detail),
    };
    let lines: Vec<String> = end
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty())
        .map(|l| Shown(l).to_string())
        .collect();
    format!("gate `{name}`{on} did not pass: {ended}: {}", lines.join(" | "))
}

/// What a gate is now: the digest of its definition, its program and the project's files that it needs.
pub fn identity(project: &OpenProject, gate: &GateEntry) -> Result<Digest, String> {
    let files = found(project, gate)?;
    let program = program(gate, &files)?;
    Ok(gate.identity((&program.0, program.1), &files))
}

/// The project's files that make up a gate. What only looks like one in its arguments may be missing.
fn found(
    project: &OpenProject,
    gate: &GateEntry,
) -> Result<Vec<(ProjectPath, Option<Digest>)>, String> {
    let digest = |path: &ProjectPath| match project.tree().read(path, MAX_NEED) {
        Ok(Found::Absent) if gate.needs.contains(path) => {
            Err(format!("`{path}`, which it needs, does not exist"))
        }
        Ok(found) => Ok(found.digest()),
        Err(e) if matches!(e.fault, TreeFault::Kind(_) | TreeFault::NotFolder) => {
            match gate.needs.contains(path) {
                true => Err(e.to_string()),
                false => Ok(None),
            }
        }
        Err(e) => Err(e.to_string()),
    };
    let files = gate.files();
    files.into_iter().map(|path| digest(&path).map(|digest| (path, digest))).collect()
}

/// As [`found`], with the digests of what was copied.
fn copied(
    found: &[(ProjectPath, Option<Digest>)],
    copies: &[Needed],
) -> Vec<(ProjectPath, Option<Digest>)> {
    let copy = |path: &ProjectPath| copies.iter().find(|copy| copy.path == *path);
    found.iter().map(|(path, _)| (path.clone(), copy(path).map(|copy| copy.digest))).collect()
}

/// The program of a gate by the path that it is found at, and the digest of its bytes. One of the project
/// is among the files.
fn program(
    gate: &GateEntry,
    files: &[(ProjectPath, Option<Digest>)],
) -> Result<(String, Digest), String> {
    let named = gate.argv.first().map(String::as_str).unwrap_or_default();
    if named.contains('/') && !named.starts_with('/') {
        let path = ProjectPath::normalise(named).map_err(|e| e.to_string())?;
        let digest = files.iter().find(|(file, _)| *file == path).and_then(|(_, digest)| *digest);
        let digest = digest.ok_or_else(|| format!("its program `{path}` does not exist"))?;
        return Ok((path.as_str().to_owned(), digest));
    }
    let argv = [OsString::from(named)];
    let found = find_program(&argv, Path::new("/"), OsStr::new(DEFAULT_PATH));
    let found = found.map_err(|e| e.to_string())?;
    // Many are links to what they are in this version.
    let real = found.canonicalize().map_err(|e| format!("`{}`: {e}", found.display()))?;
    let digest = files::digest(&real)?;
    Ok((real.display().to_string(), digest))
}
