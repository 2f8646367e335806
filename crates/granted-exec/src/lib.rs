//! Runs the commands that a claim permits, changes files, and says exactly how that ended.
//!
//! A [`Program`] is prepared before the claim, so that a missing one refuses and spends nothing.
//! [`run`] takes the claim by type, so that nothing reaches a program without it. It starts the
//! program in a session of its own by `posix_spawn` (never by a copy of this process), drains its
//! output, stops it at the deadline or when told to, and reaps it. A program runs from its path, and its
//! digest is evidence of what was there; a [`Program::sealed`] one runs from a copy that nobody can
//! change, and its identity says what ran. Its further files are never sealed.
//!
//! A [`Notifier`] needs no claim, since it carries no authority: it is a program of its own that tells
//! a person something, and no [`Program`] can be run as one.
//!
//! A project's files are reached through a [`tree::Tree`] and changed by [`apply::apply`], all of a
//! change set or nothing. A [`gate`] is a program that looks at proposed files before that; it gets a
//! copy of them, and is confined.
//!
//! In scope: finding, hashing, starting, draining, stopping and reaping a program; reading and
//! replacing files. Not in scope: whether any of that may be done, which `granted-core` decides, and
//! what its end means for the grant. An executor is not confined in any way. Linux 5.3 or later; 5.6
//! for a project's files.
//!
//! ```
//! use std::time::Duration;
//! use granted_core::decision::Ended;
//! use granted_exec::{Definition, Limits, Program, Stop, run};
//!
//! # use std::sync::Arc;
//! # use granted_core::decision::discharge::{Decision, Executor, Facts, Request, decide};
//! # use granted_core::decision::{GrantState, document::Standing, status::Candidate};
//! # use granted_core::store::Ledger;
//! # use granted_testkit::{FixedClock, MemoryLedger, sample};
//! # let ledger = MemoryLedger::new(Arc::new(FixedClock::default()));
//! # ledger.append(&[sample::opened()])?;
//! # ledger.append(&[sample::minted(7, 0)])?;
//! # let rows = ledger.rows(&sample::grant_subject(7))?;
//! # let state = GrantState::fold(&rows).ok_or("it was minted")?;
//! # let facts = Facts {
//! #     now: sample::now(),
//! #     head: ledger.head()?,
//! #     candidates: vec![Candidate { state, standing: Standing::Agrees }],
//! #     pending: vec![],
//! #     trust: granted_core::trust::Trust::default(),
//! #     drift: vec![],
//! #     executor: Executor::Ready { digest: None, types: vec![], actions: vec![] },
//! #     sealed: None,
//! #     discharge: sample::id(100),
//! #     act: "0123456789abcdef0123456789abcdef".into(),
//! #     token_sha256: granted_core::digest::Digest::of(b"token"),
//! #     by: sample::by(),
//! # };
//! # let request = Request::new("report", "7", "greet")?.action("send")?;
//! # let Decision::Permit(permit) = decide(&request, &facts) else { panic!("it may") };
//! let program = Program::prepare(Definition {
//!     name: "greet".parse()?,
//!     argv: vec!["sh".into(), "-c".into(), "echo hello $WHOM".into()],
//!     cwd: "/".into(),
//!     path: "/usr/bin:/bin".into(),
//!     env: vec![("WHOM".into(), "world".into())],
//!     asks: vec![],
//!     files: vec![],
//!     confirm: None,
//! })?;
//! let claim = permit.claim(&ledger)?; // what `granted_core::decision` permitted
//! let limits = Limits { timeout: Duration::from_secs(60) };
//! let (acted, run) = run(claim, &program, &[], limits, &Stop::new()?, None);
//! assert_eq!(run.ended, Ended::Exit(0));
//! assert_eq!(&*run.stdout.tail, "hello world\n");
//! # drop(acted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without a claim nothing runs:
//!
//! ```compile_fail
//! fn without_a_claim(program: &granted_exec::Program, stop: &granted_exec::Stop) {
//!     let limits = granted_exec::Limits { timeout: std::time::Duration::from_secs(1) };
//!     granted_exec::run(program, &[], limits, stop, None);
//! }
//! ```
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod apply;
mod ask;
mod boot;
mod echo;
pub mod gate;
mod notifier;
mod program;
mod run;
mod spawn;
mod stop;
pub mod tree;

pub use ask::{Answer, ask, hand};
pub use echo::Echo;
pub use notifier::Notifier;
pub use program::find::program as find_program;
pub use program::{Definition, Missing, Program, Why};
pub use run::{Limits, Run, confirm, run};
pub use stop::Stop;
