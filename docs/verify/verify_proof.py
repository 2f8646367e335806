#!/usr/bin/env python3
"""Checks a proof of granted: verify_proof.py FILE [--key PUB]...

Written from docs/format.md alone, as a second opinion. Needs Python 3.11 and the package cryptography. Prints
`valid`, or `invalid: CHECK: WHY` (exit code 1), or `unusable: WHY` (2). Several files may be given, a line for each;
the exit code is then the highest. PUB is an OpenSSH public key file, or SPKI in PEM.
"""
import base64
import hashlib
import json
import re
import struct
import sys
from datetime import datetime, timedelta, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

BOUND, MAX_INT = 8 * 1024 * 1024, 2**53 - 1
ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
ROW = set("at body by kind prev refs seq v".split())
RESULT = ("from ok", "ended receipt stderr stdout")
BODY = {  # kind: fields that are there, fields that may be
    "ledger.opened": ("book", ""), "ledger.torn": ("bytes file sha256", ""),
    "ledger.accepted": ("by reason what", "signature"), "decision.minted": ("grant", ""),
    "decision.intent": ("act deadline executor object result_token_sha256", "action key"),
    "decision.result": RESULT, "decision.late_result": RESULT,
    "decision.outcome": ("about detail outcome reason", ""),
    "decision.expired": ("outcome reason uses", ""), "decision.revoked": ("", "by note"),
    "decision.resolved": ("by happened", "note signature"), "key.trusted": ("key name", "signature"),
    "key.untrusted": ("key", "note"), "trust.mode": ("mode", "signature")}
GRANT = ("allowed_actions book consumed consumed_at decision id kind minted_at minted_by not_after "
         "not_before not_scope object receipt scope", "agent binds executor signatures")
REASONS = {"discharged": "confirmed", "expired": "expired",
           "uncertain": "executor_uncertain timeout no_result_row not_confirmed receipt_mismatch interrupted",
           "refused": "none consumed not_yet unreadable revoked action_not_allowed agent_not_named "
                      "unknown_executor claim_lost executor_declined executor_failed result_failed unsigned "
                      "untrusted_key bad_signature binding_changed ledger_unwritable ledger_rolled_back "
                      "clock_behind invalid_request"}
AFTER_CLAIM = set("confirmed unknown_executor executor_declined executor_failed result_failed".split()
                  + REASONS["uncertain"].split())
FORM, CHECKPOINT, INCLUSION, ROWS, GRANT_, HISTORY, SIGNATURES, KEY = (
    "form checkpoint inclusion rows grant history signatures key".split())


class Unusable(Exception):
    pass


class Invalid(Exception):
    pass


def need(condition, check, why):
    if not condition:
        raise Invalid(f"{check}: {why}")


def sha256(data):
    return hashlib.sha256(data).digest()


