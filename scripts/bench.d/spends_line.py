"""`sats agent`: filing beside a synced append, listing and memory."""

import hashlib
import json
import os
import pty
import subprocess
from pathlib import Path
from signal import SIGKILL
from statistics import median
from threading import Timer

from bench import Bench, environment
from budgets import reference
from figures import amount, ratio, spread
from mcp_line import Server, one_core
from table import BUDGET, Table
from writes_line import called, multiply, timed

PASSWORD = "correct horse"
ADDRESS = "tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n"
COUNT, RECORDS = 15, 10_000


def at_terminal(home: Path, words: list[str], *answers: tuple[str, str], dies: float | None = None) -> tuple[int, str]:
    """Runs a command at a terminal, types each answer when it is asked for, and kills it after so many seconds;
    its wait status, and what was shown since the last answer."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(words[0], words, environment(home))
    killer = Timer(dies, os.kill, (pid, SIGKILL)) if dies is not None else None
    if killer:
        killer.start()
    shown = b""
    waiting = list(answers)
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if waiting and waiting[0][0].encode() in shown:
            try:
                os.write(terminal, waiting.pop(0)[1].encode() + b"\n")
            except OSError:
                break
            shown = b""
    if killer:
        killer.cancel()
        killer.join()
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return status, shown.decode()


def typed(home: Path, words: list[str], *answers: tuple[str, str]) -> str:
    """The same for a command that succeeds; what it showed in the end."""
    status, shown = at_terminal(home, words, *answers)
    assert status == 0, (words, status, shown)
    return shown


def grant(bench: Bench, home: Path, agent: str) -> str:
    """A new grant for an agent; its token."""
    command = [bench.program, "sats", "agent", "grant", agent, "--budget", "1m", "--max-fee", "1k", "--json"]
    shown = typed(home, command, ("password", PASSWORD))
    return json.loads(shown[shown.index("{") :])["token"]


def another(number: int, row: dict) -> tuple[str, dict]:
    """The same request under another key."""
    body = row["body"] | {"idempotency_key": f"many-{number}"}
    name = "\0".join(["sats-request-v1", body["grant_id"], body["agent"], body["idempotency_key"]])
    return f"spend:r-{hashlib.sha256(name.encode()).hexdigest()[:32]}", body


def spends(bench: Bench) -> Table:
    table = Table("spends", BUDGET)
    home = bench.sub("spends") / "home"
    home.mkdir(mode=0o700)
    init = [bench.program, "sats", "init", "--words", "12"]
    typed(home, init, ("password", PASSWORD), ("again", PASSWORD))
    rows = os.open(bench.folder / "spend-rows", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    filed, base, true, resident = [], [], [], 0
    with one_core():
        for number in range(COUNT):
            # A server lets some through at once, so each has a few.
            agent = f"agent-{number}"
            token = grant(bench, home, agent)
            server = Server(home, "env", f"SATS_AGENT_TOKEN={token}", bench.program, "sats", "agent", "serve", agent)
            for turn in range(15):
                arguments = {"address": ADDRESS, "amount_sat": 1_000 + turn, "idempotency_key": f"k{turn}"}
                answer = called(filed, server, "request_send", arguments)
                assert answer["status"] == "pending_approval", answer
                size = len((home / "ledger.jsonl").read_bytes().splitlines()[-1]) + 1
                timed(base, lambda: (os.write(rows, b"x" * size), os.fdatasync(rows)))
                timed(true, lambda: subprocess.run(["/bin/true"], check=True))
            resident = max(resident, server.resident())
            server.end()
    inside = bench.work("filing", grant(bench, home, "bench"), ADDRESS, 300, home=home)
    whole, text = ratio(inside["granted"], inside["base"])
    table.budget("a request filed, in one process", spread(inside["granted"], "µs"), f"a synced append of its row: {spread(inside['base'], 'µs')}", text, "at most 1.5 ×", whole <= 1.5)
    _, text = ratio(filed, base)
    table.add("the same over stdio, less a ping of the server", spread(filed, "µs"), f"a synced append of its row: {spread(base, 'µs')}", text, "", "")
    table.budget("`sats agent serve`, resident", f"{amount(resident / 1024)} MiB", "", "", "under 40 MiB", resident < 40 * 1024)
    multiply(home / "ledger.jsonl", "spend.filed", RECORDS - len(filed) - 301, another)
    took = []
    for _ in range(41):
        listed = timed(took, lambda: bench.granted(home, "sats", "agent", "requests", "--all", "--json"))
        found = len(json.loads(listed.stdout))
        assert found == RECORDS, (found, listed.stderr)
    table.budget(f"`sats agent requests --all` of {RECORDS:,} records", spread(took, "ms", 1e3), "", "", "under 50 ms", median(took) < 50_000)
    table.remarks.append(reference(true))
    return table
