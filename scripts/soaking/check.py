"""Whether anything was lost or doubled: check.py FOLDER, after the soak in it has ended.

Three witnesses are held against each other: the ledger, what its executors wrote down themselves (`runs`), and what
the callers were told (`told/`). Exit code 1 if they disagree."""

import json
import pathlib
import sys
from collections import Counter, defaultdict

from ledger import UNCERTAIN, Ledger

WRONG = ("lost", "doubled", "open", "told")


class Run:
    """What an executor wrote down of one act."""

    def __init__(self, began: int, size: int):
        self.began, self.size, self.did, self.ended, self.status = began, size, 0, None, None


def runs(text: str, wrong: list) -> dict:
    """The acts by attempt, from the executors' own lines."""
    found = {}
    for number, line in enumerate(text.splitlines()):
        id, size, what, *status = line.split(" ")
        if what == "begin":
            if id in found:
                wrong.append(f"doubled: attempt {id} ran twice")
            found[id] = Run(number, int(size))
        elif id not in found:
            wrong.append(f"lost: attempt {id} did something before it began")
        elif what == "did":
            found[id].did += 1
        else:
            found[id].ended, found[id].status = number, int(status[0])
    return found


def acts(ledger: Ledger, found: dict, wrong: list) -> None:
    """Every act has its claim, and no grant was acted on twice."""
    by_grant = defaultdict(list)
    for id, run in found.items():
        attempt = ledger.attempts.get(id)
        if attempt is None:
            wrong.append(f"lost: {id} ran, and the ledger has no claim of it")
        elif attempt.end_of_intent > run.size:
            wrong.append(f"lost: {id} ran before its claim was in the ledger")
        else:
            by_grant[attempt.grant].append((run.began, id, run, attempt))
    for grant, all in by_grant.items():
        session = grant in ledger.grants and ledger.grants[grant].document["decision"] == "APPROVE_SESSION"
        if sum(run.did for _, _, run, _ in all) > 1 and not session:
            wrong.append(f"doubled: {grant} is for one use and was used more than once")
        all.sort(key=lambda one: one[0])
        for (_, first, run, attempt), (began, second, _, _) in zip(all, all[1:]):
            if run.ended is None or run.ended > began:
                wrong.append(f"doubled: {second} ran under {grant} while {first} did")
            goes_on = {"executor_declined"} | ({"confirmed"} if session else set())
            if attempt.reason() not in goes_on:
                wrong.append(f"doubled: {second} ran under {grant}, which {first} had spent")
    for id, attempt in ledger.attempts.items():
        run, reason = found.get(id), attempt.reason()
        if reason == "confirmed" and not (run and run.did == 1 and run.status == 0):
            wrong.append(f"lost: {id} is confirmed, and its executor did not do it")
        if reason == "executor_declined" and run and run.did:
            wrong.append(f"doubled: {id} declined and did it")


def keys(ledger: Ledger, wrong: list) -> None:
    """A key that runs, or ended discharged or uncertain, names no other attempt on its object."""
    named = defaultdict(list)
    for attempt in ledger.attempts.values():
        body = attempt.intent["body"]
        if "key" in body:
            named[body["object"]["type"], body["object"]["id"], body["key"]].append(attempt)
    for key, all in named.items():
        for at, attempt in enumerate(all):
            for earlier in all[:at]:
                runs = not earlier.outcome_seq or earlier.outcome_seq > attempt.intent["seq"]
                binds = earlier.reason() in UNCERTAIN | {"confirmed"}
                same = earlier.grant == attempt.grant and earlier.reason() != "executor_declined"
                if runs or binds or same:
                    wrong.append(f"doubled: the key of {earlier.id} names {attempt.id} too, {'/'.join(key)}")


def ends(ledger: Ledger, wrong: list) -> None:
    for id, attempt in ledger.attempts.items():
        if attempt.outcomes != 1:
            wrong.append(f"open: the claim of {id} has {attempt.outcomes} outcomes")


