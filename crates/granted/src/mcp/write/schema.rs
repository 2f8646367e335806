//! The schemas of what the tools of writes take and return.

use granted_core::write::brief::{Caps, Dispatch};
use granted_core::write::path::MAX_PATH;
use granted_core::write::{Refusal, brief::AgentEntry};
use serde_json::{Value, json};

use super::super::schema::{name, text, words};

fn path(description: &str) -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_PATH,
        "description": description,
        "examples": ["src/app.py"],
    })
}

const PATH: &str = "The file, relative to the project's root, e.g. src/app.py.";

fn base(description: &str) -> Value {
    json!({
        "type": "string",
        "pattern": "^([0-9a-f]{64}|absent)$",
        "description": description,
        "examples": ["absent"],
    })
}

const BASE: &str = "The base_sha256 that read_file_hashed gave for this file: 64 hexadecimal digits, or \
                    `absent` for a file that is not there yet.";

fn encoding() -> Value {
    json!({
        "type": "string",
        "enum": ["utf-8", "base64"],
        "default": "utf-8",
        "description": "How `content` is written: as it is, or base 64 for bytes that are no text.",
    })
}

const CONTENT: &str = "The file's whole new content, never a part or a diff.";

/// What every tool that files a change set takes.
fn filing(own: &[(&str, Value)], required: &[&str], entry: &AgentEntry) -> Value {
    let mut properties = serde_json::Map::new();
    properties.extend(own.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let rationale = json!({
        "type": "string",
        "minLength": 1,
        "maxLength": 1024,
        "description": "Why, for the person who reviews it, in one or two sentences.",
        "examples": ["Fixes the off-by-one in the page count."],
    });
    let gates = json!({
        "type": "array",
        "items": name("A gate's name.", &["lint"]),
        "maxItems": 32,
        "uniqueItems": true,
        "description": "Checks of the brief that should run too; those that the brief demands run anyway.",
    });
    let dispatch = json!({
        "type": "string",
        "maxLength": 64,
        "description": "The nonce that the person gave you with this task: 32 hexadecimal digits.",
    });
    let key = name(
        "Your own name for this one change set, new for each, e.g. fix-7-1. Repeat it to repeat a call \
         safely; with another change set it is refused.",
        &["fix-7-1"],
    );
    for (name, value) in
        [("rationale", rationale), ("gates", gates), ("dispatch", dispatch), ("key", key)]
    {
        properties.insert(name.to_owned(), value);
    }
    let mut required: Vec<&str> = [required, &["rationale"]].concat();
    if entry.dispatch == Dispatch::Required {
        required.push("dispatch");
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(super) fn read_input() -> Value {
    json!({
        "type": "object",
        "properties": { "path": path(PATH) },
        "required": ["path"],
        "additionalProperties": false,
    })
}

pub(super) fn write_input(entry: &AgentEntry) -> Value {
    let own = [
        ("path", path(PATH)),
        ("content", text(CONTENT)),
        ("encoding", encoding()),
        ("base_sha256", base(BASE)),
    ];
    filing(&own, &["path", "content", "base_sha256"], entry)
}

pub(super) fn delete_input(entry: &AgentEntry) -> Value {
    let own = [("path", path(PATH)), ("base_sha256", base(BASE))];
    filing(&own, &["path", "base_sha256"], entry)
}

pub(super) fn propose_input(entry: &AgentEntry, caps: &Caps) -> Value {
    let content = json!({
        "anyOf": [{ "type": "string" }, { "type": "null" }],
        "description": format!("{CONTENT} null deletes the file."),
    });
    let changes = json!({
        "type": "array",
        "minItems": 1,
        "maxItems": caps.files,
        "description": "The files, each once. All are written or none.",
        "items": {
            "type": "object",
            "properties": {
                "path": path(PATH),
                "content": content,
                "encoding": encoding(),
                "base_sha256": base(BASE),
            },
            "required": ["path", "content", "base_sha256"],
            "additionalProperties": false,
        },
    });
    filing(&[("changes", changes)], &["changes"], entry)
}

pub(super) fn status_input() -> Value {
    json!({
        "type": "object",
        "properties": { "request_id": request_id("The request_id of an earlier answer.") },
        "required": ["request_id"],
        "additionalProperties": false,
    })
}

fn request_id(description: &str) -> Value {
    json!({
        "type": "string",
        "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$",
        "description": description,
        "examples": ["01J8ZC3V9Q6W5T4R3E2W1Q0PAS"],
    })
}

fn reason() -> Value {
    let reasons: Vec<&str> = Refusal::ALL.iter().map(|reason| reason.as_str()).collect();
    words(&reasons, "Why it was refused.")
}

pub(super) fn read_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": words(&["read", "refused"], "Whether it was read; a file that is not there is read."),
            "reason": reason(),
            "detail": text("More, in words."),
            "path": text("The file, after links."),
            "exists": { "type": "boolean", "description": "Whether it is there." },
            "base_sha256": base("What a change of the file is based on."),
            "bytes": { "type": "integer", "minimum": 0, "description": "Its size." },
            "encoding": words(&["utf-8", "base64"], "How `content` is written."),
            "content": text("All of it."),
        },
        "required": ["status"],
    })
}

pub(super) fn answer() -> Value {
    let statuses = [
        "staged",
        "applied",
        "applying",
        "undone",
        "unresolved",
        "rejected",
        "expired",
        "refused",
        "unknown",
        "none",
    ];
    json!({
        "type": "object",
        "properties": {
            "status": words(&statuses, "What became of the change set."),
            "request_id": {
                "anyOf": [{ "type": "string" }, { "type": "null" }],
                "description": "The change set; null if not even a row could be written.",
            },
            "reason": reason(),
            "detail": text("More, in words."),
            "current": {
                "type": "object",
                "properties": {
                    "path": text("The file."),
                    "base_sha256": base("What it is now."),
                },
                "required": ["path", "base_sha256"],
                "description": "The file that is not what the change was based on.",
            },
            "direct_grant": text("The person's grant under which it was written at once."),
            "not_direct": text("Why it was not written at once, where the brief asks for that."),
            "expires": text("Until when the person can approve it, in UTC."),
            "digest": text("What the person approves: the digest of the whole change set."),
            "files": {
                "type": "array",
                "description": "The files.",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": text("The file, after links."),
                        "base_sha256": base("What it was."),
                        "sha256": base("What it is to be."),
                        "bytes": { "type": "integer", "minimum": 0, "description": "Its new size." },
                    },
                    "required": ["path", "base_sha256", "sha256"],
                },
            },
            "gates": {
                "type": "array",
                "description": "The checks that passed.",
                "items": {
                    "type": "object",
                    "properties": {
                        "gate": text("Its name."),
                        "path": text("The file that it looked at; absent if it looked at all."),
                        "confined": words(&["landlock", "none"], "What confined it."),
                        "duration_ms": {
                            "type": "integer", "minimum": 0, "description": "How long it took.",
                        },
                    },
                    "required": ["gate", "confined", "duration_ms"],
                },
            },
            "replayed": {
                "type": "boolean",
                "description": "Whether this is how an earlier call with the same key stands now.",
            },
        },
        "required": ["status", "request_id", "replayed"],
    })
}
