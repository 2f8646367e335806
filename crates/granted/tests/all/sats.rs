//! The wallet, on a real chain.

mod agent;
mod faults;
mod files;
mod held;
mod init;
mod person;
mod psbt;
mod secrets;
mod story;

pub use person::{PASSWORD, Person};
