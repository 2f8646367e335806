"""Six things that must not happen, tried with permitd and with granted."""

from importlib.metadata import version

import probe_granted
import probe_permitd
from bench import Bench
from table import Table

PROBES = {
    "twice": "Two people decide on one thing at the same time: does the act run twice?",
    "after_denial": "A no that was answered with success: does the act run afterwards?",
    "crash": "The process is killed in mid-act: is the act recorded as done?",
    "two_writers": "Two processes write at the same time: does the chain break?",
    "torn": "The last row is cut short: is the next one lost with it?",
    "unwritable": "The log cannot be written: does the act run without a record?",
}


def probes(bench: Bench) -> Table:
    table = Table("probes", ("probe", f"permitd {version('permitd')}", "granted"))
    for name, question in PROBES.items():
        answers, seen = [], []
        for what, probe in (("permitd", probe_permitd), ("granted", probe_granted)):
            folder = bench.sub(name)
            failed, text = getattr(probe, name)(bench, folder)
            answers.append("**yes**" if failed else "no")
            seen.append(f"{what}: {text.replace(f'{folder}/', '')}.")
            # Of granted these are promises.
            table.over |= failed and what == "granted"
        table.add(question, *answers)
        table.remarks.append(f"- {question} {' '.join(seen)}")
    return table
