"""What all lines need: the program, the work in Rust, and a folder on the disk that is measured."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bench:
    program: str
    """`granted` as it is shipped."""
    works: str
    """crates/granted/benches/lines, built."""
    folder: Path
    """Empty at first, and on the disk of the repository: /tmp may be memory."""

    def work(self, *words: object, home: Path | None = None) -> dict:
        """Has the Rust side do a line's work; its samples."""
        command = [self.works, *map(str, words)]
        done = subprocess.run(command, env=environment(home), stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def granted(self, home: Path, *words: str) -> subprocess.CompletedProcess:
        """Runs the program in this home."""
        command = [self.program, *words]
        return subprocess.run(command, env=environment(home), capture_output=True, text=True, timeout=60)

    def mint(self, home: Path, id: str) -> None:
        """Mints a grant of report/ID."""
        minted = self.granted(home, "mint", "--type", "report", "--id", id, "--by", "bench", "--for", "24h")
        assert minted.returncode == 0, minted

    def sub(self, name: str) -> Path:
        """A new folder."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))


def environment(home: Path | None) -> dict[str, str]:
    """The environment, with this home and no other."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRANTED_")}
    return kept | ({"GRANTED_HOME": str(home)} if home else {})
