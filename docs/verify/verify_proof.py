#!/usr/bin/env python3
"""Checks proofs of granted: verify_proof.py [--key PUB]... FILE...

Written from docs/format.md alone, as a second opinion. Needs Python 3.11 and the package cryptography. Says of each
file `valid`, `invalid: CHECK: WHY` (exit code 1) or `unusable: WHY` (2). PUB is a public key that must have signed the
grant: OpenSSH's line, or SPKI in PEM.
"""
import base64
import hashlib
import json
import re
import sys
from datetime import datetime, timedelta, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

BOUND, MAX_INT = 8 * 1024 * 1024, 2**53 - 1
ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
IDS = dict.fromkeys("discharge grant write direct".split(), ID) | {"dispatch": re.compile("[0-9a-f]{64}")}
KINDS = {  # kind: the subjects that it moves, the fields of its body, those that may be missing
    "ledger.opened": ("", "book", ""), "ledger.torn": ("", "bytes file sha256", ""),
    "ledger.accepted": ("grant*", "by reason what", "signature"),
    "decision.minted": ("grant object", "grant", ""),
    "decision.intent": ("discharge grant", "act deadline executor object result_token_sha256", "action key"),
    "decision.result": ("discharge", "from ok", "ended receipt stderr stdout"),
    "decision.late_result": ("discharge", "from ok", "ended receipt stderr stdout"),
    "decision.outcome": ("discharge grant", "about detail outcome reason", ""),
    "decision.expired": ("grant", "outcome reason uses", ""), "decision.revoked": ("grant", "", "by note"),
    "decision.resolved": ("discharge", "by happened", "note signature"),
    "key.trusted": ("trust", "key name", "signature"), "key.untrusted": ("trust", "key", "note"),
    "trust.mode": ("trust", "mode", "signature")}
ROW = ("at body by kind prev refs seq v", "of")
GRANT = ("allowed_actions book consumed consumed_at decision id kind minted_at minted_by not_after not_before "
         "not_scope object receipt scope", "agent binds executor executor_bound signatures")
UNCERTAIN = "executor_uncertain timeout no_result_row not_confirmed receipt_mismatch interrupted".split()
REFUSED = "executor_declined executor_failed result_failed unknown_executor".split()
AFTER_CLAIM = {"confirmed": "discharged"} | dict.fromkeys(UNCERTAIN, "uncertain") | dict.fromkeys(REFUSED, "refused")


class Failed(Exception):
    """Holds what is said: `unusable: WHY` or `invalid: CHECK: WHY`."""


def need(condition, check, why):
    if not condition:
        raise Failed(f"invalid: {check}: {why}")


def sha256(data):
    return hashlib.sha256(data).digest()


