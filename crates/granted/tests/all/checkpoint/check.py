"""Checks proofs of rows, one a line on stdin, by what docs/format.md says; prints `holds` or why not.

Written without a look at granted. The signature is checked by OpenSSL.
"""
import base64
import hashlib
import json
import subprocess
import sys
import tempfile

# The DER of an Ed25519 public key, before its 32 bytes.
DER = bytes.fromhex("302a300506032b6570032100")


def sha256(data):
    return hashlib.sha256(data).digest()


def signed(key, text, signature):
    with tempfile.NamedTemporaryFile() as k, tempfile.NamedTemporaryFile() as t, \
            tempfile.NamedTemporaryFile() as s:
        for file, data in ((k, DER + key), (t, text), (s, signature)):
            file.write(data)
            file.flush()
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-rawin",
                   "-inkey", k.name, "-in", t.name, "-sigfile", s.name]
        return subprocess.run(command, capture_output=True).returncode == 0


def root_of(leaf, index, size, proof):
    """RFC 9162, 2.1.3.2."""
    fn, sn, r = index, size - 1, leaf
    for p in proof:
        assert sn, "the proof is too long"
        if fn & 1 or fn == sn:
            r = sha256(b"\x01" + p + r)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = sha256(b"\x01" + r + p)
        fn, sn = fn >> 1, sn >> 1
    assert sn == 0, "the proof is too short"
    return r


def check(proof):
    assert proof["kind"] == "granted-row-proof/1", "the kind"
    name, key_id, typed = proof["key"].split("+", 2)
    typed = base64.b64decode(typed, validate=True)
    assert typed[0] == 1 and len(typed) == 33, "the key"
    expected = sha256(name.encode() + b"\n" + typed)[:4]
    assert expected.hex() == key_id, "the key's id"
    text, _, lines = proof["checkpoint"].rpartition("\n\n")
    text += "\n"
    good = False
    for line in lines.removesuffix("\n").split("\n"):
        dash, signer, signature = line.split(" ")
        signature = base64.b64decode(signature, validate=True)
        if dash == "\u2014" and signer == name and signature[:4] == expected:
            assert signed(typed[1:], text.encode(), signature[4:]), "the signature"
            good = True
    assert good, "no signature of the key"
    origin, size, root, head = text.splitlines()
    assert origin == name and origin.startswith("granted/"), "the origin"
    index, row = proof["index"], proof["row"].encode()
    assert 0 <= index < int(size), "the index"
    assert json.loads(row)["seq"] == index + 1, "the number of the row"
    digest = sha256(row)
    path = [bytes.fromhex(step) for step in proof["proof"]]
    leaf = sha256(b"\x00" + digest)
    assert root_of(leaf, index, int(size), path) == base64.b64decode(root, validate=True), "the root"
    if index + 1 == int(size):
        assert head.split(" ")[1] == digest.hex(), "the head"


for line in sys.stdin:
    try:
        check(json.loads(line))
        print("holds")
    except Exception as error:
        print("does not hold:", repr(error))
