//! What must hold whatever bytes come. The fuzzer looks for bytes for which it does not; a test of
//! `granted` runs the same over the corpora, so this file is part of that test too.

pub mod arguments;
pub mod brief;
pub mod config;
pub mod decisions;
pub mod direct;
pub mod dispatch;
pub mod frames;
pub mod grant;
pub mod index;
pub mod json;
pub mod lag;
pub mod ledger;
pub mod note;
pub mod proof;
pub mod row;
pub mod spend;
pub mod text;
pub mod trust;
pub mod verify;
