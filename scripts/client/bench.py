"""Measures `granted mcp` beside the official Python SDK: bench.py GRANTED CALLS, in a home with a live
report/a. Exit code 1 where a budget is exceeded."""

import json
import os
import pathlib
import subprocess
import sys
import time

GRANTED, CALLS = sys.argv[1], int(sys.argv[2])
HERE = pathlib.Path(__file__).parent
A = {"type": "report", "id": "a"}


class Server:
    """A server, and a client that asks one thing after another."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        client = {"name": "bench", "version": "1"}
        self.ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, frame: dict) -> None:
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, number: int, method: str, params: dict) -> bytes:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self.process.stdout.readline()
        assert b'"result"' in answer, answer
        return answer

    def status(self, calls: int) -> float:
        """Calls a second."""
        began = time.monotonic()
        for number in range(1, calls + 1):
            self.ask(number, "tools/call", {"name": "grant_status", "arguments": A})
        return calls / (time.monotonic() - began)

    def resident(self) -> int:
        """KiB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:"))

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


# On one core, so that what is measured is work, and not how soon another core wakes up.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
ours = Server(GRANTED, "mcp")
theirs = Server(sys.executable, str(HERE / "status_server.py"))
answers = [
    json.loads(server.ask(0, "tools/call", {"name": "grant_status", "arguments": A}))["result"]["structuredContent"]
    for server in (ours, theirs)
]
assert answers[0] == answers[1], answers
rates: list[tuple[float, float]] = []
for _ in range(41):
    # In turns, so that both meet the same load.
    rates.append((ours.status(500), theirs.status(50)))
theirs.end()
mine, other = (sorted(rate[which] for rate in rates)[20] for which in (0, 1))
ours.status(CALLS // 10)
early = ours.resident()
ours.status(CALLS)
late = ours.resident()
ours.end()

failed = False


def budget(what: str, measured: str, holds: bool) -> None:
    global failed
    failed |= not holds
    print(f"{'ok  ' if holds else 'OVER'}  {what}: {measured}")


budget("grant_status, at least 10 x the Python SDK", f"{mine:.0f}/s and {other:.0f}/s, {mine / other:.1f} x", mine >= 10 * other)
budget("resident, under 20 MiB", f"{late / 1024:.1f} MiB", late < 20 * 1024)
budget(f"growth over {CALLS} calls, under 1 MiB", f"{late - early} KiB", late - early < 1024)
sys.exit(failed)
