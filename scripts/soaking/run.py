"""The soak: run.py GRANTED FOLDER SEED (--minutes M | --operations N), in a folder that is not there yet.

Eight callers do random verbs of `granted` in one home, one of them over MCP. They and what they run are killed at
random moments. In the end everything is held against everything: see check.py. Exit code 1 if something is wrong."""

import argparse
import ctypes
import os
import pathlib
import random
import select
import shutil
import signal
import subprocess
import sys
import time

import check
from caller import EXECUTORS

HERE = pathlib.Path(__file__).parent
CALLERS = 8
# For how many operations of all callers the objects stay the same, and after how many a caller is killed.
EPOCH, LIFE = 2000, 25
PR_SET_CHILD_SUBREAPER = 36


def config(folder: pathlib.Path, granted: str) -> str:
    """The executors: one for each thing that one can do."""
    entries = []
    for name in dict.fromkeys(EXECUTORS):
        program = "missing" if name == "missing" else "executor"
        argv = f'["{folder}/{program}", "{name}", "{folder}/runs", "{granted}"]'
        timeout = "2s" if name == "hang" else "60s"
        entries.append(f'[executors.{name}]\nargv = {argv}\ntimeout = "{timeout}"\n')
        if name == "unconfirmed":
            entries.append('confirm = ["false"]\n')
    return "".join(entries)


class Soak:
    def __init__(self, granted: str, folder: pathlib.Path, seed: str):
        self.granted, self.folder, self.seed = granted, folder, seed
        self.random = random.Random(seed)
        self.lives = self.killed = self.done = 0
        self.callers = {}
        self.ear, self.work = os.pipe()
        # A home that its group may write is refused.
        os.umask(0o022)
        for name in ["told", "away", "home", "home/grants/report"]:
            (folder / name).mkdir(parents=True, mode=0o700)
        shutil.copy(HERE / "executor", folder / "executor")
        (folder / "bound").write_text("bound")
        (folder / "home" / "config.toml").write_text(config(folder, granted))
        os.environ["GRANTED_HOME"] = str(folder / "home")
        # What a killed process leaves behind becomes a child of this one, so that its end can be awaited.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def epoch(self, number: int) -> None:
        path = self.folder / "epoch.new"
        path.write_text(str(number))
        path.rename(self.folder / "epoch")

    def start(self, slot: int) -> None:
        self.lives += 1
        program = "client.py" if slot == 0 else "verbs.py"
        name = f"{slot}-{self.lives}"
        args = [
            sys.executable,
            str(HERE / program),
            self.granted,
            str(self.folder),
            name,
            f"{self.seed}-{name}",
            str(self.work),
        ]
        os.set_inheritable(self.work, True)
        pid = os.posix_spawn(sys.executable, args, os.environ)
        self.callers[pid] = slot

    def reap(self) -> None:
        """Takes leave of whoever ended, and starts a caller for each that did."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.callers:
                slot = self.callers.pop(pid)
                if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
                    sys.exit(f"a caller ended by itself: {status}")
                self.start(slot)

    def kill(self) -> None:
        """Kills a caller, in the middle of whatever it does. What it runs goes on without it."""
        os.kill(self.random.choice(list(self.callers)), signal.SIGKILL)
        self.killed += 1

    def go_on(self, seconds: float, operations: float) -> None:
        begun = time.monotonic()
        self.epoch(0)
        for slot in range(CALLERS):
            self.start(slot)
        while time.monotonic() - begun < seconds and self.done < operations:
            if select.select([self.ear], [], [], 1)[0]:
                os.read(self.ear, 1)
                self.done += 1
                self.epoch(self.done // EPOCH)
                if self.random.random() < 1 / LIFE:
                    self.kill()
            self.reap()

    def end(self) -> None:
        """Ends the callers, and waits for all that still runs without them."""
        for pid in self.callers:
            os.kill(pid, signal.SIGKILL)
        self.callers = {}
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return

    def granted_says(self, *args: str) -> int:
        run = subprocess.run([self.granted, *args], stdout=subprocess.PIPE, text=True)
        for line in run.stdout.splitlines()[-3:]:
            print(f"granted {' '.join(args)}: {line}")
        return run.returncode


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("granted")
    parser.add_argument("folder", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("seed")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=float, default=float("inf"))
    length.add_argument("--operations", type=float, default=float("inf"))
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    soak = Soak(os.path.realpath(args.granted), args.folder, args.seed)
    begun = time.monotonic()
    soak.go_on(args.minutes * 60, args.operations)
    seconds = time.monotonic() - begun
    soak.end()
    failed = soak.granted_says("tick") or soak.granted_says("ledger", "verify")
    wrong = check.main(soak.folder)
    told = sum(path.read_text().count('["killed"]') for path in (soak.folder / "told").iterdir())
    rows = (soak.folder / "home" / "ledger.jsonl").read_bytes().count(b"\n")
    print(
        f"{seconds:.0f} s, {soak.done} operations, {rows / seconds:.0f} rows/s, killed {soak.killed} callers and {told} of their processes"
    )
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
