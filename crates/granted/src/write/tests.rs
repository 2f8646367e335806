//! Change sets filed and decided on, with real files and a real ledger.

mod paths;
mod staging;
