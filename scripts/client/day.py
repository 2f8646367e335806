"""The day of docs/writes.md, with the official Python client in the agent's place: day.py GRANTED SITE KEY.

The person's part is done by the program, in the home of the environment; KEY is a private SSH key that the
book trusts under the name `laptop`.
"""

import asyncio
import os
import pathlib
import subprocess
import sys

from mcp import Client, StdioServerParameters

GRANTED, SITE, KEY = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
APP = SITE / "src" / "app.py"


def person(*args: str) -> str:
    return subprocess.run([GRANTED, "writes", *args], check=True, capture_output=True, text=True).stdout.strip()


def server() -> StdioServerParameters:
    args = ["writes", "mcp", "--agent", "producer", "--project", str(SITE)]
    return StdioServerParameters(command=GRANTED, args=args, env=dict(os.environ))


async def call(client: Client, tool: str, **arguments) -> dict:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def change(client: Client, text: str, nonce: str) -> dict:
    read = await call(client, "read_file_hashed", path="src/app.py")
    assert read["content"] == APP.read_text(), read
    return await call(
        client,
        "write_file",
        path="src/app.py",
        content=text,
        base_sha256=read["base_sha256"],
        rationale="as the guide tells",
        dispatch=nonce,
    )


async def main() -> None:
    nonce = person("dispatch", "producer", "--project", str(SITE))
    async with Client(server()) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert len(names) == 5 and "write_file" in names, names
        filed = await change(client, "print('two')\n", nonce)
        assert filed["status"] == "staged", filed
        person("approve", filed["request_id"], "--digest", filed["digest"], "--by", "me")
        assert APP.read_text() == "print('two')\n"
        status = await call(client, "request_status", request_id=filed["request_id"])
        assert status["status"] == "applied", status

    unsigned = str(SITE.parent / "unsigned")
    sign = ["sign", "producer", "--project", str(SITE)]
    person(*sign, "--key", "laptop", "--unsigned-out", unsigned)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", KEY, "-n", "granted.direct-write.v1", unsigned]
    subprocess.run(command, check=True, capture_output=True)
    person(*sign, "--signature", f"{unsigned}.sig")
    async with Client(server()) as client:
        filed = await change(client, "print('three')\n", nonce)
        assert filed["status"] == "applied", filed
        assert APP.read_text() == "print('three')\n"
        refused = await change(client, "print('four'\n", nonce)
        assert refused["reason"] == "gate_failed" and "SyntaxError" in refused["detail"], refused
        person("revoke", "producer", "--project", str(SITE))
        assert (await change(client, "print('five')\n", nonce))["status"] == "staged"


asyncio.run(main())
