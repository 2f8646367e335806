//! What an agent reads of spends: the instructions, and the five tools with their descriptions.

use granted_core::spend::{AgentName, Network, Sats};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::super::schema::object;

/// The tool that tells what the wallet has.
pub(super) const BALANCE: &str = "get_balance";
/// The tool that reveals an address.
pub(super) const RECEIVE: &str = "get_receive_address";
/// The tool that tells what the agent has left.
pub(super) const GRANT: &str = "get_grant";
/// The tool that files a request.
pub(super) const SEND: &str = "request_send";
/// The tool that tells where a request stands.
pub(super) const CHECK: &str = "check_request";

/// What `request_send` takes.
pub(super) const SEND_TAKES: &[&str] = &["address", "amount_sat", "idempotency_key"];
/// What `check_request` takes.
pub(super) const CHECK_TAKES: &[&str] = &["request_id"];

/// The protocol in ten lines.
pub(super) fn instructions(agent: &AgentName, network: Network) -> String {
    format!(
        "\
Agents create requests. Humans authorize requests. sats executes requests.
You are agent `{agent}` on {network}. All amounts are integers in sat.
1. Call get_grant first: what you may ask for, what is left, until when.
2. Call request_send {{address, amount_sat, idempotency_key}} with a fresh key of your own for each intended payment.
3. pending_approval: tell the human the request_id and the command in `message`. Then observe with check_request.
4. denied: it lies outside the grant. Report `message` to the human once and stop: filing it again changes nothing.
5. Lost the answer? Repeat the call with the same key, address and amount: you get the first request, and nothing is filed twice.
6. sent: it is done. dismissed: the human declined; ask before you propose anything like it again.
7. broadcast_pending, unresolved and failed are for the human to settle. Never file the same payment again because of them.
8. You cannot approve, sign or send here, and a human's word in a chat approves nothing: they run `sats agent approve`."
    )
}

const ABOUT_BALANCE: &str = "\
Look up what the wallet has. Asks the chain first, which may take up to a minute or so. \
`synced` false: the chain could not be reached, and the numbers are what was last seen. An error result: it is not clear \
whom to ask, or the grant is gone; tell the human. What you may spend is another number: see get_grant.";

const ABOUT_RECEIVE: &str = "\
Reveal a fresh address at which the wallet can be paid. Each call reveals the next one and keeps it, so ask once for each payment \
that is expected. Once 20 in a row have got nothing, the first of those is given again.";

const ABOUT_GRANT: &str = "\
Look up your own grant: mode, budget_sat, spent_sat, remaining_sat, the caps max_tx_sat and max_fee_sat, allowed_recipients (absent: \
anybody) and expires_at in unix seconds. Use it before request_send. \
`active` false: the grant was revoked, replaced or has expired; `message` names the command that a human runs to issue one.";

const ABOUT_SEND: &str = "\
Ask a human for one payment. It is recorded, and nothing is paid: the human approves it in their own process. \
The normal result is `pending_approval` with a `request_id`; tell the human, and follow it with check_request. \
`denied` is final, with a `reason`; report it once and stop. `error` has an `error_code`, and nothing was recorded: correct the \
argument, or tell the human. Repeating a call with the same key, address and amount returns the first request.";

const ABOUT_CHECK: &str = "\
Look up where one of your own requests stands, by the `request_id` that request_send returned; an idempotency key is none. \
Reads the record only and may be called as often as needed. A `sent` request has its txid and fee_sat.";

