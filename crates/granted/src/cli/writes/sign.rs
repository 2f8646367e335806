//! `granted writes sign`

use std::path::{Path, PathBuf};

use granted_core::id::Id;
use granted_core::text::for_shell;
use granted_core::trust::{KeyId, Purpose, Statement, Trust};
use granted_core::write::direct::{MAX_ACTIVE, signed_values};
use granted_core::write::{Agent, DirectGrant, DirectRecord};
use serde::Serialize;

use super::super::agree::agree;
use super::super::args::person_book;
use super::super::elsewhere;
use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use super::super::sign_with::{SignWith, signer};
use super::ProjectArgs;
use crate::book::Book;
use crate::decision::gather::trust;
use crate::keys;
use crate::render;
use crate::write::direct::grants_file_for;
use crate::write::project::OpenProject;
use crate::write::sign::{Asked, decide, sign};

/// Sign a direct grant: for a time and so many files, an agent's changes land without your approval.
///
/// The brief must ask for it, and a gate must look at all of each write scope that is not one file. The
/// grant binds the scopes, the tools, each gate with its files, and this program: if one of them changes,
/// it is void. Deletions always wait for you. It takes the place of the agent's earlier grant.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent, as the brief names it.
    #[arg(value_name = "AGENT")]
    agent: Agent,
    #[command(flatten)]
    project: ProjectArgs,
    /// The key that signs: the name of a key file, ssh, ssh:PUB with a public key file, or the id of a
    /// trusted key; default: the only key file that is trusted.
    #[arg(long, value_name = "ID")]
    key: Option<SignWith>,
    /// For how many days: 1 to 30.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=30))]
    days: u32,
    /// For how many files: 1 to 500.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=500))]
    max_writes: u64,
    /// Sign nothing: write what is to be signed into this new file.
    #[arg(long, value_name = "FILE")]
    unsigned_out: Option<PathBuf>,
    /// The signature FILE.sig of the FILE that --unsigned-out wrote, which lies beside it.
    #[arg(long, value_name = "FILE.sig", conflicts_with_all = ["key", "days", "max_writes", "unsigned_out"])]
    signature: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes sign producer --project ~/site --key ada
  granted writes sign producer --key 71ab0c5df2a94e63 --unsigned-out grant
      ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n granted.direct-write.v1 grant
      granted writes sign producer --signature grant.sig";

#[derive(Serialize)]
struct SignedJson<'a> {
    file: &'a Path,
    grant: &'a DirectGrant,
    replaced: &'a [Id],
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes sign", out)?;
    let project = args.project.open()?;
    let record = match &args.signature {
        Some(signature) => {
            let record = read_signed(signature)?;
            if record.grant.agent != args.agent {
                let message = format!("it is a direct grant for agent `{}`", record.grant.agent);
                return Err(Failure::input(message));
            }
            record
        }
        None => {
            let trust = trust(&book)?;
            let asked = Asked { agent: args.agent, days: args.days, max_writes: args.max_writes };
            if let Some(path) = &args.unsigned_out {
                let key = key_id(&book, args.key.as_ref(), &trust)?;
                let grant = decide(&book, &project, asked, key)?;
                return write_unsigned(&grant, path, out);
            }
            let with = args.key.map(|key| key_file_of(&book, key));
            let mut signer = signer(&book, with.as_ref(), &trust).map_err(by_key)?;
            let grant = decide(&book, &project, asked, signer.key().id())?;
            let statement = signed_values(&grant);
            agree(std::slice::from_ref(&statement))?;
            DirectRecord { signature: signer.sign(&statement)?, grant }
        }
    };
    put_in_force(&book, &project, &record, out)
}

fn put_in_force(
    book: &Book,
    project: &OpenProject,
    record: &DirectRecord,
    out: &Out,
) -> Result<u8, Failure> {
    let in_force = sign(book, project, record)?;
    let (grant, file) = (&record.grant, grants_file_for(book.home(), project.name()));
    if out.is_json() {
        out.value(&SignedJson { file: &file, grant, replaced: &in_force.replaced });
    } else {
        out.line(grant.grant_id);
        out.remark(format_args!(
            "agent `{}` may write {} files directly until {}",
            grant.agent,
            grant.max_writes,
            render::time(grant.expires, book.now())
        ));
        for id in &in_force.replaced {
            out.remark(format_args!("it takes the place of {id}"));
        }
        out.remark("note: a server that runs already takes it up when it is started anew");
    }
    if in_force.open > MAX_ACTIVE {
        out.remark(format_args!(
            "note: {} direct grants are open here and {MAX_ACTIVE} may be, so none is honoured",
            in_force.open
        ));
    }
    Ok(0)
}

/// The key file that has the key of this id, if that is what was named.
fn key_file_of(book: &Book, with: SignWith) -> SignWith {
    let SignWith::Name(name) = &with else { return with };
    let Ok(id) = name.to_string().parse::<KeyId>() else { return with };
    let names = keys::names(book.home()).unwrap_or_default();
    let has_it = |name: &keys::KeyName| {
        let stored = keys::read(book.home(), name).ok();
        stored.and_then(|stored| stored.public).is_some_and(|key| key.id() == id)
    };
    match names.into_iter().find(has_it) {
        Some(name) => SignWith::Name(name),
        None => with,
    }
}

/// The id of the key that is to sign elsewhere: a trusted one, by its id or by what the book calls it.
fn key_id(book: &Book, with: Option<&SignWith>, trust: &Trust) -> Result<KeyId, Failure> {
    if let Some(SignWith::Name(name)) = with {
        let called = trust.keys().iter().find(|trusted| {
            trusted.name == *name.name() || trusted.key.id().to_string() == name.to_string()
        });
        if let Some(trusted) = called {
            return Ok(trusted.key.id());
        }
    }
    Ok(signer(book, with, trust).map_err(by_key)?.key().id())
}

/// The advice of [`signer`], which other verbs give too, with the name that the option has here.
fn by_key(failure: Failure) -> Failure {
    Failure { hint: failure.hint.map(|hint| hint.replace("--sign-with", "--key")), ..failure }
}

fn write_unsigned(grant: &DirectGrant, path: &Path, out: &Out) -> Result<u8, Failure> {
    let (agent, project) = (&grant.agent, for_shell(grant.project.as_str()));
    let shown = path.display();
    let then =
        format_args!("granted writes sign {agent} --project {project} --signature {shown}.sig");
    elsewhere::write_unsigned(
        (&signed_values(grant), Purpose::DirectWrite),
        path,
        "signed",
        then,
        out,
    )
}

/// Reads a signature, and the grant beside it that [`write_unsigned`] wrote.
fn read_signed(signature: &Path) -> Result<DirectRecord, Failure> {
    if signature.extension().is_none_or(|ending| ending != "sig") {
        let message = format!("`{}`: the name of a signature ends in .sig", signature.display());
        return Err(Failure::new(Kind::Input, message));
    }
    let unsigned = signature.with_extension("");
    let (grant, signature) =
        elsewhere::read_signed(&unsigned, signature, Statement::read_direct, "writes sign")?;
    Ok(DirectRecord { grant, signature })
}
