"""What a line came to: printed as it comes, and written into docs/performance.md."""

import re
from dataclasses import dataclass, field
from pathlib import Path

BUDGET = ("what", "granted", "beside it", "ratio", "budget", "")


@dataclass
class Table:
    """A table, and remarks below it."""

    name: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    over: bool = False

    def add(self, *cells: str) -> None:
        assert len(cells) == len(self.header), cells
        self.rows.append(cells)

    def budget(self, what: str, ours: str, beside: str, ratio: str, budget: str, holds: bool) -> None:
        """A row of a table with the header BUDGET."""
        self.over |= not holds
        self.add(what, ours, beside, ratio, budget, "ok" if holds else "**OVER**")

    def text(self) -> str:
        """For a terminal."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows)]
        rows = (self.header, *self.rows)
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
        text = "\n".join([f"== {self.name}", *lines, *self.remarks, ""])
        return text.replace("**", "").replace("`", "")

    def markdown(self) -> str:
        rows = [self.header, ["---"] * len(self.header), *self.rows]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        return "\n".join([*lines, *(f"\n{remark}" for remark in self.remarks)])

    def write(self, path: Path) -> None:
        """Puts the table between its marks."""
        begin, end = f"<!-- bench {self.name} -->", f"<!-- end {self.name} -->"
        place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        text, count = place.subn(lambda _: f"{begin}\n\n{self.markdown()}\n\n{end}", path.read_text())
        assert count == 1, f"{path} has {count} places for {self.name}"
        path.write_text(text)
