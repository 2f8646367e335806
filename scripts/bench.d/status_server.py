"""The official Python SDK serving grant_status, to compare with: it reads the same files, and checks
nothing of what the ledger promises."""

import json
import os
import pathlib
from typing import Any

from mcp.server import MCPServer

HOME = pathlib.Path(os.environ["GRANTED_HOME"])
server = MCPServer("granted")


@server.tool()
def grant_status(type: str, id: str) -> dict[str, Any]:
    """Look up a grant."""
    rows = [json.loads(line) for line in (HOME / "ledger.jsonl").read_text().splitlines()]
    grant = next(
        row["body"]["grant"]
        for row in reversed(rows)
        if row["kind"] == "decision.minted" and row["body"]["grant"]["object"] == {"type": type, "id": id}
    )
    mine = [row for row in rows if any(grant["id"] in subject for subject, _ in row["refs"])]
    document = json.loads((HOME / "grants" / type / f"{id}~{grant['id']}.json").read_text())
    return {"status": "consumed" if document["consumed"] else "live", "grant": grant, "rows": mine}


server.run("stdio")
