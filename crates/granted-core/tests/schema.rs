//! `docs/grant.schema.json`: generated here, and held against what the program itself reads.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::disallowed_methods)]

use granted_core::decision::{Grant, REASONS};
use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grant.schema.json");

/// The schema. A pattern cannot say everything: that a day is in the calendar, that a window is
/// not empty, and bounds in bytes are left to the program.
fn schema() -> Value {
    let nullable = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
    let named = |name: &str, description: &str| json!({"$ref": format!("#/$defs/{name}"), "description": description});
    let reasons: Vec<&str> = REASONS.iter().map(|reason| reason.as_str()).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "grant",
        "description": "A decision that a person made in advance: one object, until a deadline.",
        "type": "object",
        "additionalProperties": false,
        "required": [
            "allowed_actions", "book", "consumed", "decision", "id", "kind", "minted_at",
            "minted_by", "not_after", "not_scope", "object", "scope"
        ],
        "properties": {
            "kind": {"const": "granted/1", "description": "The form of the document."},
            "id": named("id", "The grant's own id, written by mint."),
            "book": named("id", "The ledger that the grant is good in, written by mint."),
            "decision": {
                "enum": ["APPROVE_ONCE", "APPROVE_SESSION"],
                "description": "Spent by the first claim, or good for many within its window."
            },
            "object": {
                "type": "object",
                "additionalProperties": false,
                "required": ["id", "type"],
                "properties": {
                    "type": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
                    "id": {"type": "string", "minLength": 1, "maxLength": 256}
                },
                "description": "What the grant is about, and nothing else."
            },
            "scope": {
                "type": "string",
                "maxLength": 1024,
                "description": "Words for the person: what is covered."
            },
            "not_scope": {
                "type": "array",
                "items": {"$ref": "#/$defs/note"},
                "description": "Words for the person: what is not covered."
            },
            "allowed_actions": {
                "type": "array",
                "items": {"$ref": "#/$defs/name"},
                "description": "If there are any, an attempt must name one of them."
            },
            "executor": named("name", "The only executor that may discharge it."),
            "executor_bound": {
                "type": "object",
                "additionalProperties": false,
                "required": ["argv", "cwd", "digest", "env", "files", "path", "program"],
                "properties": {
                    "argv": {"$ref": "#/$defs/texts"},
                    "confirm": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["argv", "program"],
                        "properties": {
                            "argv": {"$ref": "#/$defs/texts"},
                            "program": {"$ref": "#/$defs/bind"}
                        }
                    },
                    "cwd": {"type": "string"},
                    "digest": {"$ref": "#/$defs/sha256"},
                    "env": {"$ref": "#/$defs/texts"},
                    "files": {"type": "array", "items": {"$ref": "#/$defs/bind"}},
                    "path": {"type": "string"},
                    "program": {"$ref": "#/$defs/bind"}
                },
                "description": "What that executor was when the grant was minted, and must be."
            },
            "agent": named("name", "The only agent that may discharge it."),
            "binds": {
                "type": "array",
                "items": {"$ref": "#/$defs/bind"},
                "description": "Files that must not change between mint and the end of the act."
            },
            "not_before": nullable(named("stamp", "The window's beginning, inclusive.")),
            "not_after": named("stamp", "The window's end, exclusive. Never absent."),
            "minted_by": named("note", "The hand that minted it: words, no identity."),
            "minted_at": named("stamp", "When it was minted."),
            "consumed": {"type": "boolean", "description": "Whether it is spent."},
            "consumed_at": nullable(named("stamp", "When it was claimed, if it is spent.")),
            "receipt": nullable(named("receipt", "What spent it.")),
            "signatures": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["form", "key", "sig"],
                    "properties": {
                        "form": {"enum": ["ed25519", "sshsig"]},
                        "key": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
                        "sig": {
                            "type": "string",
                            "maxLength": 2732,
                            "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"
                        }
                    }
                },
                "description": "Signatures over every other field that is fixed at mint."
            }
        },
        "$defs": {
            "id": {
                "type": "string",
                "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
                "description": "A ULID."
            },
            "bind": {
                "type": "object",
                "additionalProperties": false,
                "required": ["path", "sha256"],
                "properties": {
                    "path": {"$ref": "#/$defs/note"},
                    "sha256": {"$ref": "#/$defs/sha256"}
                }
            },
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "texts": {"type": "array", "items": {"type": "string"}},
            "name": {"type": "string", "minLength": 1, "maxLength": 64},
            "note": {"type": "string", "minLength": 1, "maxLength": 1024},
            "stamp": {
                "type": "string",
                "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\
                    T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?\
                    (Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
                "description": "An instant of RFC 3339, always with a zone."
            },
            "receipt": {
                "type": "object",
                "additionalProperties": false,
                "required": ["at", "discharge_id", "outcome"],
                "properties": {
                    "at": {"$ref": "#/$defs/stamp"},
                    "discharge_id": {"$ref": "#/$defs/id"},
                    "outcome": {
                        "enum": ["discharged", "refused", "uncertain", "expired", "pending"]
                    },
                    "reason": nullable(json!({"enum": reasons})),
                    "result": {"description": "The executor's own evidence; integers only."}
                }
            }
        }
    })
}

