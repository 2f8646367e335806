//! The ledger: rows, the chain that they form, and what an append is.

pub mod audit;
pub mod checkpoint;
pub mod event;
pub mod note;
pub mod row;
pub mod seal;
pub mod subject;
pub mod tree;

pub use audit::{Audit, Fault};
pub use event::Event;
pub use row::{By, Door, Head, Row, RowError};
pub use seal::{Draft, Line, SealError, seal};
pub use subject::Subject;
