//! The Merkle tree of RFC 6962 over the rows of a ledger.
//!
//! The data of a leaf is the digest of a row's line, so whoever has the digests of the rows has the
//! tree. A root stands for every row before it; a proof of few digests shows that a row is among
//! them, or that one root goes on from another.
//!
//! ```
//! use granted_core::digest::Digest;
//! use granted_core::ledger::tree::{Nodes, inclusion, leaf, node, root, verify_inclusion};
//!
//! struct Rows(Vec<Digest>);
//!
//! impl Nodes for Rows {
//!     type Error = &'static str;
//!     fn leaf(&mut self, index: u64) -> Result<Digest, &'static str> {
//!         let row = usize::try_from(index).ok().and_then(|index| self.0.get(index));
//!         row.map(|digest| leaf(&digest.0)).ok_or("there is no such row")
//!     }
//! }
//!
//! let lines: [&[u8]; 3] = [b"one", b"two", b"three"];
//! let mut rows = Rows(lines.iter().map(|line| Digest::of(line)).collect());
//! let root = root(3, &mut rows)?;
//! let proof = inclusion(1, 3, &mut rows)?;
//! assert!(verify_inclusion(leaf(&Digest::of(b"two").0), 1, 3, &proof, root));
//! assert!(!verify_inclusion(leaf(&Digest::of(b"too").0), 1, 3, &proof, root));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// The hash of a leaf with this data.
pub fn leaf(data: &[u8]) -> Digest {
    Digest(Sha256::new().chain_update([0]).chain_update(data).finalize().into())
}

/// The hash of a node above these two.
pub fn node(left: Digest, right: Digest) -> Digest {
    let hash = Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0);
    Digest(hash.finalize().into())
}

/// Where the hashes of a tree come from.
pub trait Nodes {
    /// Why one is not to be had.
    type Error;

    /// The hash of the leaf with this index, from 0.
    fn leaf(&mut self, index: u64) -> Result<Digest, Self::Error>;

    /// The hash of the full subtree whose leaves are those from `index << level` on, `1 << level` of
    /// them. Whoever keeps such hashes answers with them instead.
    fn full(&mut self, level: u32, index: u64) -> Result<Digest, Self::Error> {
        full_of(self, level, index)
    }
}

/// The hash of a full subtree, from what is below it.
pub fn full_of<N: Nodes + ?Sized>(
    nodes: &mut N,
    level: u32,
    index: u64,
) -> Result<Digest, N::Error> {
    match level.checked_sub(1) {
        None => nodes.leaf(index),
        Some(below) => {
            let left = nodes.full(below, index.saturating_mul(2))?;
            Ok(node(left, nodes.full(below, index.saturating_mul(2).saturating_add(1))?))
        }
    }
}

/// The root of the tree over the first `size` leaves.
pub fn root<N: Nodes>(size: u64, nodes: &mut N) -> Result<Digest, N::Error> {
    match size {
        0 => Ok(Digest::of(b"")),
        size => part(0, size, nodes),
    }
}

/// The proof that a leaf is among the first `size`: what [`verify_inclusion`] needs. The index is
/// below `size`.
pub fn inclusion<N: Nodes>(index: u64, size: u64, nodes: &mut N) -> Result<Vec<Digest>, N::Error> {
    let (mut begin, mut end, mut proof) = (0, size, Vec::new());
    while end - begin > 1 {
        let middle = begin + split(end - begin);
        match index < middle {
            true => {
                proof.push(part(middle, end, nodes)?);
                end = middle;
            }
            false => {
                proof.push(part(begin, middle, nodes)?);
                begin = middle;
            }
        }
    }
    proof.reverse();
    Ok(proof)
}

/// The hashes that make the root together with some leaves: those over the parts of the tree that have
/// none of them, from left to right. What [`root_of`] needs. The indices ascend and are below `size`.
pub fn beside<N: Nodes>(
    indices: &[u64],
    size: u64,
    nodes: &mut N,
) -> Result<Vec<Digest>, N::Error> {
    let mut hashes = Vec::new();
    gather(indices, 0, size, nodes, &mut hashes)?;
    Ok(hashes)
}

fn gather<N: Nodes>(
    indices: &[u64],
    begin: u64,
    end: u64,
    nodes: &mut N,
    hashes: &mut Vec<Digest>,
) -> Result<(), N::Error> {
    match (indices, end - begin) {
        ([], _) => hashes.push(part(begin, end, nodes)?),
        (_, 1) => {}
        (indices, count) => {
            let middle = begin + split(count);
            let (left, right) = indices.split_at(indices.partition_point(|index| *index < middle));
            gather(left, begin, middle, nodes, hashes)?;
            gather(right, middle, end, nodes, hashes)?;
        }
    }
    Ok(())
}

/// The proof that the tree over the first `new` leaves goes on from that over the first `old`:
/// what [`verify_consistency`] needs. 0 < `old` ≤ `new`.
pub fn consistency<N: Nodes>(old: u64, new: u64, nodes: &mut N) -> Result<Vec<Digest>, N::Error> {
    let (mut begin, mut end, mut proof) = (0, new, Vec::new());
    // Down to the part that ends where the old tree does.
    while old < end {
        let middle = begin + split(end - begin);
        match old <= middle {
            true => {
                proof.push(part(middle, end, nodes)?);
                end = middle;
            }
            false => {
                proof.push(part(begin, middle, nodes)?);
                begin = middle;
            }
        }
    }
    // Where that is the old tree itself, its root is known already.
    if begin > 0 {
        proof.push(part(begin, end, nodes)?);
    }
    proof.reverse();
    Ok(proof)
}

