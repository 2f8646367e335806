"""A caller that speaks to `granted mcp`, several calls at a time: client.py GRANTED FOLDER NAME SEED PIPE."""

import json
import os
import select
import subprocess
import sys

from caller import TYPE, Caller
from ledger import canonical, digest

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client(Caller):
    def go_on(self) -> None:
        while True:
            self.serve()

    def serve(self) -> None:
        """The life of one server, which ends one way or another."""
        agent = self.pick([[], ["--agent", "claude"]])
        self.server = subprocess.Popen(
            [self.granted, "mcp", *agent],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            bufsize=0,
        )
        self.waiting, self.number, self.read = set(), 0, b""
        end = self.pick(["kill", "kill", "terminate", "close"])
        for _ in range(self.random.randrange(5, 60)):
            try:
                self.call()
                if self.number % 5 == 0:
                    self.hear(0.5)
            except BrokenPipeError:
                # One of its executors has killed it.
                break
        getattr(self, end)()
        self.hear(None)
        self.judge(("mcp", end), self.server.wait(), "")

    def kill(self) -> None:
        self.server.kill()
        self.note("killed")

    def terminate(self) -> None:
        self.server.terminate()

    def close(self) -> None:
        self.server.stdin.close()

    def send(self, method: str, params: dict, **id) -> None:
        frame = {"jsonrpc": "2.0", **id, "method": method, "params": params | {"_meta": META}}
        self.server.stdin.write(json.dumps(frame).encode() + b"\n")

    def call(self) -> None:
        self.number += 1
        tool = self.pick(["grant_discharge"] * 6 + ["grant_status", "ledger_tail"])
        arguments = {"type": TYPE, "id": self.object_id()}
        if tool == "grant_discharge":
            asked = zip(("executor", "action", "key"), self.asked())
            arguments |= {name: value for name, value in asked if value}
        elif tool == "ledger_tail":
            arguments = {"n": 20}
        self.send("tools/call", {"name": tool, "arguments": arguments}, id=self.number)
        self.waiting.add(self.number)
        if self.random.random() < 0.1:
            # Maybe before it began, maybe in the middle, maybe too late.
            self.hear(self.random.expovariate(1 / 0.05))
            self.send("notifications/cancelled", {"requestId": self.number})
            self.waiting.discard(self.number)

    def hear(self, patience) -> None:
        """Takes what comes until all is answered, nothing comes for so long, or the server is gone."""
        stdout = self.server.stdout.fileno()
        while self.waiting or patience is None:
            while b"\n" not in self.read:
                if patience is not None and not select.select([stdout], [], [], patience)[0]:
                    return
                read = os.read(stdout, 1 << 16)
                if not read:
                    return
                self.read += read
            line, _, self.read = self.read.partition(b"\n")
            frame = json.loads(line)
            self.waiting.discard(frame.get("id"))
            if "result" in frame:
                self.answered(frame["result"].get("structuredContent") or {})
            elif "error" in frame:
                self.note("wrong", f"mcp: {line.decode()}")
            self.worked()

    def answered(self, content: dict) -> None:
        if "outcome" in content:
            self.report(content)
        elif "status" not in content:
            for row in content.get("rows", []):
                self.note("row", row["seq"], digest(canonical(row)))


if __name__ == "__main__":
    granted, folder, name, seed, work = sys.argv[1:]
    Client(granted, folder, name, seed, int(work)).go_on()
