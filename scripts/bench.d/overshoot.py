"""A budget under processes that race and are killed: by how much more than the budget is spent."""

import base64
import http.client
import json
import os
import random
import socket
import subprocess
import threading
import time
from pathlib import Path

from bench import Bench
from mcp_line import Server
from spends_line import PASSWORD, at_terminal, typed
from table import BUDGET, Table

TRIALS, AGENTS, ASKED, APPROVERS = 5, 10, 8, 4
"""How often; how many processes of the agent, and for how many payments each asks; how many people's processes."""
BUDGET_SAT, AMOUNT_SAT = 6_000, 1_000


class Node:
    """A bitcoin node on regtest, with coins."""

    def __init__(self, folder: Path):
        self.folder = folder
        programs = subprocess.run(["scripts/bitcoin"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = ["-regtest", "-server=1", "-listen=0", "-connect=0", "-dnsseed=0", "-fixedseeds=0", "-natpmp=0", "-txindex=1", "-fallbackfee=0.0001", "-printtoconsole=0"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([f"{programs}/bitcoind", f"-datadir={folder}", f"-rpcport={self.port}", *settings], **quiet)
        while True:
            assert self.process.poll() is None, "the node does not start"
            try:
                self.call("getblockcount")
                break
            except (OSError, AssertionError):
                time.sleep(0.05)
        self.call("createwallet", "w")
        self.mine(101)

    def user(self) -> str:
        return (self.folder / "regtest/.cookie").read_text().strip()

    def call(self, method: str, *params: object):
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        user = base64.b64encode(self.user().encode()).decode()
        wire.request("POST", "/", json.dumps({"method": method, "params": params}), {"Authorization": f"Basic {user}"})
        answer = json.loads(wire.getresponse().read())
        wire.close()
        assert answer["error"] is None, (method, answer)
        return answer["result"]

    def address(self) -> str:
        return self.call("getnewaddress")

    def mine(self, blocks: int) -> list[str]:
        return self.call("generatetoaddress", blocks, self.address())

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


class Trial:
    """One grant, and what becomes of it."""

    def __init__(self, bench: Bench, home: Path, node: Node):
        self.bench, self.home, self.node = bench, home, node
        self.flags = ["--network", "regtest", "--provider", f"core=http://{node.user()}@127.0.0.1:{node.port}"]
        self.to = node.address()
        self.killed = self.filed = 0
        self.lock = threading.Lock()

    def sats(self, *words: str) -> object:
        done = self.bench.granted(self.home, "sats", *words, *self.flags, "--json")
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def run(self) -> int:
        """What was spent."""
        words = ["agent", "grant", "many", "--budget", str(BUDGET_SAT), "--max-fee", "500", *self.flags, "--json"]
        shown = typed(self.home, [self.bench.program, "sats", *words], ("password", PASSWORD))
        self.token = json.loads(shown[shown.index("{") :])["token"]
        self.together(self.ask, AGENTS)
        # Those that were killed in the middle are seen to by whoever comes next; so some rounds are made.
        for _ in range(3):
            self.together(self.approve, APPROVERS)
        (block,) = self.node.mine(1)
        paid = self.node.call("getblock", block, 2)["tx"][1:]
        sats = lambda bitcoins: round(bitcoins * 100_000_000)
        outputs = [output for tx in paid for output in tx["vout"] if output["scriptPubKey"].get("address") == self.to]
        assert len(outputs) == len(paid) > 0, paid
        return sum(sats(output["value"]) for output in outputs) + sum(sats(tx["fee"]) for tx in paid)

    def together(self, work, count: int) -> None:
        failed = []

        def one(number: int) -> None:
            try:
                work(number)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def ask(self, number: int) -> None:
        """A process of the agent, which is killed once in the middle and started anew."""
        server, turn, dies = self.serve(), 0, random.randrange(ASKED)
        while turn < ASKED:
            if turn == dies:
                dies = None
                threading.Timer(random.random() / 100, server.process.kill).start()
                self.count_kill()
            arguments = {"address": self.to, "amount_sat": AMOUNT_SAT, "idempotency_key": f"{number}-{turn}"}
            try:
                answer = server.call("request_send", **arguments)
            except (AssertionError, OSError):
                server.process.wait()
                server = self.serve()
                continue
            assert answer["status"] in ("pending_approval", "denied"), answer
            turn += 1
        server.end()

    def serve(self) -> Server:
        words = ["env", f"SATS_AGENT_TOKEN={self.token}", self.bench.program, "sats", "agent", "serve", "many", *self.flags]
        return Server(self.home, *words)

    def approve(self, _: int) -> None:
        """A person who says yes to everything, and some of whose processes die."""
        waiting = [request["id"] for request in self.sats("agent", "requests")]
        with self.lock:
            self.filed = max(self.filed, len(waiting))
        random.shuffle(waiting)
        for id in waiting:
            dies = random.random() if random.random() < 0.25 else None
            words = [self.bench.program, "sats", "agent", "approve", id, "--yes", *self.flags]
            status, _ = at_terminal(self.home, words, ("password", PASSWORD), dies=dies)
            if os.WIFSIGNALED(status):
                self.count_kill()

    def count_kill(self) -> None:
        with self.lock:
            self.killed += 1


def overshoot(bench: Bench) -> Table:
    table = Table("overshoot", BUDGET)
    folder = bench.sub("overshoot")
    home, data = folder / "home", folder / "node"
    home.mkdir(mode=0o700)
    data.mkdir()
    typed(home, [bench.program, "sats", "init", "--words", "12", "--network", "regtest"], ("password", PASSWORD), ("again", PASSWORD))
    node = Node(data)
    try:
        trials = [Trial(bench, home, node) for _ in range(TRIALS)]
        coins = range(TRIALS * 2 * BUDGET_SAT // AMOUNT_SAT)
        node.call("sendmany", "", {trials[0].sats("receive")["address"]: 0.0005 for _ in coins})
        node.mine(1)
        spent = [trial.run() for trial in trials]
    finally:
        node.end()
    over = max(0, *(sat - BUDGET_SAT for sat in spent))
    killed, filed = (sum(getattr(trial, name) for trial in trials) for name in ("killed", "filed"))
    what = f"{TRIALS} trials: {AGENTS} processes of an agent, {APPROVERS} at a time of a person; {filed} requests, {killed} processes killed"
    table.budget(what, f"{min(spent):,} to {max(spent):,} sat spent", f"a budget of {BUDGET_SAT:,} sat", "", f"0 sat beyond it: {over:,}", over == 0)
    return table
