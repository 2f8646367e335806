//! Writes: files of a project, changed by an agent inside its scopes.

pub mod path;
