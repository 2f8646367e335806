"""That check.py can fail: forges a ledger, an executors' log and callers' notes, each with one thing wrong, and has it
find each. Exit code 1 if it does not, or if it finds something where nothing is wrong."""

import copy
import json
import sys

from check import check
from ledger import canonical, digest

OBJECT = {"id": "1", "type": "report"}


def minted(id: str, decision: str = "APPROVE_ONCE", **terms) -> tuple:
    document = {
        "allowed_actions": ["send"],
        "consumed": False,
        "decision": decision,
        "id": id,
        "not_after": "2026-10-01T00:00:00Z",
        "not_before": None,
        "object": OBJECT,
        **terms,
    }
    return "decision.minted", {"grant": document}, [f"grant:{id}", "object:report/1"]


def intent(id: str, grant: str, **more) -> tuple:
    body = {"action": "send", "executor": {"name": "done"}, "object": OBJECT, **more}
    return "decision.intent", body, [f"discharge:{id}", f"grant:{grant}"]


def result(id: str, ok: bool = True, source: str = "wrapper", name: str = "result") -> tuple:
    return f"decision.{name}", {"from": source, "ok": ok}, [f"discharge:{id}"]


def outcome(id: str, grant, outcome: str, reason: str) -> tuple:
    moved = [f"discharge:{id}"] + ([f"grant:{grant}"] if grant else [])
    return "decision.outcome", {"outcome": outcome, "reason": reason}, moved


def ended(id: str, grant: str) -> list:
    return [result(id), outcome(id, grant, "discharged", "confirmed")]


class Forged:
    """A life in which nothing is wrong."""

    def __init__(self):
        self.appends = [
            [("ledger.opened", {"book": "b"}, [])],
            [minted("once")],
            [intent("a", "once", key="k")],
            ended("a", "once"),
            [minted("many", "APPROVE_SESSION")],
            [intent("b", "many")],
            [result("b", source="executor")],
            ended("b", "many"),
            [intent("c", "many")],
            [outcome("c", "many", "uncertain", "interrupted")],
            [result("c", name="late_result")],
            [("decision.resolved", {"happened": True}, ["discharge:c"])],
            [outcome("d", None, "refused", "consumed")],
            [minted("twice")],
            [intent("e", "twice")],
            [outcome("e", "twice", "refused", "executor_declined")],
            [intent("f", "twice")],
            ended("f", "twice"),
            [minted("back")],
            [("decision.revoked", {}, ["grant:back"])],
            [("ledger.torn", {"bytes": 4, "file": "torn", "sha256": digest(b"half")}, [])],
        ]
        self.log = []
        self.spoil_row = self.spoil_bytes = lambda it: it
        self.torn = b"half"

    def write(self) -> None:
        """Seals the rows, and has executors and callers note what there is to be noted."""
        self.lines, last, prev = [], {}, "0" * 64
        for append in self.appends:
            for i, (kind, body, moved) in enumerate(append, 1):
                seq = len(self.lines) + 1
                row = {
                    "at": f"2026-09-30T08:00:{seq:02}.000000Z",
                    "body": body,
                    "by": {},
                    "kind": kind,
                    "prev": prev,
                    "refs": [[subject, last.get(subject, 0)] for subject in moved],
                    "seq": seq,
                    "v": 1,
                }
                if len(append) > 1:
                    row["of"] = [i, len(append)]
                line = canonical(self.spoil_row(row))
                self.lines.append(line)
                last |= {subject: seq for subject in moved}
                prev = digest(line)
        self.ends, end = {}, 0
        for line in self.lines:
            end += len(line) + 1
            row = json.loads(line)
            if row["kind"] == "decision.intent":
                self.ends[row["refs"][0][0].removeprefix("discharge:")] = end
        self.log = [line for id in "abcf" if id in self.ends for line in self.acted(id)]
        self.log[-3:-3] = [f"e {self.ends['e']} begin", f"e {self.ends['e']} end 75"] if "e" in self.ends else []
        self.told = [
            ["minted", "once"],
            ["attempt", "a", "discharged", "confirmed"],
            ["attempt", "c", "uncertain", "no_result_row"],
            ["attempt", "d", "refused", "consumed"],
            ["attempt", "x", "refused", "ledger_unwritable"],
            ["resolved", "c"],
            ["revoked", "back"],
            ["row", 2, digest(self.lines[1])],
            ["killed"],
            ["error", "refused"],
        ]

    def acted(self, id: str, end: str = "end 0") -> list:
        return [f"{id} {self.ends[id]} {what}" for what in ("begin", "did", end)]

    def find(self) -> list:
        data = self.spoil_bytes(b"".join(line + b"\n" for line in self.lines))
        log = "".join(line + "\n" for line in self.log)
        return check(data, log, [json.dumps(line) for line in self.told], lambda _: self.torn)[2]


