//! `granted --version`

use std::env::consts::{ARCH, OS};

use granted_core::decision::Kind;
use granted_core::ledger::row;
use granted_store::RUN_FORMAT;
use serde::Serialize;

use super::out::Out;
use crate::mcp::PROTOCOLS;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize)]
struct VersionJson {
    version: &'static str,
    commit: Option<&'static str>,
    target: String,
    r#static: bool,
    formats: Formats,
}

/// What this program reads and writes.
#[derive(Serialize)]
struct Formats {
    rows: u64,
    grants: Kind,
    index: &'static str,
    mcp: Vec<&'static str>,
}

/// Prints the version; the exit code.
pub(super) fn show(verbose: bool, out: &Out) -> u8 {
    if !verbose && !out.is_json() {
        out.line(format_args!("{} {VERSION}", out.program()));
        return 0;
    }
    let about = about();
    if out.is_json() {
        out.value(&about);
        return 0;
    }
    let VersionJson { version, commit, target, r#static, formats } = about;
    out.line(format_args!("{} {version}", out.program()));
    out.line(format_args!("commit  {}", commit.unwrap_or("was not recorded")));
    out.line(format_args!("target  {target}"));
    out.line(format_args!("linked  {}", if r#static { "statically" } else { "dynamically" }));
    out.line(format_args!("rows    {}", formats.rows));
    out.line(format_args!("grants  {}", formats.grants));
    out.line(format_args!("index   {}", formats.index));
    out.line(format_args!("mcp     {}", formats.mcp.join(" ")));
    0
}

fn about() -> VersionJson {
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    VersionJson {
        version: VERSION,
        // Given by scripts/build.
        commit: option_env!("GRANTED_COMMIT"),
        target: format!("{ARCH}-{OS}-{libc}"),
        r#static: cfg!(target_feature = "crt-static"),
        formats: Formats {
            rows: row::VERSION,
            grants: Kind::V1,
            index: RUN_FORMAT,
            mcp: PROTOCOLS.iter().map(|version| version.as_str()).collect(),
        },
    }
}
