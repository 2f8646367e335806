use bdk_wallet::{KeychainKind, Wallet};

use super::*;

const ABANDON: &str = "abandon abandon abandon abandon abandon abandon abandon abandon abandon \
                       abandon abandon about";

#[test]
fn derives_the_addresses_that_bip_86_publishes() {
    let keys = Seed::parse(ABANDON).unwrap().public_keys(Network::Mainnet).unwrap();
    let wallet = Wallet::create(keys.external, keys.internal)
        .network(network::bitcoin(Network::Mainnet))
        .create_wallet_no_persist()
        .unwrap();
    for (keychain, index, address) in [
        (
            KeychainKind::External,
            0,
            "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
        ),
        (
            KeychainKind::External,
            1,
            "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh",
        ),
        (
            KeychainKind::Internal,
            0,
            "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7",
        ),
    ] {
        assert_eq!(wallet.peek_address(keychain, index).to_string(), address);
    }
}

/// BIP-39's own vectors, those with the passphrase that they all have.
#[test]
fn reads_the_phrases_that_bip_39_publishes() {
    for (entropy, phrase, seed) in [
        (
            "00000000000000000000000000000000",
            ABANDON,
            "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04",
        ),
        (
            "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
            "legal winner thank year wave sausage worth useful legal winner thank yellow",
            "2e8905819b8723fe2c1d161860e5ee1830318dbf49a83bd451cfb8440c28bd6fa457fe1296106559a3c80937a1c1069be3a3a5bd381ee6260e8d9739fce1f607",
        ),
        (
            "8080808080808080808080808080808080808080808080808080808080808080",
            "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless",
            "c0c519bd0e91a2ed54357d9d1ebef6f5af218a153624cf4f2da911a0ed8f7a09e2ef61af0aca007096df430022f7a2b6fb91661a9589097069720d015e4e982f",
        ),
        (
            "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
            "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
            "64c87cde7e12ecf6704ab95bb1408bef047c22db4cc7491c4271d170a1b213d20b385bc1588d9c7b38f1b39d415665b8a9030c9ec653d75e65f847d8fc1fc440",
        ),
    ] {
        let parsed = Seed::parse(phrase).unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(&parsed.0.to_entropy()), entropy);
        assert_eq!(hex(&parsed.0.to_seed_normalized("TREZOR")), seed);
        assert_eq!(*parsed.phrase(), phrase);
    }
}

#[test]
fn says_which_word_is_wrong_and_nothing_of_it() {
    let with = |from: &str, to: &str| Seed::parse(&ABANDON.replacen(from, to, 1)).unwrap_err();
    assert_eq!(with("about", "abuot"), PhraseError::Word(12));
    assert_eq!(with("abandon", "Hunter2"), PhraseError::Word(1));
    assert_eq!(with("about", "zoo"), PhraseError::Checksum);
    assert_eq!(with(" about", ""), PhraseError::Count(11));
    // Fifteen words are a phrase of BIP-39, but none of this wallet.
    assert_eq!(Seed::parse(&"zoo ".repeat(15)).unwrap_err(), PhraseError::Count(15));
    assert!(Seed::parse(&format!("\n {} ", ABANDON.to_uppercase().replace(' ', "\t"))).is_ok());
}

#[test]
fn a_new_seed_has_the_length_that_was_asked_for() {
    for (length, count) in [(Length::Twelve, 12), (Length::TwentyFour, 24)] {
        let seed = Seed::generate(length).unwrap();
        assert_eq!(seed.words().count(), count);
        assert_ne!(seed, Seed::generate(length).unwrap());
        assert_eq!(Seed::parse(&seed.phrase()).unwrap(), seed);
    }
}

#[test]
fn opens_with_its_password_only_and_not_when_a_byte_is_another() {
    let seed = Seed::parse(ABANDON).unwrap();
    let sealed = seed.seal(b"correct horse").unwrap();
    assert!(!sealed.contains("abandon"));
    assert_eq!(Seed::open(&sealed, b"correct horse").unwrap(), seed);
    assert_eq!(Seed::open(&sealed, b"correct horsf").unwrap_err(), SealError::Locked);
    let value: serde_json::Value = serde_json::from_str(&sealed).unwrap();
    assert_eq!((&value["m_kib"], &value["t"], &value["p"]), (&65536.into(), &3.into(), &1.into()));
    for field in ["salt", "nonce", "ct"] {
        let mut changed = value.clone();
        let text = changed[field].as_str().unwrap();
        let other = if text.starts_with('A') { "B" } else { "A" };
        changed[field] = format!("{other}{}", &text[1..]).into();
        assert_eq!(
            Seed::open(&changed.to_string(), b"correct horse").unwrap_err(),
            SealError::Locked
        );
    }
}

#[test]
fn what_would_cost_too_much_or_is_not_known_is_not_opened() {
    let sealed = Seed::parse(ABANDON).unwrap().seal(b"correct horse").unwrap();
    let with = |field: &str, new: serde_json::Value| {
        let mut value: serde_json::Value = serde_json::from_str(&sealed).unwrap();
        value[field] = new;
        Seed::open(&value.to_string(), b"correct horse").unwrap_err()
    };
    assert_eq!(with("m_kib", 1_048_577.into()), SealError::Costly);
    assert_eq!(with("t", 65.into()), SealError::Costly);
    assert_eq!(with("p", 17.into()), SealError::Costly);
    assert!(matches!(with("v", 2.into()), SealError::Newer(_)));
    assert!(matches!(with("kdf", "scrypt".into()), SealError::Newer(_)));
    assert!(matches!(with("nonce", "AAAA".into()), SealError::Form(_)));
    assert!(matches!(with("more", 1.into()), SealError::Form(_)));
    assert!(matches!(with("m_kib", 1.into()), SealError::Form(_)));
}
