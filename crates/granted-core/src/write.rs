//! Writes: what agents may change in a project, staged for a person or applied at once under a direct
//! grant that a person signed.

pub mod agent;
pub mod brief;
pub mod claim;
pub mod decide;
pub mod direct;
pub mod dispatch;
pub mod event;
pub mod open;
pub mod path;
pub mod pattern;
pub mod project;
pub mod refusal;
pub mod request;
pub mod secret;

pub use agent::Agent;
pub use brief::Brief;
pub use claim::{Claim, Permit, Side};
pub use direct::{DirectGrant, DirectRecord};
pub use event::{After, Before, FileChange, GateRun};
pub use path::ProjectPath;
pub use project::Project;
pub use refusal::Refusal;
pub use request::{RequestState, Status};
