//! The schemas of what the tools of decisions take and return.

use granted_core::decision::REASONS;
use serde_json::{Value, json};

use super::super::schema::{name, or_null, text, text_or_null, words};

/// The tool that looks at an object's grant.
pub(super) const STATUS: &str = "grant_status";
/// The tool that discharges an object.
pub(super) const DISCHARGE: &str = "grant_discharge";
/// The tool that shows the last rows.
pub(super) const TAIL: &str = "ledger_tail";
/// How many rows `ledger_tail` shows at most, and where nothing is said.
pub(super) const MAX_ROWS: u64 = 200;
/// As [`MAX_ROWS`].
pub(super) const DEFAULT_ROWS: u64 = 20;

fn object_type() -> Value {
    json!({
        "type": "string",
        "pattern": "^[A-Za-z0-9._-]{1,64}$",
        "description": "The object's type, exactly as the person minted it, e.g. report.",
        "examples": ["report", "invoice"],
    })
}

fn object_id(description: &str) -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": 256,
        "description": description,
        "examples": ["2026-09-30", "INV-1042"],
    })
}

const ID: &str = "The object's id within its type, compared byte for byte, e.g. 2026-09-30.";

pub(super) fn status_input() -> Value {
    json!({
        "type": "object",
        "properties": { "type": object_type(), "id": object_id(ID) },
        "required": ["type", "id"],
        "additionalProperties": false,
    })
}

pub(super) fn discharge_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": object_type(),
            "id": object_id(ID),
            "executor": name(
                "The name of an executor that the host registered, not a command; a wrong name is \
                 refused with the list of those there are, e.g. send_report.",
                &["send_report"],
            ),
            "action": name(
                "What the act is for: one of grant.allowed_actions. Needed if the grant lists any, \
                 e.g. send.",
                &["send"],
            ),
            "key": name(
                "Your own name for this one intended act, new for each, e.g. send-2026-09-30-1. \
                 Repeat it to repeat a call safely; with another action or executor it is refused.",
                &["send-2026-09-30-1"],
            ),
        },
        "required": ["type", "id", "executor"],
        "additionalProperties": false,
    })
}

pub(super) fn tail_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "n": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_ROWS,
                "default": DEFAULT_ROWS,
                "description": "How many rows at most, e.g. 50.",
                "examples": [DEFAULT_ROWS, 50],
            },
            "object_id": object_id(
                "Only rows about objects with this id, of any type, e.g. 2026-09-30. Without it: all.",
            ),
        },
        "additionalProperties": false,
    })
}

fn of_object() -> Value {
    json!({
        "type": "object",
        "properties": { "type": text("Its type."), "id": text("Its id.") },
        "required": ["type", "id"],
        "description": "What the grant is about.",
    })
}

fn rows(description: &str) -> Value {
    json!({
        "type": "array",
        "description": description,
        "items": {
            "type": "object",
            "properties": {
                "seq": { "type": "integer", "minimum": 1, "description": "The line's number." },
                "at": text("When it was written, in UTC."),
                "kind": text("What happened, e.g. decision.outcome."),
                "by": { "type": "object", "description": "Agent, door, host and uid that wrote it." },
                "body": { "type": "object", "description": "What is particular to the kind." },
                "refs": {
                    "type": "array",
                    "items": { "type": "array" },
                    "description": "What the row moves, each with the row that moved it before.",
                },
                "prev": text("The digest of the line before."),
            },
            "required": ["seq", "at", "kind", "by", "body", "refs", "prev", "v"],
        },
    })
}

fn grant() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": text("The grant's id."),
            "decision": words(
                &["APPROVE_ONCE", "APPROVE_SESSION"],
                "Once, or any number of times until one is not discharged.",
            ),
            "object": of_object(),
            "scope": text("The person's words for what is granted."),
            "not_scope": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The person's words for what is not.",
            },
            "allowed_actions": {
                "type": "array",
                "items": { "type": "string" },
                "description": "If there are any, an attempt must name one of them.",
            },
            "executor": text("The only executor that may be used, if one is named."),
            "executor_bound": {
                "type": "object",
                "description": "What that executor must still be, if the grant is bound to it.",
            },
            "not_before": text_or_null("When the window opens; null: at once."),
            "not_after": text("When the window closes."),
            "minted_by": text("Whose hand."),
            "minted_at": text("When."),
            "consumed": { "type": "boolean", "description": "Whether it is spent." },
            "consumed_at": text_or_null("When it was claimed."),
            "receipt": or_null(
                "The attempt that spent it and how it ended; its outcome is `pending` while it runs.",
                json!({ "type": "object" }),
            ),
        },
        "required": ["id", "object", "not_after", "consumed", "receipt"],
    })
}

pub(super) fn status_output() -> Value {
    let statuses = ["live", "none", "consumed", "not_yet", "expired", "unreadable", "revoked"];
    json!({
        "type": "object",
        "properties": {
            "status": words(&statuses, "Whether the object can be discharged now: only if live."),
            "grant": or_null(
                "The grant that speaks for the object; null if none was ever minted.",
                grant(),
            ),
            "rows": rows("The last rows of the grant and of the attempts on it, oldest first."),
            "signed_by": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "key": { "type": "string" }, "name": { "type": "string" } },
                    "required": ["key", "name"],
                },
                "description": "The trusted keys that signed the grant; absent if there are none.",
            },
        },
        "required": ["status", "grant", "rows"],
    })
}

pub(super) fn discharge_output() -> Value {
    let any = ["object", "array", "string", "integer", "boolean", "null"]
        .map(|r#type| json!({ "type": r#type }));
    let reasons: Vec<&str> = REASONS.iter().map(|reason| reason.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "outcome": words(
                &["discharged", "refused", "uncertain", "expired"],
                "How the attempt ended.",
            ),
            "reason": words(&reasons, "Why."),
            "object": of_object(),
            "grant_id": text_or_null("The grant that it used or would have used."),
            "discharge_id": text_or_null("The attempt; null if not even a row could be written."),
            "detail": text("More, in words for the person."),
            "receipt": {
                "anyOf": any,
                "description": "The executor's evidence, of any form; null if none.",
            },
            "replayed": {
                "type": "boolean",
                "description": "Whether this is the outcome of an earlier call with the same key.",
            },
        },
        "required": [
            "outcome", "reason", "object", "grant_id", "discharge_id", "detail", "receipt", "replayed",
        ],
    })
}

pub(super) fn tail_output() -> Value {
    json!({
        "type": "object",
        "properties": { "rows": rows("The rows, the newest last.") },
        "required": ["rows"],
    })
}
