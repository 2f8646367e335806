//! Spends: a budget to propose payments with, requests that a person approves, and a signer that is
//! reached once for each.

pub mod agent;
pub mod amount;
pub mod chain;
pub mod intent;
pub mod network;
pub mod request;

pub use agent::{AgentName, IdempotencyKey};
pub use amount::Sats;
pub use intent::IntentDigest;
pub use network::Network;
pub use request::RequestId;