/// A tree of which only the right edge is kept: enough to go on and to have its root.
#[derive(Clone, Debug, Default)]
pub struct Frontier {
    size: u64,
    /// The hashes of the full subtrees that the tree is made of, the largest first.
    full: Vec<Digest>,
}

impl Frontier {
    /// Adds a leaf, by its hash.
    pub fn push(&mut self, leaf: Digest) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.full.pop() {
                hash = node(left, hash);
            }
        }
        self.full.push(hash);
        self.size = self.size.saturating_add(1);
    }

    /// How many leaves it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root over them.
    pub fn root(&self) -> Digest {
        let above = |right: Digest, left: &Digest| node(*left, right);
        match self.full.split_last() {
            None => Digest::of(b""),
            Some((last, rest)) => rest.iter().rev().fold(*last, above),
        }
    }
}

/// Whether a proof leads from a leaf's hash to the root of the tree over `size` leaves.
pub fn verify_inclusion(
    leaf: Digest,
    index: u64,
    size: u64,
    proof: &[Digest],
    root: Digest,
) -> bool {
    let Some(mut last) = size.checked_sub(1).filter(|last| index <= *last) else { return false };
    let (mut index, mut hash) = (index, leaf);
    for beside in proof {
        if last == 0 {
            return false;
        }
        if index & 1 == 1 || index == last {
            hash = node(*beside, hash);
            while index & 1 == 0 && index != 0 {
                (index, last) = (index >> 1, last >> 1);
            }
        } else {
            hash = node(hash, *beside);
        }
        (index, last) = (index >> 1, last >> 1);
    }
    last == 0 && hash == root
}

/// The root of the tree over `size` leaves, from some of them and the hashes [`beside`] them. The leaves
/// stand with their indices, which ascend; `None` if they do not, or the hashes are too few or too many.
pub fn root_of(leaves: &[(u64, Digest)], size: u64, beside: &[Digest]) -> Option<Digest> {
    let ascend = leaves.windows(2).all(|pair| matches!(pair, [(a, _), (b, _)] if a < b));
    if !ascend || leaves.last().is_none_or(|(index, _)| *index >= size) {
        return None;
    }
    let mut hashes = beside.iter();
    let root = climb(leaves, 0, size, &mut hashes)?;
    hashes.next().is_none().then_some(root)
}

fn climb(
    leaves: &[(u64, Digest)],
    begin: u64,
    end: u64,
    hashes: &mut std::slice::Iter<'_, Digest>,
) -> Option<Digest> {
    match (leaves, end - begin) {
        ([], _) => hashes.next().copied(),
        ([(_, leaf), ..], 1) => Some(*leaf),
        (leaves, count) => {
            let middle = begin + split(count);
            let (left, right) =
                leaves.split_at(leaves.partition_point(|(index, _)| *index < middle));
            let left = climb(left, begin, middle, hashes)?;
            Some(node(left, climb(right, middle, end, hashes)?))
        }
    }
}

/// Whether a proof shows that the tree over `new` leaves with one root goes on from that over `old`
/// leaves with the other.
pub fn verify_consistency(old: (u64, Digest), new: (u64, Digest), proof: &[Digest]) -> bool {
    let ((old, old_root), (new, new_root)) = (old, new);
    if old == 0 || old > new {
        return false;
    }
    if old == new {
        return proof.is_empty() && old_root == new_root;
    }
    // Where the old tree is a full subtree, its root is the first hash of the path.
    let (first, rest) = match (old.is_power_of_two(), proof.split_first()) {
        (true, _) => (old_root, proof),
        (false, Some((first, rest))) => (*first, rest),
        (false, None) => return false,
    };
    let (mut index, mut last) = (old - 1, new - 1);
    while index & 1 == 1 {
        (index, last) = (index >> 1, last >> 1);
    }
    let (mut from_old, mut from_new) = (first, first);
    for beside in rest {
        if last == 0 {
            return false;
        }
        if index & 1 == 1 || index == last {
            from_old = node(*beside, from_old);
            from_new = node(*beside, from_new);
            while index & 1 == 0 && index != 0 {
                (index, last) = (index >> 1, last >> 1);
            }
        } else {
            from_new = node(from_new, *beside);
        }
        (index, last) = (index >> 1, last >> 1);
    }
    last == 0 && from_old == old_root && from_new == new_root
}

/// The hash over the leaves from `begin` to before `end`. `begin` is a multiple of the least power of
/// two that is not less than their number.
fn part<N: Nodes>(begin: u64, end: u64, nodes: &mut N) -> Result<Digest, N::Error> {
    let count = end - begin;
    if count.is_power_of_two() {
        let level = count.trailing_zeros();
        return nodes.full(level, begin >> level);
    }
    let middle = begin + split(count);
    Ok(node(part(begin, middle, nodes)?, part(middle, end, nodes)?))
}

/// How many of `count` leaves, above 1, are on the left: the largest power of two below it.
fn split(count: u64) -> u64 {
    1 << (count - 1).ilog2()
}

#[cfg(test)]
mod tests;
