"""bench.d PROGRAM WORKS FOLDER [--write] [LINE...]: see scripts/bench."""

import sys
from pathlib import Path

from bench import Bench
from budgets import discharge, process, prove, signed, status, threads, verify
from durable import durable
from machine import machine
from mcp_line import mcp
from overshoot import overshoot
from peers import claim, cycle
from probes import probes
from spends_line import spends
from writes_line import writes

LINES = [discharge, process, signed, threads, status, verify, prove, mcp, writes, spends, overshoot, claim, cycle, durable, probes]
PAGE = Path("docs/performance.md")

program, works, folder, *words = sys.argv[1:]
write = "--write" in words
wanted = [word for word in words if word != "--write"]
unknown = set(wanted) - {line.__name__ for line in LINES}
if unknown:
    sys.exit(f"scripts/bench: there is no line {', '.join(sorted(unknown))}; scripts/bench --help lists them")

bench = Bench(program, works, Path(folder))
tables = []
for line in [machine, *(line for line in LINES if not wanted or line.__name__ in wanted)]:
    table = line(bench)
    print(table.text(), flush=True)
    if write:
        table.write(PAGE)
    tables.append(table)
over = [table.name for table in tables if table.over]
if over:
    sys.exit(f"scripts/bench: over the budget: {', '.join(over)}")
