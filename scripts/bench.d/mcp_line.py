"""`granted mcp` beside the official Python SDK serving the same tool."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from bench import Bench, environment
from figures import amount, ratio, spread
from table import BUDGET, Table

CALLS = 100_000
A = {"type": "report", "id": "a"}


class Server:
    """A server, and a client that asks one thing after another."""

    def __init__(self, home: Path, *command: str):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment(home), **pipes)
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, frame: dict) -> None:
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> bytes:
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = self.process.stdout.readline()
        assert b'"result"' in answer, answer
        return answer

    def call(self, tool: str, **arguments: str) -> dict:
        """What a tool answers."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return json.loads(answer)["result"]["structuredContent"]

    def rate(self, calls: int) -> float:
        """Calls of grant_status a second."""
        began = monotonic()
        for _ in range(calls):
            self.ask("tools/call", {"name": "grant_status", "arguments": A})
        return calls / (monotonic() - began)

    def resident(self) -> int:
        """KiB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:"))

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def one_core():
    """What is measured then is work, and not how soon another core wakes up."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


def mcp(bench: Bench) -> Table:
    table = Table("mcp", BUDGET)
    home = bench.sub("mcp") / "home"
    bench.mint(home, "a")
    with one_core():
        ours = Server(home, bench.program, "mcp")
        theirs = Server(home, sys.executable, str(Path(__file__).parent / "status_server.py"))
        answers = [server.call("grant_status", **A) for server in (ours, theirs)]
        assert answers[0] == answers[1], answers
        # In turns, so that both meet the same load.
        rates = [(ours.rate(500), theirs.rate(50)) for _ in range(41)]
        theirs.end()
        early = ours.resident()
        ours.rate(CALLS)
        late = ours.resident()
        ours.end()
    mine, other = map(list, zip(*rates))
    whole, text = ratio(mine, other)
    beside = f"the Python SDK: {spread(other, '/s')}"
    table.budget("`grant_status` over stdio, one after another", spread(mine, "/s"), beside, text, "at least 10 ×", whole >= 10)
    table.budget("resident", f"{amount(late / 1024)} MiB", "", "", "under 20 MiB", late < 20 * 1024)
    table.budget(f"growth over {CALLS:,} calls", f"{late - early} KiB", "", "", "under 1 MiB", late - early < 1024)
    size = Path(bench.program).stat().st_size / 2**20
    table.remarks.append(f"The program is {amount(size)} MiB on disk.")
    return table
