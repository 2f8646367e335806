"""`granted writes`: filing, direct writes, and listing, beside the syncs and renames that they cannot do without."""

import hashlib
import json
import os
import subprocess
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic_ns

from bench import Bench, environment
from budgets import reference
from figures import ratio, spread
from mcp_line import Server, one_core
from table import BUDGET, Table

BRIEF = """
[agents.direct]
tools = ["write_file"]
write_scopes = ["src/one"]
approval = "direct"
dispatch = "required"

[agents.staged]
tools = ["write_file"]
write_scopes = ["src/"]

[caps]
bytes_a_day = 1000000000
staged = 10000
"""
COUNT, SIZE, RECORDS = 200, 10 * 1024, 10_000


class Floor:
    """The bare system calls that syncs and renames are."""

    def __init__(self, folder: Path):
        self.folder, self.names = folder, count()
        self.rows = os.open(folder / "rows", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def put(self, name: str, content: bytes) -> None:
        """A file written beside its place, synced and renamed."""
        path = self.folder / name
        fd = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(fd, content)
        os.fsync(fd)
        os.close(fd)
        os.rename(f"{path}.new", path)

    def sync(self) -> None:
        """The folder."""
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def append(self, size: int) -> None:
        os.write(self.rows, b"x" * size)
        os.fdatasync(self.rows)

    def staging(self, content: bytes) -> None:
        """A content kept; a row."""
        self.put(str(next(self.names)), content)
        self.sync()
        self.append(900)

    def direct(self, content: bytes) -> None:
        """A content kept (what it replaces was kept the time before); a row; the file replaced, and what it was
        taken away; a row."""
        self.put(str(next(self.names)), content)
        self.sync()
        self.append(1_000)
        self.put("file", content)
        self.sync()
        os.unlink(self.folder / "file")
        self.sync()
        self.append(300)


def content(turn: int) -> str:
    return f"{turn:08}".ljust(SIZE, "x")


def sign(bench: Bench, home: Path, site: Path) -> None:
    """Trusts a key of OpenSSH, and signs a direct grant with it."""
    key = site.parent / "key"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], **quiet)
    words = ["writes", "sign", "direct", "--project", str(site)]
    unsigned = str(site.parent / "unsigned")
    for line in (["key", "trust", f"{key}.pub", "--name", "bench"], [*words, "--key", "bench", "--max-writes", "500", "--unsigned-out", unsigned]):
        done = bench.granted(home, *line)
        assert done.returncode == 0, done
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "granted.direct-write.v1", unsigned], **quiet)
    done = bench.granted(home, *words, "--signature", f"{unsigned}.sig")
    assert done.returncode == 0, done


def called(samples: list[float], server: Server, tool: str, arguments: dict) -> dict:
    """Calls a tool; its answer. The sample is what that takes longer than a ping of the same server, so that it is
    not the pipe which is measured."""
    ping, call = [], []
    timed(ping, lambda: server.ask("ping", {}))
    answer = timed(call, lambda: server.call(tool, **arguments))
    samples.append(call[0] - ping[0])
    return answer


def timed(samples: list[float], work) -> object:
    began = monotonic_ns()
    done = work()
    samples.append((monotonic_ns() - began) / 1e3)
    return done


def writes(bench: Bench) -> Table:
    table = Table("writes", BUDGET)
    folder = bench.sub("writes")
    site, home = folder / "site", folder / "home"
    (site / "src").mkdir(parents=True)
    (site / "granted.toml").write_text(BRIEF)
    home.mkdir(mode=0o700)
    sign(bench, home, site)
    serve = lambda agent: Server(home, bench.program, "writes", "mcp", "--agent", agent, "--project", str(site))
    staged, staged_base, applied, applied_base, true = [], [], [], [], []
    with one_core():
        staging, direct = serve("staged"), serve("direct")
        floor = Floor(bench.sub("floor"))
        base, nonce = "absent", ""
        for turn in range(COUNT):
            text = content(turn)
            arguments = {"path": f"src/{turn}", "content": text, "base_sha256": "absent", "rationale": "bench"}
            answer = called(staged, staging, "write_file", arguments)
            assert answer["status"] == "staged", answer
            timed(staged_base, lambda: floor.staging(text.encode()))
            if turn % 10 == 0:
                nonce = bench.granted(home, "writes", "dispatch", "direct", "--project", str(site)).stdout.strip()
            # Other bytes than those that were just staged, so that they are kept too.
            text = content(turn + COUNT)
            arguments |= {"path": "src/one", "content": text, "base_sha256": base, "dispatch": nonce}
            answer = called(applied, direct, "write_file", arguments)
            assert answer["status"] == "applied", answer
            base = hashlib.sha256(text.encode()).hexdigest()
            timed(applied_base, lambda: floor.direct(text.encode()))
            timed(true, lambda: subprocess.run(["/bin/true"], check=True))
        for server in (staging, direct):
            server.end()
    kinds = (("a file of 10 KiB staged, less a ping of the server", staged, staged_base), ("the same under a direct grant", applied[1:], applied_base[1:]))
    for what, ours, bare in kinds:
        whole, text = ratio(ours, bare)
        table.budget(what, spread(ours, "µs"), f"its syncs and renames: {spread(bare, 'µs')}", text, "at most 1.5 ×", whole <= 1.5)
    more = (median(applied) - median(applied_base)) / 1e3
    table.budget("a direct write beside the bare one", "", "", f"{more:+.2f} ms", "under +1 ms", more < 1)
    another = lambda number, row: (f"{row['refs'][0][0][:-10]}{number:010}", row["body"])
    multiply(home / "ledger.jsonl", "write.staged", RECORDS - COUNT, another, ("write.rejected", {"by": "bench"}))
    took = []
    for _ in range(41):
        listed = timed(took, lambda: bench.granted(home, "writes", "staged", "--json"))
        assert len(listed.stdout.splitlines()) == COUNT, (listed.stderr, listed.stdout[:300])
    what = f"`granted writes staged`, {RECORDS:,} records of which {COUNT} wait"
    table.budget(what, spread(took, "ms", 1e3), "", "", "under 50 ms", median(took) < 50_000)
    table.remarks.append(reference(true))
    return table


def multiply(ledger: Path, kind: str, count: int, fresh, then: tuple[str, dict] | None = None) -> None:
    """Adds so many rows like the last one of this kind to a ledger, each of another request: `fresh` gives its
    subject and body. After each one of another kind, with this body, about that request."""
    rows = [json.loads(line) for line in ledger.read_text().splitlines()]
    like = next(row for row in reversed(rows) if row["kind"] == kind)
    heads = {subject: row["seq"] for row in rows for subject, _ in row["refs"]}
    last, seq, lines = ledger.read_bytes().splitlines()[-1], rows[-1]["seq"], []

    def append(row: dict, subjects: list[str]) -> None:
        nonlocal last, seq
        seq += 1
        refs = [[subject, heads.get(subject, 0)] for subject in subjects]
        heads.update({subject: seq for subject in subjects})
        row = row | {"prev": hashlib.sha256(last).hexdigest(), "refs": refs, "seq": seq}
        last = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        lines.append(last + b"\n")

    for number in range(count):
        owner, body = fresh(number, like)
        subjects = [owner, *(subject for subject, _ in like["refs"][1:])]
        append(like | {"body": body}, subjects)
        if then:
            append(like | {"kind": then[0], "body": then[1]}, subjects)
    with ledger.open("ab") as file:
        file.writelines(lines)
