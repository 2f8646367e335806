//! What whoever asks could change although every rule holds, and what would show it.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use serde::Serialize;

use granted_core::trust::{Mode, Trust};

use crate::home::Home;
use crate::ledger::checkpoint::KEY;

/// Something that whoever asks could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Remains {
    /// What.
    pub(crate) could: &'static str,
    /// What would show it.
    pub(crate) shown_by: &'static str,
}

/// What this user could do to this home, these programs and these witnesses.
pub(super) fn of(
    home: &Home,
    programs: &[PathBuf],
    witnesses: &[PathBuf],
    trust: &Trust,
) -> Vec<Remains> {
    let signed = trust.mode == Mode::Signed;
    let ledger = may_write(home.ledger());
    let index = home.ledger().with_file_name("index");
    let config = may_write(&home.config()) || may_write(home.root());
    let could = [
        (
            ledger && !trust.has_begun(),
            "mint, revoke, resolve or accept in the person's name, and trust a key of your own",
            "a row that looks like the person's, for whoever reads `granted ledger`; `granted trust`",
        ),
        (
            ledger && trust.has_begun() && !signed,
            "mint or revoke in the person's name, or untrust a key",
            "a row that looks like the person's, for whoever reads `granted ledger`",
        ),
        (
            ledger && signed,
            "revoke a grant or untrust a key in the person's name",
            "a row that looks like the person's; that stops grants and widens none",
        ),
        (ledger, "change, drop or insert rows", "`granted ledger verify`"),
        (
            ledger,
            "cut off the newest rows, or write the whole ledger anew",
            "a witness, or a checkpoint kept elsewhere; and the index as far as it goes",
        ),
        (
            may(home.ledger().with_file_name(KEY), Access::READ_OK),
            "sign a checkpoint in the book's name",
            "a checkpoint that was kept elsewhere before",
        ),
        (
            witnesses.iter().any(|witness| may_write(witness)),
            "delete a witness, or put an older checkpoint there",
            "a line on stderr where it is gone; nothing where it is older",
        ),
        (
            may_write(&index) || may_write(home.root()),
            "delete the index",
            "nothing, and then only what is kept elsewhere shows a ledger that was cut back",
        ),
        (
            may_write(home.documents()),
            "change, delete or put back the grants' documents",
            "`granted status`; that stops grants and widens none",
        ),
        (
            config,
            "register an executor, or change one",
            "`granted executors`, and its digest in each claim",
        ),
        (
            programs.iter().any(|program| may_write(program)),
            "change a program that an executor or the notifier runs",
            "an executor's digest in each claim, beside that in earlier ones",
        ),
    ];
    let could = could.into_iter().filter(|(can, ..)| *can);
    could.map(|(_, could, shown_by)| Remains { could, shown_by }).collect()
}

/// Whether whoever asks may write there.
fn may_write(path: &Path) -> bool {
    may(path, Access::WRITE_OK)
}

fn may(path: impl AsRef<Path>, what: Access) -> bool {
    accessat(CWD, path.as_ref(), what, AtFlags::EACCESS).is_ok()
}
