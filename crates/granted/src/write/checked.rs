//! The one body of checks, whether a change set is filed, approved or taken back.

use std::collections::BTreeSet;

use granted_core::write::decide::{Asker, Denied, Filing, check, check_path};
use granted_core::write::{Before, FileChange, GateRun, ProjectPath, Refusal};
use granted_exec::Stop;
use granted_exec::tree::{Found, TreeError, TreeFault};

use super::gates::{self, Contents};
use super::project::OpenProject;
use super::read::readable;

/// A change set that passed every check, as the files and the gates are now.
#[derive(Debug)]
pub struct Checked {
    /// The files.
    pub changes: Vec<FileChange>,
    /// The folders on the way to them that are missing.
    pub folders: Vec<ProjectPath>,
    /// The gates that passed.
    pub gates: Vec<GateRun>,
    /// What the files hold that are replaced or deleted.
    pub before: Contents,
}

/// Checks a change set: the rules and the files, the gates, and the rules and the files again, since a
/// gate may take long. `contents` are what the files are to hold.
pub fn checked(
    project: &OpenProject,
    asker: &Asker<'_>,
    filing: &Filing,
    contents: &Contents,
    stop: &Stop,
) -> Result<Checked, Denied> {
    let (first, _) = look(project, asker, filing)?;
    let gates = gates::run(project, asker, &filing.gates, &first, contents, stop)?;
    let (changes, before) = look(project, asker, filing)?;
    if changes != first {
        return Err(Denied::new(Refusal::StaleBase, "a file changed while the gates ran"));
    }
    let paths: BTreeSet<&ProjectPath> = changes.iter().map(|change| &change.path).collect();
    let folders = project.tree().missing_folders(paths).map_err(|e| bad_path(&e))?;
    Ok(Checked { changes, folders, gates, before })
}

/// The files as they are now, by the rules.
fn look(
    project: &OpenProject,
    asker: &Asker<'_>,
    filing: &Filing,
) -> Result<(Vec<FileChange>, Contents), Denied> {
    // Nothing outside the scopes is looked at.
    for change in &filing.changes {
        check_path(asker, &change.path)?;
    }
    let limit = usize::try_from(asker.brief.caps.file_bytes).unwrap_or(usize::MAX);
    let (mut found, mut contents) = (Vec::new(), Contents::new());
    let mut unreadable = BTreeSet::new();
    for change in &filing.changes {
        let place = project.tree().resolve(&change.path).map_err(|e| bad_path(&e))?;
        if place.path != change.path {
            let detail = format!("`{}` leads to `{}` now", change.path, place.path);
            return Err(Denied::new(Refusal::BadPath, detail));
        }
        found.push(match project.tree().read(&change.path, limit).map_err(|e| bad_path(&e))? {
            Found::Absent => None,
            Found::File(content) => {
                if readable(&change.path, content.links).is_err() {
                    unreadable.insert(&change.path);
                }
                let bytes = u64::try_from(content.bytes.len()).unwrap_or(u64::MAX);
                let before = Before { bytes, mode: content.mode, sha256: content.digest };
                contents.insert(content.digest, content.bytes);
                Some(before)
            }
        });
    }
    let changes = check(asker, filing, &found).map_err(|denied| match &denied.stale {
        // A digest tells of a content that can be guessed.
        Some(stale) if asker.agent.is_some() && unreadable.contains(&stale.0) => {
            let why = "is not what the change is based on, and agents do not read it";
            Denied::new(denied.reason, format!("`{}` {why}", stale.0))
        }
        _ => denied,
    })?;
    Ok((changes, contents))
}

/// The refusal of a path that cannot be reached or read.
pub fn bad_path(error: &TreeError) -> Denied {
    let reason = match error.fault {
        TreeFault::Large(_) => Refusal::TooLarge,
        _ => Refusal::BadPath,
    };
    Denied::new(reason, error.to_string())
}