/// The grant that the documentation tells of, with the fields that mint adds.
fn example() -> Value {
    json!({
        "kind": "granted/1",
        "id": "01M3RN7R72000KRVQKEBZ99Y1A",
        "book": "01M3RN7Q7T0009WDVSQ5ZMMZ0N",
        "decision": "APPROVE_ONCE",
        "object": {"type": "report", "id": "2026-09-30"},
        "scope": "send the weekly report to the list it went to last week",
        "not_scope": ["any other recipient", "any attachment not already in the draft"],
        "allowed_actions": ["send"],
        "not_before": null,
        "not_after": "2026-10-01T00:00:00Z",
        "minted_by": "owner keystroke",
        "minted_at": "2026-09-20T12:00:00Z",
        "consumed": false,
        "consumed_at": null,
        "receipt": null
    })
}

/// A grant that has every field.
fn full() -> Value {
    let mut full = example();
    full["agent"] = json!("claude");
    full["executor"] = json!("send_report");
    full["signatures"] = json!([{"form": "ed25519", "key": "0123456789abcdef", "sig": "AAEC"}]);
    full["binds"] = json!([{"path": "/home/ada/report.txt", "sha256": "0".repeat(64)}]);
    full["executor_bound"] = serde_json::to_value(granted_testkit::sample::identity()).unwrap();
    full["not_before"] = json!("2026-09-30T02:00:00.25+02:00");
    full["consumed"] = json!(true);
    full["consumed_at"] = json!("2026-09-30T08:00:00Z");
    full["receipt"] = json!({
        "at": "2026-09-30T08:00:01.5Z",
        "discharge_id": "01M3RN7S6A000XN9KD5HYXYX1Z",
        "outcome": "discharged",
        "reason": "confirmed",
        "result": {"message_id": "<42@example>", "tries": 1}
    });
    full
}

/// Whether the schema and the program take the document; they must agree.
fn takes(document: &Value) -> bool {
    let by_schema = jsonschema::draft202012::new(&schema()).unwrap().is_valid(document);
    let by_program = serde_json::from_value::<Grant>(document.clone());
    assert_eq!(by_schema, by_program.is_ok(), "{document:#} ({by_program:?})");
    by_schema
}

#[test]
fn the_file_is_what_is_generated() {
    let text = format!("{:#}\n", schema());
    if std::env::var_os("GRANTED_BLESS").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(FILE).unwrap_or_default() == text,
        "docs/grant.schema.json is stale: run `GRANTED_BLESS=1 cargo test -p granted-core --test schema`"
    );
}

#[test]
fn it_is_a_schema() {
    jsonschema::draft202012::meta::validate(&schema()).unwrap();
}

#[test]
fn it_names_every_field_of_a_grant() {
    let grant: Grant = serde_json::from_value(full()).unwrap();
    let written = serde_json::to_value(&grant).unwrap();
    for (schema, value) in [
        (&schema(), &written),
        (&schema()["$defs"]["receipt"], &written["receipt"]),
        (&schema()["properties"]["object"], &written["object"]),
        (&schema()["$defs"]["bind"], &written["binds"][0]),
        (&schema()["properties"]["executor_bound"], &written["executor_bound"]),
        (
            &schema()["properties"]["executor_bound"]["properties"]["confirm"],
            &written["executor_bound"]["confirm"],
        ),
        (&schema()["properties"]["signatures"]["items"], &written["signatures"][0]),
    ] {
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&schema["properties"]), keys(value));
    }
}

