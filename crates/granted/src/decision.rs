//! The verbs of decisions: each a pipeline that gathers facts, folds, decides, appends and acts.

pub mod actor;
pub mod asker;
pub mod discharge;
pub mod gather;
pub mod list;
pub mod mint;
pub mod resolve;
pub mod revoke;
pub(crate) mod settle;
pub mod status;
pub mod tick;
pub mod trust;

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod model;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
pub(crate) mod stage;
