use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// The leaves' data that the Certificate Transparency project tests with, and the root over the first
/// one, two, … of them.
const DATA: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

struct Leaves(Vec<Digest>);

impl Nodes for Leaves {
    type Error = Infallible;

    fn leaf(&mut self, index: u64) -> Result<Digest, Infallible> {
        Ok(self.0[index as usize])
    }
}

/// Some leaves, all different.
fn leaves(count: u64) -> Leaves {
    Leaves((0..count).map(|index| leaf(&Digest::of(&index.to_be_bytes()).0)).collect())
}

/// The root as RFC 6962 defines it.
fn naive(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        leaves => {
            let mut left = 1;
            while left * 2 < leaves.len() {
                left *= 2;
            }
            node(naive(&leaves[..left]), naive(&leaves[left..]))
        }
    }
}

fn digests(texts: &[&str]) -> Vec<Digest> {
    texts.iter().map(|text| Digest::parse(text).unwrap()).collect()
}

#[test]
fn the_published_roots_and_proofs() {
    let mut tree = Leaves(DATA.iter().map(|data| leaf(data)).collect());
    assert_eq!(root(0, &mut tree), Ok(Digest::of(b"")));
    assert_eq!(Frontier::default().root(), Digest::of(b""));
    for (size, known) in (1..).zip(digests(&ROOTS)) {
        assert_eq!(root(size, &mut tree), Ok(known), "{size}");
        let mut frontier = Frontier::default();
        tree.0.iter().take(size as usize).for_each(|leaf| frontier.push(*leaf));
        assert_eq!((frontier.size(), frontier.root()), (size, known));
    }
    let one = [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ];
    let six = [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        ROOTS[3],
    ];
    let two_of_five = [ROOTS[0], one[1], six[0]];
    assert_eq!(inclusion(0, 1, &mut tree), Ok(vec![]));
    assert_eq!(inclusion(0, 8, &mut tree), Ok(digests(&one)));
    assert_eq!(inclusion(5, 8, &mut tree), Ok(digests(&six)));
    assert_eq!(inclusion(2, 3, &mut tree), Ok(digests(&[ROOTS[1]])));
    assert_eq!(inclusion(1, 5, &mut tree), Ok(digests(&two_of_five)));
    assert_eq!(consistency(1, 1, &mut tree), Ok(vec![]));
    assert_eq!(consistency(1, 8, &mut tree), Ok(digests(&one)));
    let from_six = [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        ROOTS[3],
    ];
    assert_eq!(consistency(6, 8, &mut tree), Ok(digests(&from_six)));
    assert_eq!(
        consistency(2, 5, &mut tree),
        Ok(digests(&["5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e", six[0]]))
    );
}

#[test]
fn every_proof_of_small_trees_holds_and_no_other() {
    for size in 1..=20 {
        let mut tree = leaves(size);
        let whole = root(size, &mut tree).unwrap();
        for index in 0..size {
            let proof = inclusion(index, size, &mut tree).unwrap();
            let hash = tree.0[index as usize];
            for other in 0..size + 2 {
                let holds = verify_inclusion(hash, other, size, &proof, whole);
                assert_eq!(holds, other == index, "{index} as {other} of {size}");
            }
            for other in (0..size + 3).filter(|other| *other != size) {
                // A root stands for one size; with another the path has another form.
                let holds = verify_inclusion(hash, index, other, &proof, whole);
                assert!(!holds || same_path(index, size, other), "{index} of {size} as {other}");
            }
            assert!(!verify_inclusion(node(hash, hash), index, size, &proof, whole));
            assert!(refuses_changed(&proof, |proof| {
                verify_inclusion(hash, index, size, proof, whole)
            }));
        }
        for old in 1..=size {
            let earlier = root(old, &mut tree).unwrap();
            let proof = consistency(old, size, &mut tree).unwrap();
            assert!(verify_consistency((old, earlier), (size, whole), &proof), "{old} to {size}");
            assert!(!verify_consistency((old, node(whole, whole)), (size, whole), &proof));
            assert!(!verify_consistency((old, earlier), (size, node(whole, whole)), &proof));
            assert!(refuses_changed(&proof, |proof| {
                verify_consistency((old, earlier), (size, whole), proof)
            }));
        }
        assert!(!verify_consistency((0, Digest::of(b"")), (size, whole), &[]));
        assert!(!verify_consistency((size + 1, whole), (size, whole), &[]));
    }
    assert!(!verify_inclusion(leaf(b""), 0, 0, &[], Digest::of(b"")));
}

