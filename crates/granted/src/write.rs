//! Writes: filing change sets, and the person's word on them. Each verb is a pipeline that gathers facts,
//! folds, decides, appends and acts.

pub mod apply;
pub mod approve;
pub mod check;
pub mod checked;
pub mod direct;
pub mod dispatch;
pub mod expire;
pub mod file;
pub mod gates;
pub mod gather;
pub mod grants;
pub mod list;
pub mod loaded;
pub mod project;
pub mod read;
pub mod recover;
pub mod reject;
pub mod revert;
pub mod show;
pub mod sign;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make and look at files as anybody may")]
pub(crate) mod ground;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make and look at files as anybody may")]
mod tests;
