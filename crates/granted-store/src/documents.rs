//! The grant documents.
