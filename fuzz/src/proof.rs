//! A proof of a row, or that one tree goes on from another, holds as it was made, and no other does.

use std::convert::Infallible;

use granted_core::digest::Digest;
use granted_core::ledger::tree::{
    Nodes, consistency, inclusion, leaf, root, verify_consistency, verify_inclusion,
};

/// A tree whose leaves are all different.
struct Numbers;

impl Nodes for Numbers {
    type Error = Infallible;

    fn leaf(&mut self, index: u64) -> Result<Digest, Infallible> {
        Ok(leaf(&index.to_be_bytes()))
    }
}

fn root_of(size: u64) -> Digest {
    let Ok(root) = root(size, &mut Numbers);
    root
}

/// The first two bytes say how many leaves there are, and which one it is about; each two behind them are
/// one change.
pub fn run(bytes: &[u8]) {
    let [size, at, changes @ ..] = bytes else { return };
    let size = 1 + u64::from(*size);
    let at = u64::from(*at) % size;
    let (all, hash) = (root_of(size), leaf(&at.to_be_bytes()));
    let Ok(proof) = inclusion(at, size, &mut Numbers);
    assert!(verify_inclusion(hash, at, size, &proof, all));
    let (other, index, claimed) = changed(&proof, at, size, changes);
    let holds = verify_inclusion(hash, index, claimed, &other, all);
    // The hashes do not tell how many leaves there are right of the path: that the checkpoint says.
    assert!(claimed != size || holds == ((index, &other) == (at, &proof)));

    let old = at + 1;
    let Ok(proof) = consistency(old, size, &mut Numbers);
    let (before, after) = ((old, root_of(old)), (size, all));
    assert!(verify_consistency(before, after, &proof));
    let (other, index, claimed) = changed(&proof, at, size, changes);
    let holds = verify_consistency((index.wrapping_add(1), before.1), (claimed, all), &other);
    assert!((index, claimed) != (at, size) || holds == (other == proof));
}

/// A proof with changes, and what is claimed of it.
fn changed(proof: &[Digest], index: u64, size: u64, changes: &[u8]) -> (Vec<Digest>, u64, u64) {
    let (mut proof, mut index, mut size) = (proof.to_vec(), index, size);
    for [how, by] in changes.as_chunks::<2>().0 {
        let place = usize::from(*by) % (proof.len() + 1);
        let there = proof.get(place).copied();
        match (how % 6, there) {
            (0, _) => index = index.wrapping_add(u64::from(*by)),
            (1, _) => size = size.wrapping_sub(u64::from(*by)),
            (2, Some(hash)) => proof.insert(place, hash),
            (3, Some(_)) => drop(proof.remove(place)),
            (4, Some(_)) => proof.rotate_left(place),
            (5, Some(_)) => proof[place].0[usize::from(*how) % 32] ^= by | 1,
            _ => proof.push(leaf(&u64::from(*by).to_be_bytes())),
        }
    }
    (proof, index, size)
}
