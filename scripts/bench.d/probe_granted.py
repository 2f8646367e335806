"""The same probes of granted, through its command line. Each answers whether the thing happened, and
what was seen."""

import json
import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import Bench, environment

WRITERS, ROWS = 8, 50


class Held:
    """A command that is stopped after it has decided and before it locks the ledger: at the system call
    by which it opens the ledger for writing."""

    def __init__(self, bench: Bench, home: Path, words: list[str], twin: list[str]):
        """`twin` does the same to another object, and shows which call that is."""
        trace = ["strace", "-D", "-y", "-e", "trace=openat,flock"]
        command = [*trace, bench.program, *twin]
        calls = subprocess.run(command, env=environment(home), capture_output=True, text=True).stderr
        before, _ = re.split(r"^flock\(\d+<[^>]*/ledger\.jsonl>", calls, maxsplit=1, flags=re.MULTILINE)
        number = len(re.findall(r"^openat\(", before, flags=re.MULTILINE))
        inject = ["-e", f"inject=openat:signal=SIGSTOP:when={number}"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        # With -D the process is granted, and strace watches it.
        self.process = subprocess.Popen([*trace, *inject, bench.program, *words], env=environment(home), **pipes)
        calls = []
        while not calls or "stopped by SIGSTOP" not in calls[-1]:
            calls.append(self.process.stderr.readline())
            assert calls[-1], calls
        assert not any("flock" in call and "ledger.jsonl" in call for call in calls), calls

    def release(self) -> str:
        """Lets it go on; what it says."""
        os.kill(self.process.pid, signal.SIGCONT)
        stdout, stderr = self.process.communicate(timeout=60)
        said = [line for line in stderr.splitlines() if line.startswith("granted: ")]
        return first(stdout) or first("\n".join(said))


def first(text: str) -> str:
    return re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "…", text.splitlines()[0]) if text else ""


def object(id: str) -> list[str]:
    return ["--type", "report", "--id", id]


def discharge(home: Path, id: str) -> list[str]:
    return ["discharge", *object(id), "--exec", f"echo {id} >> {home}/acts.log"]


def acts(home: Path, id: str) -> int:
    log = home / "acts.log"
    return log.read_text().splitlines().count(id) if log.exists() else 0


def rows(home: Path) -> list[dict]:
    return [json.loads(line) for line in (home / "ledger.jsonl").read_text().splitlines()]


def verified(bench: Bench, home: Path) -> tuple[bool, str]:
    done = bench.granted(home, "ledger", "verify")
    return done.returncode == 0, "intact" if done.returncode == 0 else first(done.stdout + done.stderr)


def begin(bench: Bench, home: Path) -> None:
    """A first discharge makes folders, and so more calls than those after it."""
    bench.mint(home, "first")
    bench.granted(home, *discharge(home, "first"))


def twice(bench: Bench, home: Path) -> tuple[bool, str]:
    begin(bench, home)
    bench.mint(home, "a")
    bench.mint(home, "b")
    held = Held(bench, home, discharge(home, "a"), discharge(home, "b"))
    other = first(bench.granted(home, *discharge(home, "a")).stdout)
    late = held.release()
    mint = lambda id: ["mint", *object(id), "--by", "bench", "--for", "1h"]
    held = Held(bench, home, mint("c"), mint("d"))
    bench.mint(home, "c")
    minted = held.release()
    for _ in range(2):
        bench.granted(home, *discharge(home, "c"))
    ran = {id: acts(home, id) for id in "ac"}
    seen = f"one attempt held between its look and its claim; another: {other}; the first goes on: {late}; the act ran {ran['a']} ×. One mint held likewise while another mints: {minted}; discharged twice, the act ran {ran['c']} ×"
    assert min(ran.values()) > 0, seen
    return max(ran.values()) > 1, seen


def after_denial(bench: Bench, home: Path) -> tuple[bool, str]:
    begin(bench, home)
    bench.mint(home, "a")
    bench.mint(home, "b")
    held = Held(bench, home, discharge(home, "a"), discharge(home, "b"))
    revoked = bench.granted(home, "revoke", *object("a"))
    assert revoked.returncode == 0, revoked
    late = held.release()
    return acts(home, "a") > 0, f"an attempt held likewise; the person revokes, with success; it goes on: {late}; the act ran {acts(home, 'a')} ×"


def crash(bench: Bench, home: Path) -> tuple[bool, str]:
    bench.mint(home, "a")
    killed = bench.granted(home, "discharge", *object("a"), "--exec", "kill -9 $PPID")
    assert killed.returncode == -signal.SIGKILL, killed
    bench.granted(home, "tick")
    ends = [row["body"] for row in rows(home) if row["kind"] == "decision.outcome"]
    outcomes = [f"{end['outcome']}: {end['reason']}" for end in ends]
    again = first(bench.granted(home, *discharge(home, "a")).stdout)
    seen = f"the act kills `granted`; after `tick` the ledger says {', '.join(outcomes)}; another attempt: {again}"
    return outcomes != ["uncertain: interrupted"], seen


def two_writers(bench: Bench, home: Path) -> tuple[bool, str]:
    bench.mint(home, "a")

    def write(_: int) -> None:
        for number in range(ROWS):
            refused = bench.granted(home, *discharge(home, f"none-{number}"))
            assert refused.returncode == 3, refused

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    whole, found = verified(bench, home)
    written = len(rows(home)) - 2
    return not whole or written != WRITERS * ROWS, f"{WRITERS} processes at a time write {written} refusals; `verify`: {found}"


def torn(bench: Bench, home: Path) -> tuple[bool, str]:
    bench.mint(home, "a")
    bench.mint(home, "b")
    ledger = home / "ledger.jsonl"
    os.truncate(ledger, ledger.stat().st_size - 20)
    bench.mint(home, "c")
    lost = bench.granted(home, "status", *object("c")).returncode != 0
    whole, found = verified(bench, home)
    where = "is lost" if lost else "stands on a line of its own"
    aside = sum(file.stat().st_size for file in home.glob("ledger.torn-*"))
    return lost or not whole, f"20 bytes cut off the ledger; the next row {where}; {aside} bytes were moved aside; `verify`: {found}"


def unwritable(bench: Bench, home: Path) -> tuple[bool, str]:
    bench.mint(home, "a")
    # The limit forbids any longer file; a folder is none.
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", bench.program, "discharge", *object("a")]
    done = subprocess.run([*limited, "--exec", f"mkdir {home}/ran"], env=environment(home), capture_output=True, text=True)
    ran = (home / "ran").exists()
    control = bench.granted(home, "discharge", *object("a"), "--exec", f"mkdir {home}/control")
    assert (home / "control").exists(), control
    return ran, f"the process may make no file longer; {first(done.stdout)}; the act ran {int(ran)} ×; without the limit it then runs"