/// Whether the path from a leaf has the same turns in trees of both sizes.
fn same_path(index: u64, size: u64, other: u64) -> bool {
    let turns = |size: u64| {
        let (mut begin, mut end, mut turns) = (0, size, Vec::new());
        while end - begin > 1 {
            let middle = begin + split(end - begin);
            turns.push(index < middle);
            (begin, end) = if index < middle { (begin, middle) } else { (middle, end) };
        }
        turns
    };
    index < other && turns(size) == turns(other)
}

/// Whether a proof with any digest changed, doubled or left out is refused, or one more behind it.
fn refuses_changed(proof: &[Digest], holds: impl Fn(&[Digest]) -> bool) -> bool {
    let changes = (0..proof.len()).flat_map(|at| {
        let mut changed = proof.to_vec();
        changed[at].0[7] ^= 1;
        let mut doubled = proof.to_vec();
        doubled.insert(at, proof[at]);
        let mut less = proof.to_vec();
        less.remove(at);
        [changed, doubled, less]
    });
    let longer = [proof, &[Digest::ZERO]].concat();
    changes.chain([longer]).all(|changed| !holds(&changed))
}

proptest! {
    #[test]
    fn as_the_definition_has_it(size in 1u64..700, a in any::<u64>(), b in any::<u64>()) {
        let mut tree = leaves(size);
        let whole = naive(&tree.0);
        prop_assert_eq!(root(size, &mut tree), Ok(whole));
        let mut frontier = Frontier::default();
        tree.0.iter().for_each(|leaf| frontier.push(*leaf));
        prop_assert_eq!(frontier.root(), whole);
        let index = a % size;
        let proof = inclusion(index, size, &mut tree).unwrap();
        prop_assert!(verify_inclusion(tree.0[index as usize], index, size, &proof, whole));
        let old = b % size + 1;
        let earlier = naive(&tree.0[..old as usize]);
        let proof = consistency(old, size, &mut tree).unwrap();
        prop_assert!(verify_consistency((old, earlier), (size, whole), &proof));
        let lonely = verify_consistency((old, whole), (size, whole), &proof);
        prop_assert_eq!(lonely, old == size);
    }

    #[test]
    fn any_sizes_are_answered(
        index in any::<u64>(),
        size in any::<u64>(),
        proof in proptest::collection::vec(any::<[u8; 32]>().prop_map(Digest), 0..70),
    ) {
        prop_assert!(!verify_inclusion(Digest::ZERO, index, size, &proof, Digest::ZERO));
        prop_assert!(index == size
            || !verify_consistency((index, Digest::ZERO), (size, Digest::ZERO), &proof));
    }
}

#[test]
fn every_choice_of_leaves_of_small_trees_leads_to_the_root_and_no_other() {
    for size in 1..=9_u64 {
        let mut tree = leaves(size);
        let all = naive(&tree.0);
        for choice in 1..1_u64 << size {
            let indices: Vec<u64> = (0..size).filter(|index| choice >> index & 1 == 1).collect();
            let Ok(hashes) = beside(&indices, size, &mut tree);
            let chosen: Vec<(u64, Digest)> =
                indices.iter().map(|index| (*index, tree.0[*index as usize])).collect();
            assert_eq!(root_of(&chosen, size, &hashes), Some(all));
            assert!(refuses_changed(&hashes, |hashes| root_of(&chosen, size, hashes) == Some(all)));
            for place in 0..chosen.len() {
                let mut changed = chosen.clone();
                changed[place].1 = Digest::ZERO;
                assert_ne!(root_of(&changed, size, &hashes), Some(all));
                changed.remove(place);
                assert_ne!(root_of(&changed, size, &hashes), Some(all));
                changed.insert(place, (chosen[place].0 + 1, chosen[place].1));
                assert_ne!(root_of(&changed, size, &hashes), Some(all));
            }
        }
        assert_eq!(root_of(&[], size, &[all]), None);
        assert_eq!(root_of(&[(size, all)], size, &[all]), None);
    }
}
