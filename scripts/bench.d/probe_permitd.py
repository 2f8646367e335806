"""The probes of permitd, through the functions that its README names. Each answers whether the thing
happened, and what was seen."""

import json
import os
import signal
from collections.abc import Callable
from datetime import datetime, timezone
from multiprocessing import get_context
from pathlib import Path

from permitd import AuditLog, PermitError, PermitKernel, SqliteStore

from bench import Bench
from peers import ARGS, kernel

WRITERS, ROWS, ROUNDS = 2, 100, 10
fork = get_context("fork")


class Approver:
    """A process that approves a permit, and is held between its look at the permit and its write."""

    def __init__(self, folder: Path, permit: str):
        self.looked, self.go_on = fork.Event(), fork.Event()
        self.process = fork.Process(target=self.approve, args=(folder, permit))
        self.process.start()
        assert self.looked.wait(60)

    def approve(self, folder: Path, permit: str) -> None:
        readings = 0

        def clock() -> datetime:
            """permitd's own parameter: read once for the permit's age, and again for its approval."""
            nonlocal readings
            readings += 1
            if readings == 2:
                self.looked.set()
                assert self.go_on.wait(60)
            return datetime.now(timezone.utc)

        paths = {"secret_path": folder / "permitd.db.secret", "audit": AuditLog(folder / "permitd_audit.jsonl")}
        PermitKernel(SqliteStore(folder / "permitd.db"), clock=clock, **paths).approve(permit)

    def release(self) -> bool:
        """Lets it write; whether it was told that it approved."""
        self.go_on.set()
        self.process.join(60)
        return self.process.exitcode == 0


def execute(permits: PermitKernel, permit: str, act: Callable[..., object]) -> str:
    try:
        permits.execute("send", ARGS, permit, act)
        return "executed"
    except PermitError as refusal:
        return f"refused: {refusal.reason}"


def twice(_: Bench, folder: Path) -> tuple[bool, str]:
    permits, acts = kernel(folder), []
    permit = permits.propose("send", ARGS).id
    second = Approver(folder, permit)
    permits.approve(permit)
    answers = [execute(permits, permit, lambda **_: acts.append(1))]
    assert len(acts) == 1, "the approved call did not run"
    told = second.release()
    answers.append(execute(permits, permit, lambda **_: acts.append(1)))
    seen = f"one approver held between its look and its write; the other approves, the agent executes; the first goes on and is told {'`approved`' if told else 'no'}; executing the same permit again: {answers[1]}; the act ran {len(acts)} ×"
    return len(acts) > 1, seen


def after_denial(_: Bench, folder: Path) -> tuple[bool, str]:
    permits, acts = kernel(folder), []
    permit = permits.propose("send", ARGS).id
    approver = Approver(folder, permit)
    assert permits.deny(permit).status == "denied"
    approver.release()
    answer = execute(permits, permit, lambda **_: acts.append(1))
    seen = f"an approver held likewise; another denies the permit, with success; the first goes on; execute: {answer}; the act ran {len(acts)} ×"
    return len(acts) > 0, seen


def crash(_: Bench, folder: Path) -> tuple[bool, str]:
    permits = kernel(folder)
    permit = permits.approve(permits.propose("send", ARGS).id).id
    act = lambda **_: os.kill(os.getpid(), signal.SIGKILL)
    process = fork.Process(target=lambda: kernel(folder).execute("send", ARGS, permit, act))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    status = permits.get(permit).status
    lines = [json.loads(line) for line in (folder / "permitd_audit.jsonl").read_text().splitlines()]
    events = [line["event"] for line in lines]
    seen = f"the act kills its process; the permit says `{status}`; the audit log says {', '.join(events)}"
    return status == "executed" or "executed" in events, seen


def two_writers(_: Bench, folder: Path) -> tuple[bool, str]:
    kernel(folder)

    def write() -> None:
        permits = kernel(folder)
        for _ in range(ROWS):
            permits.propose("send", ARGS)

    log = AuditLog(folder / "permitd_audit.jsonl")
    for number in range(1, ROUNDS + 1):
        writers = [fork.Process(target=write) for _ in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(300)
            assert writer.exitcode == 0
        whole = log.verify()
        if not whole.ok:
            break
    found = "intact" if whole.ok else f"broken at line {whole.first_bad_line}: {whole.reason}"
    seen = f"{WRITERS} processes propose {ROWS} × each, {number} of at most {ROUNDS} times; `verify`: {found}"
    return not whole.ok, seen


def torn(_: Bench, folder: Path) -> tuple[bool, str]:
    permits, log = kernel(folder), folder / "permitd_audit.jsonl"
    permits.propose("send", ARGS)
    permits.propose("send", ARGS)
    os.truncate(log, log.stat().st_size - 20)
    third = permits.propose("send", ARGS).id
    lost = not any(record["permit_id"] == third for record in AuditLog(log).tail())
    verified = AuditLog(log).verify()
    found = "intact" if verified.ok else f"broken at line {verified.first_bad_line}: {verified.reason}"
    where = "stands on no line of its own" if lost else "stands on a line of its own"
    return lost, f"20 bytes cut off the audit log; the next row {where}; `verify`: {found}"


def unwritable(_: Bench, folder: Path) -> tuple[bool, str]:
    (folder / "permitd_audit.jsonl").mkdir()
    permits, acts = kernel(folder), []
    try:
        permit = permits.approve(permits.propose("send", ARGS).id).id
        answer = execute(permits, permit, lambda **_: acts.append(1))
    except OSError as error:
        answer = f"refused: {error}"
    seen = f"a folder stands where the audit log would be; {answer}; the act ran {len(acts)} ×; `dropped` is {permits.audit.dropped}"
    return len(acts) > 0, seen
