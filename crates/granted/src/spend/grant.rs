//! What an agent has left. Reads only.

use granted_core::decision::discharge::{clock_behind, instant};
use granted_core::spend::file::FileError;
use granted_core::spend::{Address, AgentName, GrantState, Mode, Network, Sats};
use serde::Serialize;

use super::Spends;
use super::file::{Session, session, store};

/// The grant of this session, if it can still be used for anything; else why not.
pub fn grant(spends: &Spends<'_>, who: &Session) -> Result<GrantState, FileError> {
    let state = session(spends, who)?;
    let (now, head) = (spends.book.now(), spends.book.ledger.head().map_err(store)?);
    if let Some(behind) = clock_behind(now, head) {
        return Err(FileError::ClockUnavailable(behind));
    }
    match instant(now, head) >= state.grant.expires_at {
        true => Err(FileError::NoGrant(who.agent.clone())),
        false => Ok(state),
    }
}

/// A grant as its agent sees it.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// Whether it can be used.
    pub active: bool,
    /// The agent.
    pub agent: AgentName,
    /// The network.
    pub network: Network,
    /// The rest, of one that can be used.
    #[serde(flatten)]
    pub terms: Option<Terms>,
    /// What is wrong with one that cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a grant allows.
#[derive(Clone, Debug, Serialize)]
pub struct Terms {
    /// What the agent may do.
    pub mode: Mode,
    /// The only recipients, if there is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_recipients: Option<Vec<Address>>,
    /// The most that all payments may cost.
    pub budget_sat: Sats,
    /// What they took of it.
    pub spent_sat: Sats,
    /// What is left.
    pub remaining_sat: Sats,
    /// The most for one recipient at once, if there is such a cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tx_sat: Option<Sats>,
    /// The most for a fee.
    pub max_fee_sat: Sats,
    /// How many payments drew on it.
    pub tx_count: u64,
    /// When it ends, in seconds since 1970.
    pub expires_at: i64,
}

impl Terms {
    /// What this grant allows now.
    pub fn of(state: &GrantState) -> Terms {
        Terms {
            mode: state.mode,
            allowed_recipients: state.recipients.clone(),
            budget_sat: state.grant.budget_sat,
            spent_sat: state.spent(),
            remaining_sat: state.remaining(),
            max_tx_sat: state.grant.max_tx_sat,
            max_fee_sat: state.grant.max_fee_sat,
            tx_count: state.tx_count(),
            expires_at: state.grant.expires_at.micros().div_euclid(1_000_000),
        }
    }
}

/// The session's grant as the agent sees it. An error says that this cannot be said.
pub fn view(spends: &Spends<'_>, who: &Session) -> Result<View, FileError> {
    let (terms, message) = match grant(spends, who) {
        Ok(state) => (Some(Terms::of(&state)), None),
        Err(FileError::NoGrant(_) | FileError::Unauthorized(_)) => {
            let agent = &who.agent;
            let message = format!(
                "the grant was revoked, issued anew or has expired: a human issues one with \
                 `sats agent grant {agent} --budget <sats>`"
            );
            (None, Some(message))
        }
        Err(e) => return Err(e),
    };
    Ok(View {
        active: terms.is_some(),
        agent: who.agent.clone(),
        network: spends.network,
        terms,
        message,
    })
}
