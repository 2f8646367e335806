"""The lines that have a budget, and what is measured beside each."""

from pathlib import Path
from statistics import median

from bench import Bench
from figures import amount, noise, ratio, spread
from table import BUDGET, Table

SMALL, MIDDLE, LARGE = 10, 70_000, 1_000_000
"""Grants in a book."""


def reference(samples: list[float]) -> str:
    """How far the quartiles of a fixed work are apart is the noise of the run."""
    return f"In turns with these, `/bin/true` alone: {spread(samples, 'µs')}; noise {noise(samples)}."


def discharge(bench: Bench) -> Table:
    return against_base(bench, "discharge", "durable discharge of `/bin/true` in one process", 1.3)


def process(bench: Bench) -> Table:
    return against_base(bench, "process", "`granted discharge --exec true`", 1.8)


def against_base(bench: Bench, work: str, what: str, most: float) -> Table:
    table = Table(work, BUDGET)
    samples = bench.work(work, bench.sub(work), bench.program, 600)
    whole, text = ratio(samples["granted"], samples["base"])
    ours, base = (spread(samples[name], "µs") for name in ("granted", "base"))
    table.budget(what, ours, base, text, f"at most {most} ×", whole <= most)
    table.remarks.append(reference(samples["true"]))
    return table


def threads(bench: Bench) -> Table:
    table = Table("threads", BUDGET)
    rates = bench.work("crowd", bench.sub("crowd"), bench.program, 7)
    for disk, what, least in (("slow", "a sync of 2 ms", 15), ("real", "this disk", 2.5)):
        together, alone = rates[f"{disk}_all"], rates[f"{disk}_one"]
        whole, text = ratio(together, alone)
        many, one = (spread(rates, "/s") for rates in (together, alone))
        table.budget(f"64 threads, no-op executor, {what}", many, f"one thread: {one}", text, f"at least {least} ×", whole >= least)
    return table


def status(bench: Bench) -> Table:
    table = Table("status", BUDGET)
    small, large = book(bench, SMALL), book(bench, LARGE)
    samples = bench.work("status", bench.program, 1_000, small, SMALL, large, LARGE)
    few, many = median(samples["small"]), median(samples["large"])
    text = spread(samples["large"], "ms", 1e3)
    table.budget(f"`granted status`, {LARGE:,} grants", text, "", "", "under 4 ms", many < 4_000)
    beside = f"{SMALL} grants: {spread(samples['small'], 'ms', 1e3)}"
    more = (many - few) / 1e3
    table.budget("the same beside a small book", text, beside, f"{more:+.2f} ms", "at most +0.6 ms", more <= 0.6)
    table.remarks.append(reference(samples["true"]))
    return table


def verify(bench: Bench) -> Table:
    table = Table("verify", BUDGET)
    for grants, count in ((MIDDLE, 21), (LARGE, 7)):
        samples = bench.work("verify", bench.program, book(bench, grants), count)
        size, peak = samples["bytes"], samples["peak_kib"] / 1024
        # Bytes in a microsecond are megabytes in a second.
        ours, base = ([size / time for time in samples[name]] for name in ("granted", "base"))
        whole, text = ratio(ours, base)
        beside = f"`sha256sum`: {spread(base, 'MB/s')}"
        what = f"`granted ledger verify` of {size / 1e6:,.0f} MB"
        table.budget(what, spread(ours, "MB/s"), beside, text, "at least 0.5 ×", whole >= 0.5)
        table.budget("the most memory that it took", f"{amount(peak)} MiB", "", "", "under 32 MiB", peak < 32)
    return table


def prove(bench: Bench) -> Table:
    table = Table("prove", BUDGET)
    # Each grant is at least one row.
    samples = bench.work("prove", bench.program, book(bench, LARGE), LARGE, 300)
    took, text = median(samples["granted"]), spread(samples["granted"], "ms", 1e3)
    table.budget(f"`granted ledger prove`, over {LARGE:,} rows", text, "", "", "under 20 ms", took < 20_000)
    table.add(f"`granted proof` of a spent grant there", spread(samples["proof"], "ms", 1e3), "", "", "", "")
    size = samples["bytes"]
    table.budget("the largest such proof", f"{size:,} bytes", "", "", "under 8 KiB", size < 8 << 10)
    table.remarks.append(reference(samples["true"]))
    return table


def signed(bench: Bench) -> Table:
    table = Table("signed", BUDGET)
    samples = bench.work("signed", bench.sub("signed"), bench.program, 600)
    ours, base = (spread(samples[name], "µs") for name in ("signed", "plain"))
    more = median(samples["signed"]) - median(samples["plain"])
    what = "durable discharge of a signed grant in one process"
    table.budget(what, ours, f"of an unsigned one: {base}", f"{more:+.0f} µs", "under +100 µs", more < 100)
    table.remarks.append(reference(samples["true"]))
    return table


def book(bench: Bench, grants: int) -> Path:
    """The book of so many grants, made when it is first wanted."""
    root = bench.folder / f"book-{grants}"
    if not root.exists():
        bench.work("book", root, grants)
    return root