def rows(change):
    """A forgery of what was appended: each row is sealed as if it were right."""

    def forge(it: Forged) -> None:
        change(it.appends)
        it.write()

    return forge


def sealed(line: int, **fields):
    """A forgery of one row, in which these fields are not what they should be; the chain holds."""

    def forge(it: Forged) -> None:
        it.spoil_row = lambda row: row | fields if row["seq"] == line else row
        it.write()

    return forge


def data(change):
    """A forgery of the file."""

    def forge(it: Forged) -> None:
        it.spoil_bytes = change

    return forge


def log(change):
    """A forgery of the executors' log."""
    return lambda it: change(it, it.log)


def told(*line):
    """A caller that was told what is not so."""
    return lambda it: it.told.append(list(line))


def append(*more):
    return rows(lambda appends: appends.extend([row] for row in more))


def expired(id: str, uses: int) -> tuple:
    return "decision.expired", {"uses": uses}, [f"grant:{id}"]


def claimed(grant: str, *before, **intent_more):
    """An attempt more on this grant, after these rows."""
    return append(*before, intent("h", grant, **intent_more), outcome("h", grant, "uncertain", "timeout"))


def replace(at: int, *more):
    return rows(lambda appends: appends.__setitem__(slice(at, at + 1), [[row] for row in more]))


