//! Runs the commands that a claim permits, and says exactly how they ended.
//!
//! A [`Program`] is prepared before the claim, so that a missing one refuses and spends nothing.
//! [`run`] takes the claim by type, so that nothing reaches a program without it. It starts the
//! program in a session of its own by `posix_spawn` (never by a copy of this process), drains its
//! output, stops it at the deadline or when told to, and reaps it. The files of the program are
//! not sealed: its digest is evidence of what was there, not a promise about what ran.
//!
//! Linux 5.3 or later.
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

mod boot;
mod echo;
mod program;
mod run;
mod spawn;
mod stop;

pub use echo::Echo;
pub use program::{Definition, Missing, Program, Why};
pub use run::{Limits, Run, confirm, run};
pub use stop::Stop;