def told(ledger: Ledger, lines, wrong: list) -> None:
    """Whatever a caller saw is in the ledger."""
    for line in lines:
        what, *rest = json.loads(line)
        if what == "row":
            seq, sha256 = rest
            if len(ledger.lines) < seq or ledger.lines[seq - 1] != sha256:
                wrong.append(f"lost: row {seq} was seen by a caller and is not there")
        elif what == "minted":
            if rest[0] not in ledger.grants:
                wrong.append(f"lost: grant {rest[0]} was minted, and is not there")
        elif what == "revoked":
            if rest[0] not in ledger.grants or not ledger.grants[rest[0]].revoked:
                wrong.append(f"lost: grant {rest[0]} was revoked, and no row says so")
        elif what == "resolved":
            if rest[0] not in ledger.attempts or not ledger.attempts[rest[0]].resolved:
                wrong.append(f"lost: attempt {rest[0]} was resolved, and no row says so")
        elif what == "attempt":
            answer(ledger, *rest, wrong)
        elif what == "wrong":
            wrong.append(f"told: {rest[0]}")


def answer(ledger: Ledger, id: str, outcome: str, reason: str, wrong: list) -> None:
    """The answer to a discharge is what the ledger says of it."""
    attempt = ledger.attempts.get(id)
    row = attempt.outcome if attempt else ledger.turned.get(id)
    if row is None:
        # A refusal that could not be recorded says so. Nothing ran.
        if reason != "ledger_unwritable" or attempt:
            wrong.append(f"lost: attempt {id} was told to be {outcome}: {reason}, and has no outcome")
    elif (row["outcome"], row["reason"]) != (outcome, reason):
        # Where its result could not be recorded, another process finds it cut off.
        if (reason, row["reason"]) != ("no_result_row", "interrupted"):
            wrong.append(f"told: attempt {id} was told to be {reason} and is {row['reason']}")


def check(data: bytes, log: str, lines, torn=lambda name: None) -> tuple:
    """The ledger, the runs, and what is wrong, one line each."""
    ledger = Ledger(data, torn)
    wrong = list(ledger.wrong)
    found = runs(log, wrong)
    acts(ledger, found, wrong)
    keys(ledger, wrong)
    ends(ledger, wrong)
    told(ledger, lines, wrong)
    return ledger, found, wrong


def main(folder: pathlib.Path) -> int:
    def torn(name: str):
        path = folder / "home" / name
        return path.read_bytes() if path.is_file() else None

    lines = [line for path in sorted((folder / "told").iterdir()) for line in path.read_text().splitlines()]
    log = folder / "runs"
    data = (folder / "home" / "ledger.jsonl").read_bytes()
    ledger, found, wrong = check(data, log.read_text() if log.exists() else "", lines, torn)
    kinds = Counter(json.loads(line)[0] for line in lines)
    outcomes = Counter(attempt.reason() for attempt in ledger.attempts.values())
    outcomes.update(body["reason"] for body in ledger.turned.values())
    rows = Counter(row["kind"] for row in ledger.rows if row)
    print(f"rows {len(ledger.rows)}, bytes {len(data)}, grants {len(ledger.grants)}, claims {len(ledger.attempts)}")
    print(
        f"runs {len(found)}, with an effect {sum(run.did for run in found.values())}, cut off {sum(run.ended is None for run in found.values())}"
    )
    print("kinds: " + ", ".join(f"{kind} {count}" for kind, count in sorted(rows.items())))
    print("outcomes: " + ", ".join(f"{reason} {count}" for reason, count in outcomes.most_common()))
    print("callers were told: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    for what in wrong[:50]:
        print(f"WRONG {what}")
    if len(wrong) > 50:
        print(f"WRONG and {len(wrong) - 50} more")
    lost = sum(what.startswith("lost") for what in wrong)
    doubled = sum(what.startswith("doubled") for what in wrong)
    print(f"{lost} lost, {doubled} doubled, {len(wrong) - lost - doubled} otherwise wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
