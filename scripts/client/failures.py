"""Prints the failed checks of a conformance run, one a line: failures.py LABEL FOLDER."""

import json
import pathlib
import sys

label, folder = sys.argv[1:]
checks = [check for file in pathlib.Path(folder).rglob("checks.json") for check in json.loads(file.read_text())]
assert checks, f"{label}: the suite checked nothing"
for name in sorted({check["id"] for check in checks if check["status"] == "FAILURE"}):
    print(label, name)
