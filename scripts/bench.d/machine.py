"""The machine, and how busy it was: what the figures have to be read with."""

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from bench import Bench
from figures import noise, spread
from table import Table


def machine(bench: Bench) -> Table:
    table = Table("machine", ("what", "here"))
    table.add("when", datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))
    table.add("what", f"`{said(bench.program, '--version')}` of commit {commit()}")
    table.add("processor", f"{processor()}, {len(os.sched_getaffinity(0))} cores")
    table.add("kernel", f"{platform.system()} {platform.release()}")
    table.add("file system", mount(bench.folder))
    syncs = append(bench.folder / "appended")
    table.add("600 bytes appended and synced", f"{spread(syncs, 'µs')}, noise {noise(syncs)}")
    table.add("load, and the bench's niceness", " ".join(f"{load:.2f}" for load in os.getloadavg()) + f", {os.nice(0)}")
    python = f"Python {platform.python_version()}, mcp {version('mcp')}, permitd {version('permitd')}"
    table.add("beside it", f"{python}, {said('sha256sum', '--version')}")
    return table


def said(*command: str) -> str:
    """The first line that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def commit() -> str:
    head = said("git", "rev-parse", "--short", "HEAD")
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "crates"]).returncode
    return f"{head}, changed" if changed else head


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())


def mount(folder: Path) -> str:
    """The file system that holds this folder, with its options."""
    found = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    holds = (fields for fields in found if folder.is_relative_to(fields[1]))
    device, _, kind, options, *_ = max(holds, key=lambda fields: len(fields[1]))
    return f"{kind} on {device} ({options})"


def append(path: Path) -> list[float]:
    """How long an append takes until it is durable, in microseconds."""
    samples = []
    with path.open("ab", buffering=0) as file:
        for _ in range(300):
            began = perf_counter()
            file.write(b"x" * 600)
            os.fdatasync(file.fileno())
            samples.append((perf_counter() - began) * 1e6)
    return samples