# Each with a part of what is found.
FORGERIES = [
    # What a reader of the file finds.
    ("form: line 1: it is no row", data(lambda bytes: bytes.replace(b'"v":1', b'"v": 1', 1))),
    ("form: line 1: it is no row", data(lambda bytes: bytes.replace(b'{"at"', b'["at"', 1))),
    ("a field is missing", data(lambda bytes: bytes.replace(b',"v":1', b"", 1))),
    ("a row of kind decision.surprise", append(("decision.surprise", {}, ["grant:once"]))),
    ("that moves ['object']", append(("decision.revoked", {}, ["object:report/1"]))),
    ("opened by its first row", append(("ledger.opened", {"book": "b"}, []))),
    (
        "opened by its first row",
        replace(0, ("ledger.torn", {"bytes": 4, "file": "torn", "sha256": digest(b"half")}, [])),
    ),
    ("does not follow from the line before", data(lambda bytes: bytes.replace(b'"send"', b'"pays"', 1))),
    (
        "does not follow from the line before",
        data(lambda bytes: b"".join(bytes.splitlines(True)[:5] + bytes.splitlines(True)[6:])),
    ),
    ("its time is before", sealed(5, at="2026-09-30T07:00:00.000000Z")),
    ("it says that it is line 6", sealed(5, seq=6)),
    ("refs: line 3: grant:once", sealed(3, refs=[["discharge:a", 0], ["grant:once", 1]])),
    ("the last one is unfinished", data(lambda bytes: bytes[:-1])),
    ("the last one is unfinished", data(lambda bytes: b"".join(bytes.splitlines(True)[:4]))),
    ("it is part 2 of 2", sealed(4, of=[2, 2])),
    ("it is part 3 of 3", sealed(5, of=[3, 3])),
    ("what was moved to torn", lambda it: setattr(it, "torn", b"hall")),
    ("what was moved to torn", lambda it: setattr(it, "torn", None)),
    # What may not follow what.
    ("minted twice", append(minted("once"))),
    ("minted twice", append(minted("new", consumed=True))),
    ("was never minted", append(intent("g", "none"), outcome("g", "none", "uncertain", "timeout"))),
    ("a claims twice", append(minted("new"), intent("a", "new"))),
    ("after it was spent", claimed("once")),
    ("after it was spent", claimed("many")),
    ("after it was spent", claimed("back")),
    ("after it was spent", claimed("over", minted("over", not_after="2026-09-30T08:00:30Z"), expired("over", 0))),
    ("outside of its window", claimed("new", minted("new", not_after="2026-09-30T08:00:01Z"))),
    ("outside of its window", claimed("new", minted("new", not_before="2026-09-30T09:00:00Z"))),
    ("does not cover", claimed("new", minted("new"), action="pay")),
    ("does not cover", claimed("new", minted("new", allowed_actions=[]), action="pay")),
    ("does not cover", claimed("new", minted("new", executor="other"))),
    ("does not cover", claimed("new", minted("new", agent="claude"))),
    ("does not cover", claimed("new", minted("new"), object={"id": "2", "type": "report"})),
    ("is claimed while g runs", claimed("new", minted("new"), intent("g", "new"))),
    (
        "ends a claim that does not run",
        append(minted("new"), intent("g", "new"), outcome("g", "once", "uncertain", "timeout")),
    ),
    ("nothing to revoke", append(("decision.revoked", {}, ["grant:once"]))),
    ("nothing to revoke", append(("decision.revoked", {}, ["grant:back"]))),
    ("but it was over or runs", append(expired("once", 1))),
    ("but it was over or runs", append(minted("new"), intent("g", "new"), expired("new", 0))),
    ("expires too early", append(minted("new"), expired("new", 0))),
    ("or was used otherwise", append(minted("new", not_after="2026-09-30T08:00:01Z"), expired("new", 1))),
    ("a is turned away", append(outcome("a", None, "refused", "consumed"))),
    ("d is turned away", append(outcome("d", None, "refused", "consumed"))),
    ("a has a second outcome", append(outcome("a", "once", "uncertain", "interrupted"))),
    ("a has a result too many", append(result("a"))),
    ("c has a late result too many", append(result("c", name="late_result"))),
    ("g has a late result too", append(minted("new"), intent("g", "new"), result("g", name="late_result"))),
    ("c is resolved twice", append(("decision.resolved", {"happened": True}, ["discharge:c"]))),
    ("a is resolved twice", append(("decision.resolved", {"happened": True}, ["discharge:a"]))),
    ("z has a result and no claim", append(result("z"))),
    ("a is confirmed by no result", replace(3, outcome("a", "once", "discharged", "confirmed"))),
    ("a is confirmed by no result", replace(3, result("a", ok=False), outcome("a", "once", "discharged", "confirmed"))),
    ("c ended as no claim ends", replace(9, outcome("c", "many", "refused", "consumed"))),
    ("c ended as no claim ends", replace(9, outcome("c", "many", "discharged", "interrupted"))),
    # What only the executors know.
    ("lost: z ran", log(lambda it, log: log.extend(["z 0 begin"]))),
    ("lost: attempt z did something", log(lambda it, log: log.extend(["z 0 did"]))),
    ("lost: a ran before its claim", log(lambda it, log: log.__setitem__(0, f"a {it.ends['a'] - 1} begin"))),
    ("lost: a is confirmed", log(lambda it, log: log.remove(f"a {it.ends['a']} did"))),
    ("lost: a is confirmed", log(lambda it, log: log.__setitem__(2, f"a {it.ends['a']} end 1"))),
    ("doubled: attempt a ran twice", log(lambda it, log: log.extend(it.acted("a")))),
    ("doubled: twice is for one use", log(lambda it, log: log.append(f"e {it.ends['e']} did"))),
    ("doubled: e declined and did it", log(lambda it, log: log.append(f"e {it.ends['e']} did"))),
    ("doubled: c ran under many while b did", log(lambda it, log: log.insert(5, log.pop(6)))),
    ("doubled: c ran under many while b did", log(lambda it, log: log.remove(f"b {it.ends['b']} end 0"))),
    # What only the callers know.
    ("lost: row 2", told("row", 2, digest(b"other"))),
    ("lost: row 99", told("row", 99, digest(b"other"))),
    ("lost: grant none was minted", told("minted", "none")),
    ("lost: grant once was revoked", told("revoked", "once")),
    ("lost: attempt a was resolved", told("resolved", "a")),
    ("lost: attempt z was told", told("attempt", "z", "discharged", "confirmed")),
    ("told: attempt c was told", told("attempt", "c", "discharged", "confirmed")),
    ("told: it panicked", told("wrong", "it panicked")),
    ("open: the claim of g", append(minted("new"), intent("g", "new"))),
]


def twice_under_one_grant(it: Forged) -> None:
    """A single-use grant that was claimed again after it was used, and both acts were done."""
    it.appends += [[intent("g", "once")], ended("g", "once")]
    it.write()
    it.log += it.acted("g")


def key_under_two_grants(it: Forged) -> None:
    """The key of an attempt that was discharged, used again under a new grant."""
    it.appends += [[minted("new")], [intent("g", "new", key="k")], ended("g", "new")]
    it.write()
    it.log += it.acted("g")


FORGERIES += [
    ("doubled: once is for one use", twice_under_one_grant),
    ("doubled: g ran under once, which a had spent", twice_under_one_grant),
    ("doubled: the key of a names g too", key_under_two_grants),
]


def main() -> int:
    whole = Forged()
    whole.write()
    failed = [f"nothing is wrong, and it finds: {what}" for what in whole.find()]
    for part, forge in FORGERIES:
        forged = copy.deepcopy(whole)
        forge(forged)
        found = forged.find()
        if not any(part in what for what in found):
            failed.append(f"it should find `{part}`, and finds {found}")
    for what in failed:
        print(what)
    print(f"{len(FORGERIES)} forgeries, {len(failed)} not found out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
