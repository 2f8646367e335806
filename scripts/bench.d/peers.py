"""What others do for the same end: SQLite, and permitd."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from permitd import RED, AuditLog, Gate, PermitKernel, SqliteStore

from bench import Bench
from figures import ratio, spread
from mcp_line import Server
from table import Table

ROUNDS, EACH = 10, 50
ARGS = {"to": "list", "body": "the weekly report"}


def nothing(**_: str) -> bool:
    """The act of a cycle in one process."""
    return True


def true(**_: str) -> int:
    """The act of a cycle as it is set up in earnest."""
    return subprocess.run(["/bin/true"], capture_output=True, check=True).returncode


def timed(samples: list[float], work, *words):
    began = perf_counter()
    done = work(*words)
    samples.append((perf_counter() - began) * 1e6)
    return done


def kernel(folder: Path) -> PermitKernel:
    """As its README sets it up, with its own store, secret and audit log."""
    store, audit = SqliteStore(folder / "permitd.db"), AuditLog(folder / "permitd_audit.jsonl")
    return PermitKernel(store, secret_path=folder / "permitd.db.secret", audit=audit)


def claim(bench: Bench) -> Table:
    """Making sure, durably, that something is done once."""
    table = Table("claim", ("claim", "took", "beside granted", "makes durable"))
    home, folder = bench.sub("claim") / "home", bench.sub("claim")
    base = sqlite3.connect(folder / "wal.db", isolation_level=None)
    assert base.execute("pragma journal_mode = wal").fetchone() == ("wal",)
    base.execute("pragma synchronous = full")
    base.execute("create table grants (id text primary key, state text not null)")
    ids = [f"{number:07}" for number in range(ROUNDS * EACH)]
    base.executemany("insert into grants values (?, 'live')", ((id,) for id in ids))
    permits = kernel(folder)

    def update(id: str) -> None:
        done = base.execute("update grants set state = 'claimed' where id = ? and state = 'live'", (id,))
        assert done.rowcount == 1

    ours, wal, theirs = [], [], []
    for start in range(0, len(ids), EACH):
        ours += bench.work("cycle", start, EACH, home=home)["claim"]
        for id in ids[start : start + EACH]:
            timed(wal, update, id)
        for _ in range(EACH):
            permit = permits.approve(permits.propose("send", ARGS).id)
            assert timed(theirs, permits.verify_and_burn, "send", ARGS, permit.id) == (True, "ok")
    base.close()
    table.add("granted: from the call of `discharge` until the act begins", spread(ours, "µs"), "", "the claim, as a row of the chain")
    rows = (
        (f"SQLite {sqlite3.sqlite_version}, WAL, `synchronous=FULL`: one conditional `UPDATE`", wal, "the new state"),
        ("permitd: `verify_and_burn`", theirs, "the new state; no audit line yet"),
    )
    for what, samples, durable in rows:
        table.add(what, spread(samples, "µs"), ratio(samples, ours)[1], durable)
    return table


def cycle(bench: Bench) -> Table:
    """A permit from its proposal, and a grant from its mint, to the recorded end of the act."""
    table = Table("cycle", ("cycle", "granted", "permitd", "ratio"))
    home, folder = bench.sub("cycle") / "home", bench.sub("cycle")
    ours, theirs, discharged, executed = [], [], [], []
    for start in range(0, ROUNDS * EACH, EACH):
        samples = bench.work("cycle", start, EACH, home=home)
        ours += [sum(pair) for pair in zip(samples["mint"], samples["discharge"])]
        discharged += samples["discharge"]
        one_process(folder, EACH, theirs, executed)
    rows = (
        ("one process, a no-op: `mint`, `discharge` beside `propose`, `approve`, `execute`", ours, theirs),
        ("of these the agent's last step: `discharge` beside `execute`", discharged, executed),
        ("as set up in earnest, `/bin/true`: the person's command, the agent's server", *deployed(bench)),
    )
    for what, mine, other in rows:
        table.add(what, spread(mine, "ms", 1e3), spread(other, "ms", 1e3), ratio(mine, other)[1])
    return table


def one_process(folder: Path, count: int, wholes: list[float], executed: list[float]) -> None:
    """So many permits, each proposed, approved and executed."""
    permits = kernel(folder)

    def whole() -> None:
        permit = permits.approve(permits.propose("send", ARGS).id)
        assert timed(executed, permits.execute, "send", ARGS, permit.id, nothing)

    for _ in range(count):
        timed(wholes, whole)


def deployed(bench: Bench) -> tuple[list[float], list[float]]:
    """`granted mint` and `granted mcp`, beside `permitd approve` and a gate in the agent's process."""
    home, folder = bench.sub("deployed"), bench.sub("deployed")
    (home / "config.toml").write_text("[executors.true]\nargv = ['/bin/true']\ncwd = '/'\n")
    server = Server(home, bench.program, "mcp")
    gate = Gate(db=folder / "permitd.db")
    gate.register("send", true, tier=RED)
    command = str(Path(sys.executable).with_name("permitd"))

    def ours(id: str) -> None:
        bench.mint(home, id)
        answer = server.call("grant_discharge", type="report", id=id, executor="true")
        assert answer["reason"] == "confirmed", answer

    def theirs() -> None:
        permit = gate.call("send", ARGS).permit["id"]
        approve = [command, "--db", str(folder / "permitd.db"), "approve", permit]
        subprocess.run(approve, capture_output=True, check=True)
        assert gate.call("send", ARGS, permit_id=permit).ok

    mine, other = [], []
    for number in range(100):
        timed(mine, ours, str(number))
        timed(other, theirs)
    server.end()
    return mine, other
