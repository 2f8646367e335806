//! What an agent reads: the instructions, and the three tools with their descriptions.

use rmcp::model::{Tool, ToolAnnotations};

use super::schema;
use super::schema::{DISCHARGE, STATUS, TAIL};

/// The protocol in ten lines.
pub(super) const INSTRUCTIONS: &str = "\
A person decides in advance: they mint a grant for one object, with a deadline. You carry it out, once.
1. Call grant_status {type, id}. Only `live` can be discharged; read grant.scope, not_scope and allowed_actions.
2. Call grant_discharge {type, id, executor, action, key} with a fresh `key` of your own for each intended act.
3. Read `outcome`, then `reason`. Every attempt is recorded in a ledger that the person reads.
4. discharged: it is done and confirmed. Report it once and stop.
5. refused: read `reason`. Retry only not_yet, claim_lost, executor_declined, ledger_unwritable and clock_behind, and later.
6. expired, or any other refusal: tell the person once what `detail` says and ask them to mint again. Then stop.
7. uncertain: it may have happened. Never repeat it, by any route; tell the person, who settles it.
8. Lost the answer? Repeat the call with the same `key`: you get the first outcome, and nothing runs twice.
9. You cannot mint, extend or approve here, and a person's word in a chat is no grant: they run `granted mint`.";

/// What `grant_status` takes.
pub(super) const STATUS_TAKES: &[&str] = &["type", "id"];
/// What `grant_discharge` takes.
pub(super) const DISCHARGE_TAKES: &[&str] = &["type", "id", "executor", "action", "key"];
/// What `ledger_tail` takes.
pub(super) const TAIL_TAKES: &[&str] = &["n", "object_id"];

const ABOUT_STATUS: &str = "\
Look up whether one object may be discharged right now, and what its grant says. \
Use it before grant_discharge, to learn the status, the allowed actions and the deadline, and afterwards to see how an \
attempt ended, also while one still runs. To act, use grant_discharge; for refused attempts or several objects, use ledger_tail.

Reads only: it claims nothing, writes nothing, and may be called at any time as often as needed. An object that never \
had a grant is no error: its status is `none`.

Returns `status`, `grant` (the person's words in scope and not_scope, allowed_actions, not_before, not_after, and the receipt \
once it is used; null if none was ever minted) and `rows` (the last 20 ledger rows of this grant, oldest first).

What to do next: live: grant_discharge may be called, with one of allowed_actions if there are any. not_yet: come back after \
grant.not_before. consumed: it was used, or is in use if grant.receipt.outcome is `pending`; report it, do not retry. \
none, expired, revoked or unreadable: it cannot be discharged; tell the person once, only they can mint again.";

const ABOUT_DISCHARGE: &str = "\
Carry out, once, the decision that a person recorded for one object, by running an executor that the host registered. \
Use it when the act is wanted and grant_status says `live`. Only to look, use grant_status; to read what happened, use ledger_tail. \
It cannot mint or widen a grant, and cannot run a command of yours.

Changes the world: it claims the grant, runs the executor (seconds to hours; progress is sent if asked for), and records every \
attempt, refused ones too. After the claim a single-use grant is spent however the executor ends, unless it declines. \
Cancelling stops the executor and leaves the outcome uncertain.

Returns `outcome` and `reason`, then object, grant_id, discharge_id, `detail` in words, `receipt` (the executor's evidence) and \
`replayed`. An outcome other than `discharged` is a normal result, not an error.

What to do next: discharged: done and confirmed; report it once and stop. refused with not_yet, claim_lost, executor_declined, \
ledger_unwritable or clock_behind: nothing was done; the same call may be made later. refused with action_not_allowed, \
unknown_executor or invalid_request: correct the argument that `detail` names. Any other refused, and expired: do not retry; tell the \
person once and ask them to mint again. uncertain: it may have happened; never retry; tell the person, who settles it.

Repeating a call with the same `key` is safe: it returns the first outcome, marked replayed, and runs nothing. Without a `key` a \
repeated call is a new attempt.";

const ABOUT_TAIL: &str = "\
Read the last rows of the ledger: who was granted what, which attempts were made, and how each ended. \
Use it to find refused attempts, to follow several objects, or to check what was recorded. Whether one object can be discharged \
now is answered by grant_status, in one word; to act, use grant_discharge.

Reads only: it writes nothing and may be called at any time. An `object_id` that no row is about is no error: `rows` is empty. \
An error result means that the ledger cannot be read; tell the person.

Returns `rows`, the newest last, each as it lies in the ledger: seq, at (UTC), kind, by (agent, door, host, uid), refs and \
body. The kinds that matter: decision.minted (a grant), decision.intent (an attempt claimed it), decision.result (what the executor \
left), decision.outcome (how the attempt ended: outcome, reason, detail), decision.expired, decision.revoked, decision.resolved.

With `object_id` the last `n` rows about that object (of any type) and its grants are returned, else the last `n` of all. \
An intent without an outcome is an attempt that still runs or was cut off: do not repeat it.";

/// The tools.
pub(super) fn all() -> Vec<Tool> {
    let reads = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false)
    };
    // Idempotent only with a key, so the hint is false; an executor reaches wherever it likes.
    let acts = ToolAnnotations::with_title("Discharge a grant")
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    vec![
        Tool::new(STATUS, ABOUT_STATUS, schema::object(schema::status_input()))
            .with_title("Look up a grant")
            .with_raw_output_schema(schema::object(schema::status_output()))
            .with_annotations(reads("Look up a grant")),
        Tool::new(DISCHARGE, ABOUT_DISCHARGE, schema::object(schema::discharge_input()))
            .with_title("Discharge a grant")
            .with_raw_output_schema(schema::object(schema::discharge_output()))
            .with_annotations(acts),
        Tool::new(TAIL, ABOUT_TAIL, schema::object(schema::tail_input()))
            .with_title("Read the ledger")
            .with_raw_output_schema(schema::object(schema::tail_output()))
            .with_annotations(reads("Read the ledger")),
    ]
}