def unbase64(text):
    """Base 64 in the one way that there is to write it; None for anything else."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None


def fraction(text):
    raise ValueError(f"{text} is no integer")


def canonical(value):
    """RFC 8785, without fractions: keys are sorted by their UTF-16."""
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return "{" + ",".join(canonical(k) + ":" + canonical(v) for k, v in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def signed(key, message, signature):
    """Whether the 32 bytes of a key signed it; keys of small order, for which anybody can, sign nothing."""
    p, y = 2**255 - 19, int.from_bytes(key, "little") & (2**255 - 1)
    odd = 2707385501144840649318225287225658788936804267575313519463743609750303402022  # of order 8
    if y % p in (0, 1, p - 1, odd, p - odd):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


# Keys, statements and signatures.

def strings(data, count):
    """That many strings of SSH, and the rest."""
    found = []
    for _ in range(count):
        (length,) = struct.unpack(">I", data[:4])
        if len(data) < 4 + length:
            raise struct.error("a string is cut off")
        found.append(data[4:4 + length])
        data = data[4 + length:]
    return *found, data


def string(data):
    return struct.pack(">I", len(data)) + data


def key_of(text):
    """A key, of its two words: the form of SSH, the kind, the 32 bytes, the application."""
    kind, blob = text.split(" ")
    blob = unbase64(blob)
    name, raw, rest = strings(blob, 2)
    application = None
    if kind == "sk-ssh-ed25519@openssh.com":
        application, rest = strings(rest, 1)
    elif kind != "ssh-ed25519":
        raise ValueError("the kind of a key")
    if name != kind.encode() or len(raw) != 32 or rest:
        raise ValueError("a key is damaged")
    return blob, name, raw, application


def key_id(key):
    return sha256(key[0])[:8].hex()


def statement(purpose, payload):
    kind, data = f"application/vnd.granted.{purpose}.v1+json".encode(), canonical(payload).encode()
    return purpose, b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(data), data)


def is_good(signature, key, what):
    """Whether a signature is by this key, over this statement."""
    purpose, message = what
    blob, kind, raw, application = key
    sig = unbase64(signature["sig"])
    if signature["key"] != key_id(key):
        return False
    if signature["form"] == "ed25519":
        return application is None and signed(raw, message, sig)
    try:
        if sig[:10] != b"SSHSIG\0\0\0\1":
            return False
        made_by, namespace, reserved, name, inner, rest = strings(sig[10:], 5)
        sig_kind, bare, tail = strings(inner, 2)
    except struct.error:
        return False
    if (made_by, reserved, rest, sig_kind) != (blob, b"", b"", kind):
        return False
    if namespace != f"granted.{purpose}.v1".encode() or name not in (b"sha512", b"sha256"):
        return False
    hashed = hashlib.new(name.decode(), message).digest()
    message = b"SSHSIG" + b"".join(map(string, (namespace, b"", name, hashed)))
    if application is None:
        return not tail and signed(raw, message, bare)
    message = sha256(application) + tail + sha256(message)
    return len(tail) == 5 and signed(raw, message, bare) and bool(tail[0] & 1)


# The checks.

def form(data):
    if len(data) > BOUND:
        raise Unusable("it is too long")
    try:
        text = data.decode()
        proof = json.loads(text, parse_constant=fraction)
        kind = proof["kind"] if isinstance(proof, dict) and "kind" in proof else None
        if kind != "granted-proof/1":
            raise Unusable("it is of another kind")
        written = canonical(proof)
        written.encode()
    except (ValueError, RecursionError) as error:
        raise Unusable(str(error)) from None
    need(set(proof) == set("checkpoint grant hashes key kind rows".split()), FORM, "its fields")
    need(all(type(proof[name]) is str for name in ("checkpoint", "grant", "key")), FORM, "a field is no text")
    need(ID.fullmatch(proof["grant"]), FORM, "the grant's id")
    need(type(proof["hashes"]) is list and type(proof["rows"]) is list, FORM, "a field is no list")
    for value in proof["hashes"]:
        need(type(value) is str and len(unbase64(value) or b"") == 32, FORM, "a hash")
    for row in proof["rows"]:
        need(type(row) is list and list(map(type, row)) == [int, str], FORM, "a row")
        need(0 <= row[0] < 2**64, FORM, "the number of a row")
    need(text in (written, written + "\n"), FORM, "it is not canonical")
    return proof


def checkpoint(proof):
    """The book, the number of rows and the root, if the key signed them."""
    note = proof["checkpoint"]
    need(len(note.encode()) <= 128 * 1024 and not re.search("[\0-\x09\x0b-\x1f]", note), CHECKPOINT, "the note")
    text, empty, lines = note.rpartition("\n\n")
    need(empty and lines.endswith("\n"), CHECKPOINT, "it is no note")
    match = re.fullmatch(r"granted/(\S{26})\n([1-9][0-9]*)\n(\S{44})\nhead [0-9a-f]{64} (0|[1-9][0-9]*)", text)
    need(match and ID.fullmatch(match[1]), CHECKPOINT, "it is no checkpoint")
    need(int(match[2]) <= MAX_INT and int(match[4]) <= MAX_INT, CHECKPOINT, "a number is too large")
    root = unbase64(match[3])
    need(root is not None and len(root) == 32, CHECKPOINT, "the root")
    origin = "granted/" + match[1]
    parts = proof["key"].split("+", 2)
    typed = unbase64(parts[2]) if len(parts) == 3 else None
    need(typed is not None and len(typed) == 33 and typed[0] == 1 and parts[0] == origin, CHECKPOINT, "the key")
    hint = sha256(origin.encode() + b"\n" + typed)[:4]
    need(parts[1] == hint.hex(), CHECKPOINT, "the id of the key")
    by_key = 0
    for line in lines[:-1].split("\n"):
        match_line = re.fullmatch(r"\u2014 ([^\s+]+) (\S+)", line)
        signature = match_line and unbase64(match_line[2])
        need(signature and len(signature) > 4, CHECKPOINT, "a line of a signature")
        if match_line[1] == origin and signature[:4] == hint:
            need(signed(typed[1:], (text + "\n").encode(), signature[4:]), CHECKPOINT, "the signature")
            by_key += 1
    need(by_key, CHECKPOINT, "the key did not sign it")
    return match[1], int(match[2]), root


def inclusion(proof, size, root):
    leaves = [(seq - 1, sha256(b"\0" + sha256(line.encode()))) for seq, line in proof["rows"]]
    indices = [index for index, _ in leaves]
    need(leaves and indices == sorted(set(indices)), INCLUSION, "the rows are not in order")
    need(0 <= indices[0] and indices[-1] < size, INCLUSION, "a row is not of this checkpoint")
    hashes = [unbase64(value) for value in reversed(proof["hashes"])]

    def climb(leaves, begin, end):
        if not leaves:
            need(hashes, INCLUSION, "there are too few hashes")
            return hashes.pop()
        if end - begin == 1:
            return leaves[0][1]
        middle = begin + (1 << (end - begin - 1).bit_length() - 1)
        left = climb([leaf for leaf in leaves if leaf[0] < middle], begin, middle)
        right = climb([leaf for leaf in leaves if leaf[0] >= middle], middle, end)
        return sha256(b"\1" + left + right)

    need(climb(leaves, 0, size) == root and not hashes, INCLUSION, "they do not lead to the root")


def has_fields(value, fields):
    must, may = (set(names.split()) for names in fields)
    return type(value) is dict and must <= set(value) <= must | may


def rows(proof):
    found = []
    for seq, line in proof["rows"]:
        try:
            row = json.loads(line, parse_float=fraction, parse_constant=fraction)
            good = canonical(row) == line and has_fields(row, (" ".join(ROW), "of"))
        except (ValueError, RecursionError):
            good = False
        need(good, ROWS, f"row {seq} is not canonical")
        need(row["seq"] == seq and row["v"] == 1 and row["kind"] in BODY, ROWS, f"row {seq} is another")
        need(has_fields(row["body"], BODY[row["kind"]]), ROWS, f"the body of row {seq}")
        need(re.fullmatch(r"[0-9]{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", row["at"]), ROWS, f"the time of row {seq}")
        if row["kind"] == "decision.minted":
            need(has_fields(row["body"]["grant"], GRANT), ROWS, f"the grant of row {seq}")
        found.append(row)
    return found


def moves(row, subject):
    return any(moved == subject for moved, _ in row["refs"])


def time(text):
    moment = datetime.fromisoformat(text).astimezone(timezone.utc)
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


def history(rows, grant_id, grant, book):
    subject = "grant:" + grant_id
    attempts, last, ends = {}, {}, set()
    state = None  # of the grant: spent, revoked, expired, closed, held by, uses
    for row in rows:
        def check(condition, why):
            need(condition, HISTORY, f"row {row['seq']}: {why}")
        kind, body, refs = row["kind"], row["body"], row["refs"]
        shape = [moved.split(":")[0] for moved, _ in refs]
        short = kind.split(".")[-1]
        owner = refs[0][0] if refs else None
        check(all(ID.fullmatch(moved.split(":")[1]) for moved, _ in refs
                  if moved.startswith(("grant:", "discharge:"))), "the id of a subject")
        expected = {"minted": [["grant", "object"]], "intent": [["discharge", "grant"]],
                    "outcome": [["discharge"], ["discharge", "grant"]], "accepted": [["grant"] * len(refs)],
                    "result": [["discharge"]], "late_result": [["discharge"]], "resolved": [["discharge"]],
                    "expired": [["grant"]], "revoked": [["grant"]], "opened": [[]], "torn": [[]]}
        check(shape in expected.get(short, [["trust"]]), "it does not move the subjects of its kind")
        check(len({moved for moved, _ in refs}) == len(refs), "it moves a subject twice")
        if shape == ["trust"]:
            check(owner == "trust:keys", "it moves another subject")
        if short == "intent" and refs[1][0] == subject:
            check(owner not in attempts, "the attempt has claimed already")
            attempts[owner] = {"object": body["object"], "results": [], "failed": False, "engaged": False,
                               "outcome": None, "late": False, "resolved": False}
        ours = [(moved, before) for moved, before in refs if moved in (subject, "trust:keys") or moved in attempts]
        check(ours, "it moves nothing that is proven")
        for moved, before in ours:
            check(last.get(moved, 0) == before, "its refs")
            last[moved] = row["seq"]
        if short == "minted":
            minted = body["grant"]
            check(state is None and owner == "grant:" + minted["id"], "it mints another grant, or again")
            check(refs[1][0] == f"object:{minted['object']['type']}/{minted['object']['id']}", "its object")
            check((minted["consumed"], minted["consumed_at"], minted["receipt"]) == (False, None, None), "spent")
            check(minted["book"] == book, "the grant is of another book")
            opens = time(minted["not_before"]) if minted["not_before"] else None
            closes = time(minted["not_after"])
            check(opens is None or opens < closes, "an empty window")
            state = {"over": "", "holder": None, "uses": 0, "spent": False}
            continue
        if shape == ["trust"]:
            continue
        check(state is not None, "the grant is not minted")
        attempt = attempts.get(owner)
        if short in ("result", "late_result"):
            ended, executor = body.get("ended"), body["from"] == "executor"
            check(ended is None if executor else ended is not None and body["ok"] == (ended == {"exit": 0}), "ended")
        if short == "intent":
            at = time(row["at"])
            check(state["holder"] is None and not state["spent"] and not state["over"], "the grant is not to be had")
            check(body["object"] == grant["object"], "another object")
            check((opens is None or opens <= at) and at < closes, "the window is not open")
            state["holder"] = owner
        elif short == "result":
            check(attempt["outcome"] is None and body["from"] not in attempt["results"], "a result too many")
            check(executor is False or not attempt["results"], "the executor's result comes late")
            attempt["results"].append(body["from"])
            attempt["failed"] |= not body["ok"]
            attempt["engaged"] |= executor or ended not in ({"exit": 75}, "not_started")
        elif short == "late_result":
            check(attempt["outcome"] and not attempt["late"], "it is not late, or not the first")
            attempt["late"] = True
        elif short == "resolved":
            check(attempt["outcome"] in REASONS["uncertain"].split() and not attempt["resolved"], "nothing is uncertain")
            attempt["resolved"] = True
        elif short == "outcome":
            reason = body["reason"]
            check(reason in REASONS.get(body["outcome"], "").split(), "its reason is of another outcome")
            check(attempt["outcome"] is None and len(refs) == 2 and refs[1][0] == subject, "another grant")
            check(body["about"].get("grant") == grant_id and body["about"]["object"] == attempt["object"], "about")
            check(state["holder"] == owner and reason in AFTER_CLAIM, "its reason follows no claim")
            check(reason != "confirmed" or attempt["results"] and not attempt["failed"], "nothing confirms it")
            check(reason != "executor_declined" or not attempt["engaged"], "it did not decline")
            attempt["outcome"] = reason
            done = reason == "confirmed"
            state["holder"], state["uses"] = None, state["uses"] + done
            state["spent"] = reason != "executor_declined" and not (grant["decision"] == "APPROVE_SESSION" and done)
        elif short == "revoked":
            check("r" not in state["over"] and not state["spent"], "it is revoked or spent already")
            state["over"] += "r"
        elif short == "expired":
            check((body["outcome"], body["reason"]) == ("expired", "expired"), "its outcome")
            check(state["holder"] is None and not state["spent"] and not state["over"], "the grant is over or runs")
            check(time(row["at"]) >= closes and body["uses"] == state["uses"], "its window or its uses")
            state["over"] += "e"
        elif short == "accepted":
            state["over"] += "c"


def signatures(rows, book):
    """The keys trusted at each row, and what they had to sign."""
    trusted, begun, mode, signers = {}, False, "open", set()  # the id: the key and its name

    for row in rows:
        body, last = row["body"], row["refs"][0][1] if row["refs"] else 0

        def check(condition, why):
            need(condition, SIGNATURES, f"row {row['seq']}: {why}")

        def by_trusted(what):
            signature = body.get("signature")
            check(signature or not begun, "it is not signed")
            if signature:
                check(signature["key"] in trusted, "the key is not trusted")
                check(is_good(signature, trusted[signature["key"]][0], what), "the signature is wrong")

        if row["kind"] == "key.trusted":
            key, name = key_of(body["key"]), body["name"]
            check(key_id(key) not in trusted and name not in [n for _, n in trusted.values()], "twice")
            by_trusted(statement("trust", {"book": book, "key": body["key"], "last": last, "name": name}))
            trusted[key_id(key)], begun = (key, name), True
        elif row["kind"] == "key.untrusted":
            check(trusted.pop(body["key"], None), "the key was not trusted")
        elif row["kind"] == "trust.mode":
            if body["mode"] == "open":
                by_trusted(statement("trust", {"book": book, "last": last, "mode": "open"}))
            mode = body["mode"]
        elif row["kind"] == "decision.resolved":
            payload = {name: body[name] for name in ("by", "happened", "note") if name in body}
            payload |= {"book": book, "discharge": row["refs"][0][0].split(":")[1], "last": last}
            by_trusted(statement("resolve", payload))
        elif row["kind"] == "decision.minted":
            what, named = grant_statement(body["grant"]), body["grant"].get("signatures", [])
            known = [signature for signature in named if signature["key"] in trusted]
            good = [signature for signature in known if is_good(signature, trusted[signature["key"]][0], what)]
            check(good or mode == "open" and not known, "no key that is trusted signed the grant")
            signers = {signature["key"] for signature in good}
        elif row["kind"] == "decision.intent" and mode == "signed":
            check(signers & set(trusted), "no key that is trusted now signed the grant")


def grant_statement(grant):
    return statement("decision", {name: value for name, value in grant.items() if name != "signatures"})


def verify(data, keys):
    proof = form(data)
    book, size, root = checkpoint(proof)
    inclusion(proof, size, root)
    try:
        read(proof, book, keys)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Invalid(f"{ROWS}: a field is of another form: {error!r}") from None


def read(proof, book, keys):
    """The checks that read what the book signed."""
    found = rows(proof)
    minted = [row["body"]["grant"] for row in found
              if row["kind"] == "decision.minted" and moves(row, "grant:" + proof["grant"])]
    need(minted and minted[0]["id"] == proof["grant"], GRANT_, "no row mints it")
    need(minted[0]["book"] == book, GRANT_, "it is of another book")
    history(found, proof["grant"], minted[0], book)
    signatures(found, book)
    for key in keys:
        by_it = [s for s in minted[0].get("signatures", []) if is_good(s, key, grant_statement(minted[0]))]
        need(by_it, KEY, "the key that you named did not sign the grant")


def read_key(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.lstrip().startswith(b"-----"):
        public = serialization.load_pem_public_key(data)
        data = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return key_of(" ".join(data.decode().split()[:2]))


def main(arguments):
    names, files, code = [], [], 0
    while arguments:
        argument = arguments.pop(0)
        (names.append(arguments.pop(0)) if argument == "--key" and arguments else files.append(argument))
    keys = [read_key(name) for name in names]
    for path in files:
        try:
            with open(path, "rb") as file:
                verify(file.read(BOUND + 1), keys)
            said = "valid"
        except Invalid as error:
            said, code = f"invalid: {error}", max(code, 1)
        except (Unusable, OSError) as error:
            said, code = f"unusable: {error}", 2
        print(said)
    return code if files else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
