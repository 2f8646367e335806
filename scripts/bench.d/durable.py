"""How often each step syncs, and what: counted at the system calls."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench import Bench, environment
from table import Table

COUNT = 10


def durable(bench: Bench) -> Table:
    table = Table("durable", ("step", "syncs", "of"))
    home, folder = bench.sub("durable"), bench.sub("durable")
    # What is only synced when a home is new is not counted.
    bench.mint(home, "first")
    assert bench.granted(home, "discharge", "--type", "report", "--id", "first", "--exec", "true").returncode == 0
    steps = {
        "granted `mint`": ("mint", "--by", "bench", "--for", "1h"),
        "granted `discharge`": ("discharge", "--exec", "true"),
    }
    for what, (verb, *more) in steps.items():
        commands = [[bench.program, verb, "--type", "report", "--id", str(id), *more] for id in range(COUNT)]
        table.add(what, *told(sum((syncs(home, command)[0] for command in commands), Counter())))
    step = [sys.executable, str(Path(__file__).with_name("permitd_step.py")), str(folder)]
    subprocess.run([*step, "propose", "1"], check=True, capture_output=True)
    counted, said = syncs(folder, [*step, "propose", str(COUNT)])
    table.add("permitd `propose`", *told(counted))
    for name in ("approve", "execute"):
        table.add(f"permitd `{name}`", *told(syncs(folder, [*step, name, *said.split()])[0]))
    return table


def syncs(folder: Path, command: list[str]) -> tuple[Counter, str]:
    """The files that this command syncs, and what it prints."""
    log = folder.with_suffix(".strace")
    strace = ["strace", "-f", "-y", "-qq", "-o", str(log), "-e", "trace=fsync,fdatasync,syncfs,sync,sync_file_range"]
    done = subprocess.run([*strace, *command], env=environment(folder), capture_output=True, text=True, check=True)
    called = re.findall(r"sync\w*\(\d+<([^>]*)>", log.read_text())
    return Counter(name(Path(path), folder) for path in called), done.stdout


def name(path: Path, folder: Path) -> str:
    """What kind of file this is."""
    if path == folder:
        return "the folder"
    inside = path.relative_to(folder)
    if inside.parts[0] == "grants":
        return "the grant's file" if path.suffix == ".json" else "its folder"
    return f"`{inside}`"


def told(counted: Counter) -> tuple[str, str]:
    """How often one step syncs, and what."""
    each = {name: count / COUNT for name, count in counted.items()}
    return f"{sum(each.values()):g}", ", ".join(f"{name} {count:g}" for name, count in each.items())
