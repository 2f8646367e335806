//! Acts under way.
