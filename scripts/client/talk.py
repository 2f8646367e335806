"""The official Python client: talk.py MODE PROGRAM ARGS... in a home that has a live report/a."""

import asyncio
import os
import sys

from mcp import Client, MCPError, StdioServerParameters

MODE, PROGRAM, *ARGS = sys.argv[1:]
A = {"type": "report", "id": "a"}
ACT = {**A, "executor": "send", "action": "send", "key": "k"}


async def main() -> None:
    server = StdioServerParameters(command=PROGRAM, args=ARGS, env=dict(os.environ))
    async with Client(server, mode=MODE, read_timeout_seconds=120) as client:
        modern = client.protocol_version == "2026-07-28"
        assert modern == (MODE == "auto"), client.protocol_version
        assert client.server_info.name == "granted"
        assert len(client.instructions.splitlines()) == 10
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["grant_status", "grant_discharge", "ledger_tail"]

        # The client checks each structured result against the tool's output schema.
        status = await client.call_tool("grant_status", A)
        assert status.structured_content["status"] == "live", status
        heard = []

        async def hear(progress: float, _total: float | None, _message: str | None) -> None:
            heard.append(progress)

        report = await client.call_tool("grant_discharge", ACT, progress_callback=hear)
        assert report.structured_content["outcome"] == "discharged", report
        assert heard, "no progress was heard"
        again = await client.call_tool("grant_discharge", ACT)
        assert again.structured_content["replayed"] is True, again
        refused = await client.call_tool("grant_discharge", {**ACT, "key": "other"})
        assert not refused.is_error
        assert refused.structured_content["reason"] == "consumed", refused
        rows = await client.call_tool("ledger_tail", {"n": 3})
        kinds = [row["kind"] for row in rows.structured_content["rows"]]
        assert kinds == ["decision.result", "decision.outcome", "decision.outcome"], kinds
        try:
            await client.call_tool("grant_status", {**A, "mint": True})
        except MCPError as error:
            assert error.error.code == -32602 and "`mint`" in error.error.message, error
        else:
            raise AssertionError("an unknown argument was accepted")


asyncio.run(main())
