"""A second reading of a ledger, after docs/format.md and with nothing of granted's: form, chain, refs, and what
may follow what. Each thing that is wrong is a line of text that begins with one of the words in WRONG."""

import hashlib
import json

WRONG = ("form", "chain", "refs", "append", "grant", "attempt", "torn")
REFUSED_AFTER = {"executor_declined", "executor_failed", "result_failed", "unknown_executor"}
UNCERTAIN = {"executor_uncertain", "timeout", "no_result_row", "not_confirmed", "receipt_mismatch", "interrupted"}
STAYS_HUMAN = {"hire", "negotiate", "sign", "pay", "first_contact"}


def canonical(value) -> bytes:
    """RFC 8785, for the rows of a ledger: integers only, names of keys in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


class Grant:
    def __init__(self, document: dict):
        self.document = document
        self.running = None
        self.spent = self.revoked = self.expired = self.closed = False
        self.attempts = []


class Attempt:
    def __init__(self, row: dict, end: int):
        self.intent, self.end_of_intent = row, end
        self.results, self.outcome, self.late, self.resolved = [], None, 0, 0
        self.outcomes, self.outcome_seq = 0, None

    def reason(self):
        return self.outcome and self.outcome["reason"]


class Ledger:
    """A ledger's bytes, read and judged."""

    def __init__(self, data: bytes, torn=lambda name: None):
        self.wrong, self.rows, self.lines = [], [], []
        self.grants, self.attempts, self.turned = {}, {}, {}
        self.torn = torn
        self.last, self.prev, self.at, self.of = {}, "0" * 64, "", None
        end = 0
        lines = data.split(b"\n")
        for line in lines[:-1]:
            end += len(line) + 1
            self.line(line, end)
        # Whoever judges a ledger at rest has had its unfinished end moved aside before.
        if lines[-1] or self.of:
            self.bad("append", "the last one is unfinished")

    def bad(self, word: str, what: str) -> None:
        assert word in WRONG
        self.wrong.append(f"{word}: line {len(self.rows)}: {what}")

    def line(self, line: bytes, end: int) -> None:
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        self.rows.append(row)
        self.lines.append(digest(line))
        if not isinstance(row, dict) or canonical(row) != line:
            return self.bad("form", "it is no row in canonical form")
        try:
            self.judge(row, line, end)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            self.bad("form", "a field is missing or of another type")

    def judge(self, row: dict, line: bytes, end: int) -> None:
        if row["v"] != 1 or row["seq"] != len(self.rows):
            self.bad("chain", f"it says that it is line {row['seq']}")
        if row["prev"] != self.prev:
            self.bad("chain", "it does not follow from the line before")
        self.prev = digest(line)
        if row["at"] < self.at and row["kind"] != "ledger.accepted":
            self.bad("chain", "its time is before that of the line before")
        self.at = row["at"]
        self.parts(row)
        for subject, seen in row["refs"]:
            if self.last.get(subject, 0) != seen:
                self.bad("refs", f"{subject} was moved by {self.last.get(subject, 0)}, not {seen}")
            self.last[subject] = row["seq"]
        self.fold(row, end)

    def parts(self, row: dict) -> None:
        i, n = row.get("of", [1, 1])
        if (i - 1, n) != (self.of or (0, n)):
            self.bad("append", f"it is part {i} of {n}")
        self.of = (i, n) if i < n else None

    def fold(self, row: dict, end: int) -> None:
        kind, body = row["kind"], row["body"]
        owner = row["refs"][0][0].partition(":")[2] if row["refs"] else ""
        moved = [subject.partition(":")[0] for subject, _ in row["refs"]]
        expected = {
            "ledger.opened": [[]],
            "ledger.torn": [[]],
            "decision.minted": [["grant", "object"]],
            "decision.intent": [["discharge", "grant"]],
            "decision.result": [["discharge"]],
            "decision.late_result": [["discharge"]],
            "decision.outcome": [["discharge"], ["discharge", "grant"]],
            "decision.resolved": [["discharge"]],
            "decision.revoked": [["grant"]],
            "decision.expired": [["grant"]],
        }
        if moved not in expected.get(kind, []):
            return self.bad("form", f"a row of kind {kind} that moves {moved}")
        if (kind == "ledger.opened") != (row["seq"] == 1):
            self.bad("form", "a book is opened by its first row")
        name = kind.partition(".")[2]
        if name == "torn":
            return self.moved_aside(body)
        if name in ("minted", "intent", "revoked", "expired"):
            return getattr(self, name)(owner, row, end)
        if name != "opened":
            self.of_attempt(name, owner, row)

    def moved_aside(self, body: dict) -> None:
        kept = self.torn(body["file"])
        if kept is None or (len(kept), digest(kept)) != (body["bytes"], body["sha256"]):
            self.bad("torn", f"what was moved to {body['file']} is not there")

    def minted(self, id: str, row: dict, _) -> None:
        document = row["body"]["grant"]
        if id in self.grants or document["consumed"] or document["id"] != id:
            self.bad("grant", "minted twice, or not as a new one")
        self.grants[id] = Grant(document)

    def intent(self, id: str, row: dict, end: int) -> None:
        grant_id = row["refs"][1][0].partition(":")[2]
        grant, attempt = self.grants.get(grant_id), Attempt(row, end)
        attempt.grant, attempt.id = grant_id, id
        if id in self.attempts or id in self.turned:
            self.bad("attempt", f"{id} claims twice")
        self.attempts[id] = attempt
        if grant is None:
            return self.bad("grant", f"{grant_id} is claimed and was never minted")
        if grant.running:
            self.bad("grant", f"{grant_id} is claimed while {grant.running} runs")
        if grant.spent or grant.revoked or grant.expired or grant.closed:
            self.bad("grant", f"{grant_id} is claimed after it was spent, revoked or over")
        document, body = grant.document, row["body"]
        # Without their `Z`: the shorter of two fractions comes first.
        at, opens, closes = (
            time and time.rstrip("Z") for time in (row["at"], document["not_before"], document["not_after"])
        )
        if not (opens or "") <= at < closes:
            self.bad("grant", f"{grant_id} is claimed outside of its window")
        allowed, action = document["allowed_actions"], body.get("action")
        fits = action in allowed if allowed else action not in STAYS_HUMAN
        fits = fits and document["object"] == body["object"]
        fits = fits and document.get("executor") in (None, body["executor"]["name"])
        fits = fits and document.get("agent") in (None, row["by"].get("agent"))
        if not fits:
            self.bad("grant", f"{grant_id} does not cover what {id} does")
        grant.running = id
        grant.attempts.append(id)

    def revoked(self, id: str, _, __) -> None:
        grant = self.grants.get(id)
        if grant is None or grant.spent or grant.revoked:
            return self.bad("grant", f"{id} is revoked, but there was nothing to revoke")
        grant.revoked = True

    def expired(self, id: str, row: dict, _) -> None:
        grant = self.grants.get(id)
        if grant is None or grant.spent or grant.revoked or grant.running or grant.expired:
            return self.bad("grant", f"{id} expires, but it was over or runs")
        uses = sum(self.attempts[a].reason() == "confirmed" for a in grant.attempts)
        if row["at"].rstrip("Z") < grant.document["not_after"].rstrip("Z") or row["body"]["uses"] != uses:
            self.bad("grant", f"{id} expires too early, or was used otherwise than it says")
        grant.expired = True

    def of_attempt(self, name: str, id: str, row: dict) -> None:
        attempt, body = self.attempts.get(id), row["body"]
        if name == "outcome" and len(row["refs"]) == 1:
            if attempt or id in self.turned:
                self.bad("attempt", f"{id} is turned away after it claimed or ended")
            self.turned[id] = body
            return
        if attempt is None:
            return self.bad("attempt", f"{id} has a {name} and no claim")
        if name == "result":
            order = [result["from"] for result in attempt.results + [body]]
            if attempt.outcome or order not in (["executor"], ["wrapper"], ["executor", "wrapper"]):
                self.bad("attempt", f"{id} has a result too many or too late")
            attempt.results.append(body)
        elif name == "late_result":
            attempt.late += 1
            if not attempt.outcome or attempt.late > 1:
                self.bad("attempt", f"{id} has a late result too many or too early")
        elif name == "resolved":
            attempt.resolved += 1
            if attempt.reason() not in UNCERTAIN or attempt.resolved > 1:
                self.bad("attempt", f"{id} is resolved twice, or was not uncertain")
        else:
            self.ended(attempt, row)

    def ended(self, attempt: Attempt, row: dict) -> None:
        grant, reason = self.grants.get(attempt.grant), row["body"]["reason"]
        attempt.outcomes += 1
        if attempt.outcomes > 1:
            return self.bad("attempt", f"{attempt.id} has a second outcome")
        attempt.outcome, attempt.outcome_seq = row["body"], row["seq"]
        expected = "discharged" if reason == "confirmed" else "uncertain" if reason in UNCERTAIN else "refused"
        if row["body"]["outcome"] != expected or (expected == "refused" and reason not in REFUSED_AFTER):
            self.bad("attempt", f"{attempt.id} ended as no claim ends")
        ok = [result["ok"] for result in attempt.results]
        if reason == "confirmed" and not (ok and all(ok)):
            self.bad("attempt", f"{attempt.id} is confirmed by no result")
        if grant is None or grant.running != attempt.id or row["refs"][1][0] != f"grant:{attempt.grant}":
            return self.bad("grant", f"{attempt.id} ends a claim that does not run")
        grant.running = None
        session = grant.document["decision"] == "APPROVE_SESSION"
        if reason != "executor_declined" and not (session and reason == "confirmed"):
            grant.spent = True
