//! `granted writes setup`

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use granted_core::write::Agent;
use granted_store::open;
use serde::Serialize;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::ProjectArgs;
use super::request::unnamed;
use crate::hosts::{Host, Planned, Wiring};

/// Show or write the config of an agent's host: the server of writes, and its own edit tools denied.
///
/// The host is the program that the agent runs in. Its config files are merged: what is there stays.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// claude-code, codex or goose.
    #[arg(value_name = "HOST")]
    host: Host,
    /// The agent, as the brief names it.
    #[arg(long, value_name = "NAME")]
    agent: Agent,
    #[command(flatten)]
    project: ProjectArgs,
    /// Write the files instead of showing them.
    #[arg(long)]
    write: bool,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes setup claude-code --agent producer
  granted writes setup codex --agent producer --project ~/site --write";

#[derive(Serialize)]
struct FileJson<'a> {
    changed: bool,
    content: &'a str,
    path: &'a Path,
    written: bool,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes setup", out)?;
    let project = args.project.open()?;
    let brief = project.brief()?.brief;
    if !brief.agents.contains_key(&args.agent) {
        return Err(unnamed(&project, &brief, &args.agent));
    }
    let wiring = Wiring::new(book.home(), project.name(), &args.agent).map_err(Failure::system)?;
    let plan = args.host.plan(project.name(), &wiring).map_err(Failure::input)?;
    for planned in &plan {
        let written = args.write && !planned.is_done();
        if written {
            write(planned).map_err(|e| Failure::at(&planned.path, &e))?;
        }
        show(planned, args.write, written, out);
    }
    if !out.is_json() {
        for remark in args.host.remarks() {
            out.remark(format_args!("note: {remark}"));
        }
    }
    Ok(0)
}

fn show(planned: &Planned, write: bool, written: bool, out: &Out) {
    let Planned { path, after, .. } = planned;
    if out.is_json() {
        let changed = !planned.is_done();
        return out.value(&FileJson { changed, content: after, path, written });
    }
    let path = path.display();
    match (write, written) {
        (true, true) => out.line(format_args!("{path}: written")),
        (true, false) => out.line(format_args!("{path}: as it is to be already")),
        (false, _) => {
            out.line(format_args!("# {path}"));
            out.line(after.trim_end());
        }
    }
}

/// Writes a file whole, with the permissions that it had.
fn write(planned: &Planned) -> std::io::Result<()> {
    let Planned { path, before, after } = planned;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    open::make_folder(folder).map_err(std::io::Error::other)?;
    let mode = match before {
        Some(_) => std::fs::metadata(path)?.permissions(),
        None => Permissions::from_mode(0o644),
    };
    open::replace(folder, name, |file| {
        file.get_ref().set_permissions(mode)?;
        file.write_all(after.as_bytes())
    })
}