#[test]
fn it_takes_what_the_program_takes() {
    assert!(takes(&example()) && takes(&full()));
    for reason in REASONS {
        let mut document = full();
        document["receipt"]["reason"] = json!(reason.as_str());
        document["receipt"]["outcome"] = json!(reason.class().as_str());
        assert!(takes(&document));
    }
    for (place, value) in [
        ("/decision", json!("APPROVE_SESSION")),
        ("/allowed_actions", json!([])),
        ("/binds", json!([])),
        ("/signatures", json!([])),
        ("/signatures/0/form", json!("sshsig")),
        ("/signatures/0/sig", json!("")),
        ("/signatures/0/sig", json!("+/8=")),
        ("/signatures/0/sig", json!("A".repeat(2_728) + "AAA=")),
        ("/scope", json!("")),
        ("/object/id", json!("é/€ \"1\"")),
        ("/not_after", json!("2026-10-01T00:00:00.000001-11:30")),
        ("/receipt/outcome", json!("pending")),
        ("/receipt/reason", Value::Null),
        ("/receipt/result", Value::Null),
        ("/receipt", Value::Null),
    ] {
        let mut document = full();
        *document.pointer_mut(place).unwrap() = value;
        assert!(takes(&document), "{place}");
    }
}

#[test]
fn it_refuses_what_the_program_refuses() {
    assert!(!takes(&json!([])) && !takes(&json!({})) && !takes(&Value::Null));
    for (place, value) in [
        ("/kind", json!("granted/2")),
        ("/decision", json!("APPROVE_ALWAYS")),
        ("/id", json!("01m3rn7r72000krvqkebz99y1a")),
        ("/id", json!("81M3RN7R72000KRVQKEBZ99Y1A")),
        ("/book", json!("")),
        ("/object", json!("report/2026-09-30")),
        ("/object/type", json!("a/b")),
        ("/object/type", json!("x".repeat(65))),
        ("/object/id", json!("")),
        ("/object/id", json!("é".repeat(257))),
        ("/allowed_actions", json!("send")),
        ("/allowed_actions/0", json!("")),
        ("/allowed_actions/0", json!("x".repeat(65))),
        ("/not_scope/0", json!("")),
        ("/scope", json!("x".repeat(1_025))),
        ("/scope", Value::Null),
        ("/agent", json!("")),
        ("/executor", json!(7)),
        ("/executor_bound/argv", json!("./send.sh")),
        ("/executor_bound/digest", json!("")),
        ("/executor_bound/program/sha256", json!("0")),
        ("/binds/0/sha256", json!("0".repeat(63))),
        ("/binds/0/path", json!("")),
        ("/signatures/0/form", json!("rsa")),
        ("/signatures/0/key", json!("0123456789ABCDEF")),
        ("/signatures/0/key", json!("0123456789abcde")),
        ("/signatures/0/sig", json!("AAE")),
        ("/signatures/0/sig", json!("AAF=")),
        ("/signatures/0/sig", json!("A-A=")),
        ("/signatures/0/sig", json!("A".repeat(2_736))),
        ("/not_after", Value::Null),
        ("/not_after", json!("2026-10-01T00:00:00")),
        ("/not_after", json!("2026-10-01 00:00:00Z")),
        ("/not_after", json!("2026-10-01")),
        ("/not_after", json!("2026-13-01T00:00:00Z")),
        ("/not_after", json!("2026-10-01T24:00:00Z")),
        ("/not_after", json!("2026-10-01T00:00:60Z")),
        ("/not_after", json!("2026-10-01T00:00:00.1234567Z")),
        ("/not_before", json!("")),
        ("/minted_at", json!(0)),
        ("/minted_by", json!("")),
        ("/consumed", Value::Null),
        ("/consumed", json!("true")),
        ("/receipt/outcome", json!("done")),
        ("/receipt/reason", json!("because")),
        ("/receipt/discharge_id", Value::Null),
    ] {
        let mut document = full();
        *document.pointer_mut(place).unwrap() = value.clone();
        assert!(!takes(&document), "{place} {value}");
    }
}

#[test]
fn each_field_is_required_or_not_by_both() {
    let bound = ["/executor_bound", "/executor_bound/confirm", "/executor_bound/files/0"];
    for place in ["", "/object", "/receipt", "/binds/0", "/signatures/0"].into_iter().chain(bound) {
        let keys: Vec<String> =
            full().pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let mut document = full();
            document.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(&key);
            let optional = [
                "agent",
                "binds",
                "executor",
                "executor_bound",
                "confirm",
                "not_before",
                "consumed_at",
                "receipt",
                "reason",
                "result",
                "signatures",
            ];
            assert_eq!(takes(&document), optional.contains(&key.as_str()), "{place}/{key}");
        }
        let mut document = full();
        document.pointer_mut(place).unwrap()["also"] = json!(1);
        assert!(!takes(&document), "{place}: an unknown field");
    }
}