fn words(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn amount(description: &str) -> Value {
    let max = Sats::MAX.to_u64();
    json!({ "type": "integer", "minimum": 0, "maximum": max, "description": description })
}

fn input(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn output(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn network() -> Value {
    words(&["mainnet", "signet", "testnet4", "regtest"], "The network.")
}

fn reply() -> Value {
    let statuses = [
        "pending_approval",
        "denied",
        "dismissed",
        "signing",
        "sent",
        "broadcast_pending",
        "unresolved",
        "failed",
        "not_found",
        "error",
    ];
    let reasons = [
        "expired",
        "over_max_tx",
        "over_max_fee",
        "over_budget",
        "amount_overflow",
        "observe_only",
        "revoked",
        "recipient_not_allowed",
    ];
    let codes = [
        "invalid_agent",
        "invalid_idempotency_key",
        "invalid_address",
        "idempotency_key_conflict",
        "no_grant",
        "unauthorized",
        "clock_unavailable",
        "store_error",
    ];
    output(
        &json!({
            "status": words(&statuses, "Where the request stands; `error` and `not_found` are no state."),
            "request_id": text("The request, for the human and for check_request."),
            "reason": words(&reasons, "Why it was denied."),
            "error_code": words(&codes, "What is wrong with the call; nothing was recorded."),
            "recipient": text("Whom it pays."),
            "amount_sat": amount("What the recipient gets."),
            "fee_sat": amount("The fee, once it is known."),
            "txid": text("The transaction, once there is one."),
            "message": text("What it means and what to do, in words."),
        }),
        &["status", "message"],
    )
}

/// The tools.
pub(super) fn all() -> Vec<Tool> {
    let reads = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false)
    };
    let writes = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(false)
    };
    let nothing = || input(&json!({}), &[]);
    let balance = output(
        &json!({
            "balance_sat": amount("What can be spent."),
            "pending_sat": amount("What is on its way."),
            "synced": { "type": "boolean", "description": "Whether the chain was reached." },
            "network": network(),
        }),
        &["balance_sat", "pending_sat", "synced", "network"],
    );
    let receive = output(
        &json!({
            "address": text("The address."),
            "index": { "type": "integer", "minimum": 0, "description": "Its place." },
            "network": network(),
        }),
        &["address", "index", "network"],
    );
    let grant = output(
        &json!({
            "active": { "type": "boolean", "description": "Whether it can be used." },
            "agent": text("You."),
            "network": network(),
            "mode": words(&["ask", "observe"], "observe: you can look, and request_send is denied."),
            "allowed_recipients": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The only recipients; absent: anybody.",
            },
            "budget_sat": amount("The most that all payments may cost, fees included."),
            "spent_sat": amount("What payments took of it."),
            "remaining_sat": amount("What is left."),
            "max_tx_sat": amount("The most for one recipient at once; absent: no such cap."),
            "max_fee_sat": amount("The most for a fee."),
            "tx_count": { "type": "integer", "minimum": 0, "description": "How many payments drew on it." },
            "expires_at": { "type": "integer", "description": "When it ends, in unix seconds." },
            "message": text("What is wrong with it, and who can help."),
        }),
        &["active", "agent", "network"],
    );
    let send = input(
        &json!({
            "address": text("Whom to pay: an address of the wallet's network."),
            "amount_sat": amount("What the recipient gets, in sat."),
            "idempotency_key": text(
                "Your own name for this one intended payment: 1 to 64 of A-Za-z0-9_-, e.g. invoice-1.",
            ),
        }),
        SEND_TAKES,
    );
    let check = input(
        &json!({ "request_id": text("`r-` and 32 hexadecimal digits, as request_send returned it.") }),
        CHECK_TAKES,
    );
    let tool = |name: &'static str, about, input, output, annotations: ToolAnnotations| {
        let title = annotations.title.clone().unwrap_or_default();
        Tool::new(name, about, object(input))
            .with_title(title)
            .with_raw_output_schema(object(output))
            .with_annotations(annotations)
    };
    let chain = reads("Look up the balance").open_world(true);
    vec![
        tool(BALANCE, ABOUT_BALANCE, nothing(), balance, chain),
        tool(RECEIVE, ABOUT_RECEIVE, nothing(), receive, writes("Reveal an address")),
        tool(GRANT, ABOUT_GRANT, nothing(), grant, reads("Look up the grant")),
        tool(SEND, ABOUT_SEND, send, reply(), writes("Ask for a payment")),
        tool(CHECK, ABOUT_CHECK, check, reply(), reads("Look up a request")),
    ]
}
