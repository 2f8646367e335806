//! Whatever is typed, it is parsed or answered with a text, and nothing is done.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// The arguments, with a line feed between two of them.
pub fn run(bytes: &[u8]) {
    let typed = bytes.split(|byte| *byte == b'\n').map(|arg| OsString::from_vec(arg.to_vec()));
    let args = std::iter::once("granted".into()).chain(typed);
    match granted::cli::command().try_get_matches_from(args) {
        Ok(matches) => assert!(matches.subcommand_name().is_some()),
        Err(error) => assert!(!error.to_string().trim().is_empty()),
    }
}
