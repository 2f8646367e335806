//! Change sets filed and decided on, with real files and a real ledger.

mod direct;
mod faults;
mod gates;
mod paths;
mod staging;
