//! The agent's door, by a client that says exactly what it is told to.

mod acting;
mod arguments;
mod document;
mod frames;
mod speaking;
