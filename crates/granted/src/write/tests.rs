//! Change sets filed and decided on, with real files and a real ledger.

mod faults;
mod gates;
mod paths;
mod staging;
