//! What a request asks for, as one digest: the same for the same payment, whatever the key and grant.

use serde::{Deserialize, Serialize};

use super::agent::Address;
use super::{AgentName, Network, Sats};
use crate::digest::Digest;

/// The digest of a payment that an agent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentDigest(Digest);

impl IntentDigest {
    /// The digest of this payment.
    pub fn new(
        network: Network,
        agent: &AgentName,
        recipient: &Address,
        amount: Sats,
    ) -> IntentDigest {
        IntentDigest::of(network.as_str(), agent.as_str(), recipient.as_str(), amount.to_u64())
    }

    fn of(network: &str, agent: &str, recipient: &str, amount: u64) -> IntentDigest {
        let mut bytes = b"sats-intent-v1".to_vec();
        for text in ["send", network, agent, recipient] {
            let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
            bytes.extend(length.to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(amount.to_le_bytes());
        IntentDigest(Digest::of(&bytes))
    }

    /// The digest's bytes.
    pub fn digest(self) -> Digest {
        self.0
    }
}

impl std::fmt::Display for IntentDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_their_vectors() {
        for (agent, recipient, amount, digest) in [
            (
                "claude",
                "tb1pexampleaddress0000",
                25_000,
                "5e3a281c87ab8ab420d304157ebff535c024a30869a7d25abdec3ff60f93198f",
            ),
            ("ab", "c", 1, "39dfcf35494e9dd971520d6d68bb5fd3b135f301f517be127dd445caeffbbe65"),
            ("a", "bc", 1, "ebbc5013b0f72e5ece1c62d468821256923f2300f4abac1d30bc9a8af99b963b"),
        ] {
            let amount = Sats::new(amount).unwrap();
            let (agent, recipient) = (agent.parse().unwrap(), recipient.parse().unwrap());
            let made = IntentDigest::new(Network::Signet, &agent, &recipient, amount);
            assert_eq!(made.to_string(), digest);
        }
    }
}
