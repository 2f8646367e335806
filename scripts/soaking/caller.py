"""What every caller of the soak has: the program, the random numbers, and a file in which it notes what it was told."""

import json
import os
import pathlib
import random
import subprocess

TYPE = "report"
ACTIONS = [None, "send", "send", "pay"]
EXECUTORS = [
    *["done"] * 8,
    *["slow"] * 4,
    *["declined"] * 3,
    *["says-ok"] * 2,
    "failed",
    "hang",
    "says-failed",
    "unsure",
    "loud",
    "cut-before",
    "cut-after",
    "died-before",
    "died-after",
    "unconfirmed",
    "missing",
]
AGENTS = [None, None, "claude", "codex"]
KEYS = [None, None, "k", "l"]
# Errors that are no outcome and that the soak's own doings bring about.
EXPECTED = {"refused", "stopped", "input"}
# Said by who waited for the lock in vain, which can happen where the machine is very busy.
BUSY = "is locked by another process"


class Caller:
    def __init__(self, granted: str, folder: str, name: str, seed: str, work):
        self.granted, self.folder = granted, pathlib.Path(folder)
        self.random = random.Random(seed)
        self.home = self.folder / "home"
        self.file = open(self.folder / "told" / name, "ab", buffering=0)
        self.work = work

    def note(self, *what) -> None:
        """One write: whoever is killed has noted it or not."""
        self.file.write(json.dumps(what).encode() + b"\n")

    def pick(self, choices):
        return self.random.choice(choices)

    def object_id(self) -> str:
        epoch = (self.folder / "epoch").read_text()
        return f"{epoch}/{self.random.randrange(24)}"

    def asked(self) -> tuple:
        """The executor, action and key of an attempt. A key mostly stands for the same act."""
        key = self.pick(KEYS)
        if key and self.random.random() < 0.8:
            return ("slow" if key == "k" else "done"), "send", key
        return self.pick(EXECUTORS), self.pick(ACTIONS), key

    def worked(self) -> None:
        """Tells the supervisor that one more thing is done."""
        os.write(self.work, b".")

    def report(self, report: dict) -> None:
        if report["discharge_id"]:
            self.note("attempt", report["discharge_id"], report["outcome"], report["reason"])
        if report["reason"] in ("ledger_unwritable", "ledger_rolled_back", "clock_behind"):
            said = f"refused: {report['reason']}: {report['detail']}"
            self.note("error" if BUSY in said else "wrong", said)

    def run(self, *args: str, killed=0.25):
        """Runs the program, and kills it after a moment with this probability. What it printed, and its status."""
        process = subprocess.Popen(
            [self.granted, *args, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )
        kill = self.random.random() < killed
        try:
            out, err = process.communicate(timeout=self.random.expovariate(1 / 0.01) if kill else None)
        except subprocess.TimeoutExpired:
            process.kill()
            self.note("killed")
            out, err = process.communicate()
        self.judge(args, process.returncode, err.decode(errors="replace"))
        return out.decode(errors="replace"), process.returncode

    def judge(self, args, status: int, err: str) -> None:
        """Notes what no verb may do."""
        said = f"{' '.join(args)}: status {status}: {err[-500:]}"
        if status == 2 and "the window is over" in err:
            # The machine was so busy that the grant's time was up before it was minted.
            self.note("error", "window")
        elif "panicked" in err or status not in (0, 1, 3, 4, 5, -9, -15):
            self.note("wrong", said)
        elif status == 1 and err:
            lines = [line for line in err.splitlines() if line.startswith('{"error"')]
            kind = json.loads(lines[-1])["error"]["kind"] if lines else "none"
            self.note("error", kind)
            if kind not in EXPECTED and BUSY not in said:
                self.note("wrong", said)