def unbase64(text):
    """Base 64 in the one way that there is to write it; nothing for anything else."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return data if base64.b64encode(data).decode() == text else b""


def no_integer(text):
    raise ValueError(f"{text} is no integer")


def canonical(value):
    """RFC 8785, without fractions: keys are sorted by their UTF-16."""
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def has_fields(value, must, may=""):
    return type(value) is dict and set(must.split()) <= set(value) <= set(f"{must} {may}".split())


def micros(text):
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


# Keys, statements and signatures.


def ed25519(key, message, signature):
    p, y = 2**255 - 19, int.from_bytes(key, "little") & (2**255 - 1)
    eight = 2707385501144840649318225287225658788936804267575313519463743609750303402022
    if y % p in (0, 1, p - 1, eight, p - eight):
        return False  # of small order: anybody can sign for it
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def string(data):
    return len(data).to_bytes(4) + data


def strings(data, count):
    """That many strings as SSH writes them, and the rest."""
    found = []
    for _ in range(count):
        end = 4 + int.from_bytes(data[:4])
        if len(data) < max(4, end):
            raise ValueError("a string is cut off")
        found.append(data[4:end])
        data = data[end:]
    return *found, data


def key_of(text):
    """A key, of its two words: its form in SSH, its kind, its 32 bytes, its application."""
    kind, blob = text.split(" ")
    blob, application = unbase64(blob), None
    name, raw, rest = strings(blob, 2)
    if kind == "sk-ssh-ed25519@openssh.com":
        application, rest = strings(rest, 1)
    if name != kind.encode() or (application is None and kind != "ssh-ed25519") or len(raw) != 32 or rest:
        raise ValueError("it is no key that is used here")
    return blob, name, raw, application


def key_id(key):
    return sha256(key[0])[:8].hex()


def statement(purpose, payload):
    kind, data = f"application/vnd.granted.{purpose}.v1+json".encode(), canonical(payload).encode()
    return purpose, b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(data), data)


def of_grant(grant):
    return statement("decision", {name: value for name, value in grant.items() if name != "signatures"})


def is_good(signature, key, what):
    """Whether a signature is by this key, over this statement."""
    (purpose, message), (blob, kind, raw, application) = what, key
    sig = unbase64(signature["sig"])
    if signature["key"] != key_id(key) or not has_fields(signature, "form key sig"):
        return False
    if signature["form"] == "ed25519":
        return application is None and ed25519(raw, message, sig)
    try:
        by, namespace, reserved, name, inner, rest = strings(sig.removeprefix(b"SSHSIG\0\0\0\1"), 5)
        inner_kind, bare, tail = strings(inner, 2)
    except ValueError:
        return False
    expected = (b"SSHSIG\0\0\0\1", blob, f"granted.{purpose}.v1".encode(), b"", b"", kind)
    if (sig[:10], by, namespace, reserved, rest, inner_kind) != expected or name not in (b"sha512", b"sha256"):
        return False
    digest = hashlib.new(name.decode(), message).digest()
    message = b"SSHSIG" + b"".join(map(string, (namespace, b"", name, digest)))
    if application is None:
        return not tail and ed25519(raw, message, bare)
    message = sha256(application) + tail + sha256(message)
    return len(tail) == 5 and ed25519(raw, message, bare) and tail[0] & 1 == 1


# The checks, in their order.


def form(data):
    try:
        text = data.decode()
        proof = json.loads(text, parse_constant=no_integer)
        written = canonical(proof)
        written.encode()
    except (ValueError, RecursionError) as error:
        raise Failed(f"unusable: {error}") from None
    if len(data) > BOUND or type(proof) is not dict or proof.get("kind") != "granted-proof/1":
        raise Failed("unusable: it is too long, or of another kind")
    good = has_fields(proof, "checkpoint grant hashes key kind rows")
    good = good and all(type(proof[name]) is str for name in ("checkpoint", "grant", "key"))
    good = good and ID.fullmatch(proof["grant"]) and type(proof["hashes"]) is type(proof["rows"]) is list
    good = good and all(type(text) is str and len(unbase64(text)) == 32 for text in proof["hashes"])
    good = good and all(type(row) is list and [*map(type, row)] == [int, str] for row in proof["rows"])
    good = good and all(0 <= number < 2**64 for number, _ in proof["rows"])
    need(good and text in (written, written + "\n"), "form", "a field, or how it is written")
    return proof


def checkpoint(note, key):
    """The book, the number of rows and the root, if the key signed them."""
    def good(condition):
        need(condition, "checkpoint", "it has another form, or the key did not sign it")

    good(len(note.encode()) <= 128 * 1024 and not re.search("[\0-\x09\x0b-\x1f]", note))
    text, found, lines = note.rpartition("\n\n")
    says = re.fullmatch(r"(granted/(\S{26}))\n([1-9][0-9]*)\n(\S{44})\nhead [0-9a-f]{64} (0|[1-9][0-9]*)", text)
    good(found and lines.endswith("\n") and says and ID.fullmatch(says[2]))
    origin, book, size, root, offset = says.groups()
    size, root = int(size), unbase64(root)
    good(size <= MAX_INT and int(offset) <= MAX_INT and len(root) == 32)
    name, hint, typed = (key.split("+", 2) + ["", ""])[:3]
    typed = unbase64(typed)
    hash_of_key = sha256(origin.encode() + b"\n" + typed)[:4]
    good(name == origin and typed[:1] == b"\1" and len(typed) == 33 and hint == hash_of_key.hex())
    ours = 0
    for line in lines[:-1].split("\n"):
        parts = re.fullmatch(r"\u2014 ([^\s+]+) (\S+)", line)
        signature = unbase64(parts[2]) if parts else b""
        good(len(signature) > 4)
        if parts[1] == origin and signature[:4] == hash_of_key:
            good(ed25519(typed[1:], (text + "\n").encode(), signature[4:]))
            ours += 1
    good(ours)
    return book, size, root


def inclusion(rows, hashes, size, root):
    leaves = [(number - 1, sha256(b"\0" + sha256(line.encode()))) for number, line in rows]
    indices, hashes = [index for index, _ in leaves], [unbase64(text) for text in reversed(hashes)]
    ascend = indices == sorted(set(indices)) and indices and 0 <= indices[0] and indices[-1] < size
    need(ascend, "inclusion", "the numbers of the rows")

    def climb(leaves, begin, end):
        if not leaves:
            need(hashes, "inclusion", "there are too few hashes")
            return hashes.pop()
        if end - begin == 1:
            return leaves[0][1]
        middle = begin + (1 << (end - begin - 1).bit_length() - 1)
        left = climb([leaf for leaf in leaves if leaf[0] < middle], begin, middle)
        return sha256(b"\1" + left + climb([leaf for leaf in leaves if leaf[0] >= middle], middle, end))

    need(climb(leaves, 0, size) == root and not hashes, "inclusion", "they do not lead to the root")


def row_of(number, line):
    try:
        row = json.loads(line, parse_float=no_integer, parse_constant=no_integer)
        good = canonical(row) == line and has_fields(row, *ROW)
    except (ValueError, RecursionError):
        good = False
    need(good and (row["seq"], row["v"]) == (number, 1) and row["kind"] in KINDS, "rows", f"row {number}")
    good = re.fullmatch(r"[0-9]{4}-..-..T..:..:..\.[0-9]{6}Z", row["at"])
    good = good and has_fields(row["body"], *KINDS[row["kind"]][1:])
    good = good and (row["kind"] != "decision.minted" or has_fields(row["body"]["grant"], *GRANT))
    need(good, "rows", f"row {number}")
    return row


def history(rows, grant, book):
    """All that rows say of the grant, of the attempts that claimed it, and of the order of trust."""
    ours, last, attempts = {"grant:" + grant["id"], "trust:keys"}, {}, {}
    minted, holder, uses, spent, ends = False, None, 0, False, ""
    opens, closes = grant["not_before"] and micros(grant["not_before"]), micros(grant["not_after"])
    for row in rows:
        def good(condition):
            need(condition, "history", f"row {row['seq']}")

        kind, body, at, subjects = row["kind"], row["body"], micros(row["at"]), [name for name, _ in row["refs"]]
        shape = KINDS[kind][0].replace("*", " grant" * (len(subjects) - 1) if subjects else "")
        sorts = [name.split(":")[0] for name in subjects]
        good(all(IDS[sort].fullmatch(name[len(sort) + 1:]) for sort, name in zip(sorts, subjects) if sort in IDS))
        if kind == "ledger.accepted":  # it closes grants of any kind, and change sets
            sorts = ["grant" if sort in ("write", "direct", "dispatch") else sort for sort in sorts]
        good(sorts == (shape.split() if subjects or shape != "grant" else []) and len(set(subjects)) == len(subjects))
        if kind == "decision.intent" and subjects[1] in ours:
            ours.add(subjects[0])
        for name, before in row["refs"]:
            good(name not in ours or last.get(name, 0) == before)
            last[name] = row["seq"]
        good(ours & set(subjects))
        attempt = attempts.get(subjects[0])
        if kind == "decision.minted":
            named = f"object:{grant['object']['type']}/{grant['object']['id']}"
            good(not minted and body["grant"] == grant and subjects[1] == named and grant["book"] == book)
            good(not grant["consumed"] and grant["consumed_at"] is None and grant["receipt"] is None)
            good(opens is None or opens < closes)
            minted = True
        elif sorts == ["trust"]:
            good(subjects == ["trust:keys"])
        elif kind == "decision.intent":
            good(minted and attempt is None and holder is None and not spent and not ends)
            good(body["object"] == grant["object"] and (opens is None or opens <= at) and at < closes)
            holder, attempts[subjects[0]] = subjects[0], {"from": [], "ok": True, "acted": False, "after": []}
        elif kind in ("decision.result", "decision.late_result"):
            by_executor, ended, late = body["from"] == "executor", body.get("ended"), kind == "decision.late_result"
            good(ended is None if by_executor else ended is not None and body["ok"] == (ended == {"exit": 0}))
            good(late == bool(attempt["after"]) and "late" not in attempt["after"])
            if late:
                attempt["after"].append("late")
                continue
            good("wrapper" not in attempt["from"] and body["from"] not in attempt["from"])
            attempt["from"].append(body["from"])
            attempt["ok"] &= body["ok"]
            attempt["acted"] |= by_executor or ended not in ({"exit": 75}, "not_started")
        elif kind == "decision.outcome":
            reason, about = body["reason"], body["about"]
            good(AFTER_CLAIM.get(reason) == body["outcome"] and holder == subjects[0] and subjects[1] in ours)
            good(about.get("grant") == grant["id"] and about["object"] == grant["object"] and not attempt["after"])
            good(reason != "confirmed" or attempt["from"] and attempt["ok"])
            good(reason != "executor_declined" or not attempt["acted"])
            attempt["after"].append(reason)
            confirmed = reason == "confirmed"
            holder, uses = None, uses + confirmed
            spent = reason != "executor_declined" and not (confirmed and grant["decision"] == "APPROVE_SESSION")
        elif kind == "decision.resolved":
            good(attempt["after"][:1] and attempt["after"][0] in UNCERTAIN and "resolved" not in attempt["after"])
            attempt["after"].append("resolved")
        elif kind == "decision.revoked":
            good(minted and not spent and "revoked" not in ends)
            ends += "revoked"
        elif kind == "decision.expired":
            good(minted and holder is None and not spent and not ends and at >= closes)
            good((body["outcome"], body["reason"], body["uses"]) == ("expired", "expired", uses))
            ends += "expired"
        else:
            good(minted and kind == "ledger.accepted")
            ends += "closed"


def signatures(rows, book):
    """The keys that are trusted at each row, and what they had to sign."""
    trusted, names, begun, mode, signers = {}, {}, False, "open", set()
    for row in rows:
        def good(condition):
            need(condition, "signatures", f"row {row['seq']}")

        def by_trusted(what):
            by = body.get("signature")
            good(is_good(by, trusted[by["key"]], what) if by and by["key"] in trusted else not by and not begun)

        kind, body, (subject, last) = row["kind"], row["body"], row["refs"][0]
        if kind == "key.trusted":
            key, name = key_of(body["key"]), body["name"]
            good(key_id(key) not in trusted and name not in names.values())
            by_trusted(statement("trust", {"book": book, "key": body["key"], "last": last, "name": name}))
            trusted[key_id(key)], names[key_id(key)], begun = key, name, True
        elif kind == "key.untrusted":
            good(trusted.pop(body["key"], None) and names.pop(body["key"]))
        elif kind == "trust.mode":
            mode = body["mode"]
            if mode == "open":
                by_trusted(statement("trust", {"book": book, "last": last, "mode": "open"}))
        elif kind == "decision.resolved":
            payload = {name: body[name] for name in ("by", "happened", "note") if name in body}
            by_trusted(statement("resolve", payload | {"book": book, "discharge": subject[10:], "last": last}))
        elif kind == "decision.minted":
            grant = body["grant"]
            signed = grant.get("signatures", [])
            good(all(by["key"] in trusted for by in signed))
            signers = {by["key"] for by in signed if is_good(by, trusted[by["key"]], of_grant(grant))}
            good(signers or mode == "open" and not signed)
        elif kind == "decision.intent" and mode == "signed":
            good(signers & set(trusted))


def verify(data, keys):
    proof = form(data)
    book, size, root = checkpoint(proof["checkpoint"], proof["key"])
    inclusion(proof["rows"], proof["hashes"], size, root)
    try:  # What the book signed is read from here on. What is of another type there is no row.
        rows = [row_of(*row) for row in proof["rows"]]
        minted = [row["body"]["grant"] for row in rows if row["kind"] == "decision.minted"
                  and any(name == "grant:" + proof["grant"] for name, _ in row["refs"])]
        need(minted and (minted[0]["id"], minted[0]["book"]) == (proof["grant"], book), "grant", "none, or another")
        history(rows, minted[0], book)
        signatures(rows, book)
        for key in keys:
            signed = any(is_good(by, key, of_grant(minted[0])) for by in minted[0].get("signatures", []))
            need(signed, "key", "the key that you named did not sign the grant")
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Failed(f"invalid: rows: {error!r}") from None


def read_key(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.lstrip().startswith(b"-----"):
        key = serialization.load_pem_public_key(data)
        data = key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return key_of(" ".join(data.decode().split()[:2]))


def main(arguments):
    keys, code = [], 0
    while arguments[:1] == ["--key"]:
        keys.append(read_key(arguments[1]))
        arguments = arguments[2:]
    for path in arguments:
        said = "valid"
        try:
            with open(path, "rb") as file:
                verify(file.read(BOUND + 1), keys)
        except Failed as error:
            said = str(error)
        except OSError as error:
            said = f"unusable: {error}"
        print(said)
        code = max(code, {"valid": 0, "invalid": 1, "unusable": 2}[said.split(":")[0]])
    return code if arguments else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
