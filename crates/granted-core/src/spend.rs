//! Spends: a budget to propose payments with, requests that a person approves, and a signer that is
//! reached once for each.

pub mod agent;
pub mod amount;
pub mod approve;
pub mod chain;
pub mod change;
pub mod claim;
pub mod document;
pub mod event;
pub mod file;
pub mod fold;
pub mod grant;
pub mod intent;
pub mod ladder;
pub mod network;
pub mod overview;
pub mod reply;
pub mod request;
pub mod settle;
pub mod token;

pub use agent::{Address, AgentName, IdempotencyKey, Txid};
pub use amount::Sats;
pub use fold::{AgentState, Draw, GrantState, Request, State};
pub use grant::{GrantId, Mode, SpendGrant};
pub use intent::IntentDigest;
pub use ladder::{Deny, Verdict, ladder};
pub use network::Network;
pub use request::RequestId;
pub use token::Token;
