use super::*;

const TWO: &str = r#"
network = "regtest"

[providers.node]
kind = "core"
network = "regtest"
url = "http://ada:secret@127.0.0.1:18443/wallet/x?y=z"

[providers.server]
kind = "electrum"
network = "regtest"
url = "tcp://127.0.0.1:50001"

[providers.elsewhere]
kind = "esplora"
network = "signet"
url = "https://example.com/api"
"#;

fn chosen(text: &str, capability: Capability) -> Result<String, ChoiceError> {
    let config = Config::parse(text).unwrap();
    config.choose(Network::Regtest, &[], capability).map(|chosen| chosen.name)
}

#[test]
fn one_provider_does_each_thing_or_the_person_says_which() {
    let capabilities = [Capability::Sync, Capability::Fees, Capability::Broadcast];
    for capability in capabilities {
        let error = chosen(TWO, capability).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("several providers of regtest serve {capability}: `node`, `server`")
        );
        let used = format!("{TWO}\n[use]\nregtest = \"server\"\n");
        assert_eq!(chosen(&used, capability).unwrap(), "server");
    }
    // What tells the chain does the rest.
    let fees = TWO.replace(
        "url = \"tcp://127.0.0.1:50001\"",
        "url = \"tcp://127.0.0.1:50001\"\ncapabilities = [\"chain.fees\", \"chain.broadcast\"]",
    );
    for capability in capabilities {
        assert_eq!(chosen(&fees, capability).unwrap(), "node", "{capability}");
    }
    let only = fees.replace("/x?y=z\"", "/x?y=z\"\ncapabilities = [\"chain.sync\"]");
    assert_eq!(chosen(&only, Capability::Sync).unwrap(), "node");
    assert_eq!(chosen(&only, Capability::Fees).unwrap(), "server");
    let none = only.replace("[\"chain.sync\"]", "[]");
    assert!(matches!(chosen(&none, Capability::Sync), Err(ChoiceError::None { .. })));
}

#[test]
fn what_is_given_replaces_all_and_nothing_is_the_one_built_in() {
    let config = Config::parse(TWO).unwrap();
    let given = Entry::new(Kind::Electrum, Network::Regtest, "tcp://example.com:1").unwrap();
    let chosen = config.choose(Network::Regtest, std::slice::from_ref(&given), Capability::Sync);
    assert_eq!(chosen.unwrap().entry, given);
    let chosen = config.choose(Network::Mainnet, &[], Capability::Sync).unwrap();
    assert_eq!(chosen.entry.url, "https://mempool.space/api");
}

#[test]
fn only_the_origin_of_a_url_is_shown() {
    for (url, shown) in [
        ("https://example.com/secret/api", "https://example.com"),
        ("https://example.com:8443?key=secret", "https://example.com:8443"),
        ("https://example.com#secret", "https://example.com"),
        ("http://ada:secret@127.0.0.1:18443/", "127.0.0.1:18443"),
        ("http://ada:secret@x@127.0.0.1:18443", "127.0.0.1:18443"),
        ("tcp://127.0.0.1:50001", "tcp://127.0.0.1:50001"),
        ("nonsense", "?"),
    ] {
        assert_eq!(origin(url), shown, "{url}");
    }
    let (url, user) = without_user("http://ada:se:cret@127.0.0.1:18443/wallet/x");
    assert_eq!(url, "http://127.0.0.1:18443/wallet/x");
    assert_eq!(user, Some(("ada".into(), "se:cret".into())));
}

#[test]
fn says_what_is_wrong() {
    for (text, why) in [
        ("x = 1\n", "line 1: unknown field `x`"),
        ("network = \"testnet\"\n", "line 1: unknown variant `testnet`"),
        ("[fee_targets]\nsignet = 0\n", "`fee_targets`: 0 is not within 1 to 1008"),
        ("[fee_targets]\nsignet = 1009\n", "`fee_targets`: 1009"),
        ("[use]\nsignet = \"a\"\n", "`use`: signet has no provider `a`"),
        (
            "[providers.a]\nkind = \"core\"\nnetwork = \"signet\"\nurl = \"tcp://a\"\n",
            "provider `a`: the URL of this kind begins with http://",
        ),
        (
            "[providers.a]\nkind = \"core\"\nnetwork = \"signet\"\nurl = \"http://a\"\nbearer = \"x\"\n",
            "provider `a`: only an Esplora server has a `bearer`",
        ),
        (
            "[providers.a]\nkind = \"electrum\"\nnetwork = \"signet\"\nurl = \"ssl://a\"\n",
            "provider `a`: the URL of this kind begins with tcp://",
        ),
        ("[providers.a]\nkind = \"subfrost\"\n", "line 2: unknown variant `subfrost`"),
    ] {
        let error = Config::parse(text).unwrap_err();
        assert!(error.starts_with(why), "{text:?}: {error}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let mut config = Config::parse(TWO).unwrap();
    config.fee_targets.insert(Network::Signet, 6);
    config.r#use.insert(Network::Regtest, Name::new("node").unwrap());
    assert_eq!(Config::parse(&toml::to_string(&config).unwrap()), Ok(config));
}
