//! What a provider says of fees, held to what can be.

use bdk_wallet::bitcoin::FeeRate;

use super::{Provider, ProviderError, trouble};

/// The most that is ever paid, in sat/vB.
pub const MAX_RATE: u64 = 10_000;

/// The fee rate for a confirmation within so many blocks: whole sat/vB, rounded up, at least one.
pub fn rate(provider: &dyn Provider, target: u16) -> Result<FeeRate, ProviderError> {
    let told = provider.fee(target)?;
    whole(told).ok_or_else(|| trouble(provider.origin(), "names a fee rate that cannot be"))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its range is checked")]
fn whole(told: f64) -> Option<FeeRate> {
    let can_be = told.is_finite() && (0.0..=10_000.0).contains(&told);
    can_be.then(|| (told.ceil() as u64).max(1)).and_then(FeeRate::from_sat_per_vb)
}

/// Of the estimates by blocks: that of the largest target which is no later than asked for, else of the
/// smallest one.
pub(super) fn choose(estimates: impl IntoIterator<Item = (u16, f64)>, target: u16) -> Option<f64> {
    let mut estimates: Vec<(u16, f64)> = estimates.into_iter().collect();
    estimates.sort_by_key(|(blocks, _)| *blocks);
    let soon_enough = estimates.iter().rev().find(|(blocks, _)| *blocks <= target);
    soon_enough.or(estimates.first()).map(|(_, rate)| *rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_estimate_that_is_soon_enough() {
        let listed = [(1, 30.0), (3, 20.0), (6, 10.0)];
        for (target, rate) in [(1, 30.0), (2, 30.0), (3, 20.0), (5, 20.0), (1_008, 10.0)] {
            assert_eq!(choose(listed, target), Some(rate), "{target}");
        }
        assert_eq!(choose([(4, 5.0), (9, 1.0)], 2), Some(5.0));
        assert_eq!(choose([], 2), None);
    }

    #[test]
    fn a_rate_is_whole_and_can_be() {
        let of = |told| whole(told).map(FeeRate::to_sat_per_vb_ceil);
        for (told, rate) in [(0.0, 1), (0.4, 1), (1.0, 1), (1.01, 2), (10_000.0, 10_000)] {
            assert_eq!(of(told), Some(rate), "{told}");
        }
        for told in [-0.1, 10_000.1, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(of(told), None, "{told}");
        }
    }
}
