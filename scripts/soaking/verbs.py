"""A caller that runs one random verb after another: verbs.py GRANTED FOLDER NAME SEED PIPE."""

import fcntl
import json
import os
import sys

from caller import AGENTS, TYPE, Caller
from ledger import digest


class Verbs(Caller):
    def go_on(self) -> None:
        verbs = [
            *[self.mint] * 10,
            *[self.discharge] * 22,
            *[self.status] * 3,
            self.sheet,
            self.revoke,
            self.revoke_all,
            self.resolve,
            self.tick,
            self.list,
            self.show,
            self.rows,
            self.rows,
            self.verify,
            self.executors,
            self.take_away,
            self.put_back,
            self.edit,
            self.change_bound,
            self.drop_index,
            self.tear,
        ]
        while True:
            self.pick(verbs)()
            self.worked()

    def terms(self) -> list:
        terms = ["--by", "soak", "--for", f"{self.pick([2, 5, 20, 60, 600])}s"]
        for flag, value, odds in [
            ("--allow", "send", 0.4),
            ("--allow", "pay", 0.05),
            ("--agent", "claude", 0.1),
            ("--executor", "done", 0.1),
            ("--bind", "bound", 0.05),
        ]:
            if self.random.random() < odds:
                terms += [flag, value]
        return terms

    def minted(self, out: str) -> None:
        for line in out.splitlines():
            self.note("minted", json.loads(line)["grant"]["id"])

    def mint(self) -> None:
        args = self.terms()
        if self.random.random() < 0.4:
            args += ["--decision", "APPROVE_SESSION"]
        if self.random.random() < 0.5:
            args += ["--again"]
        out, status = self.run("mint", "--type", TYPE, "--id", self.object_id(), *args)
        if status == 0:
            self.minted(out)

    def sheet(self) -> None:
        path = self.folder / f"sheet-{os.getpid()}"
        objects = {self.object_id() for _ in range(self.random.randrange(1, 6))}
        path.write_text("".join(json.dumps({"object": {"type": TYPE, "id": id}}) + "\n" for id in objects))
        out, status = self.run("mint", "--sheet", str(path), "--again", *self.terms())
        if status == 0:
            self.minted(out)

    def discharge(self) -> None:
        executor, action, key = self.asked()
        args = ["--type", TYPE, "--id", self.object_id(), "--timeout", f"{self.pick([2, 60, 60, 60])}s"]
        for flag, value in [("--action", action), ("--agent", self.pick(AGENTS)), ("--key", key)]:
            if value:
                args += [flag, value]
        shell = self.random.random() < 0.1
        command = f"{self.folder}/executor slow {self.folder}/runs {self.granted}"
        out, status = self.run("discharge", *args, *(["--exec", command] if shell else ["--executor", executor]))
        if status in (0, 3, 4, 5) and out:
            self.report(json.loads(out))

    def status(self) -> None:
        self.run("status", "--type", TYPE, "--id", self.object_id(), killed=0.02)

    def list(self) -> None:
        self.run("list", *self.pick([[], ["--all"]]), killed=0.02)

    def executors(self) -> None:
        out, _ = self.run("executors", killed=0)
        if len(out.splitlines()) < 10:
            self.note("wrong", f"executors: {out}")

    def tail(self, kind: str, count: int) -> list:
        out, status = self.run("ledger", "--tail", str(count), "--kind", kind, killed=0)
        return [json.loads(line) for line in out.splitlines()] if status == 0 else []

    def a_grant(self):
        rows = self.tail("decision.minted", 30)
        return self.pick(rows)["body"]["grant"]["id"] if rows else None

    def show(self) -> None:
        if grant := self.a_grant():
            self.run("show", grant, killed=0.02)

    def rows(self) -> None:
        out, status = self.run("ledger", "--tail", "20", killed=0.02)
        for line in out.splitlines() if status == 0 else []:
            self.note("row", json.loads(line)["seq"], digest(line.encode()))

    def revoked(self, args: list) -> None:
        out, status = self.run("revoke", *args, "--by", "soak")
        for line in out.splitlines() if status == 0 else []:
            self.note("revoked", json.loads(line)["grant_id"])

    def revoke(self) -> None:
        if grant := self.a_grant():
            self.revoked([grant])

    def revoke_all(self) -> None:
        self.revoked(["--type", TYPE, "--id", self.object_id()])

    def resolve(self) -> None:
        uncertain = [row for row in self.tail("decision.outcome", 100) if row["body"]["outcome"] == "uncertain"]
        if uncertain:
            id = self.pick(uncertain)["refs"][0][0].removeprefix("discharge:")
            out, status = self.run("resolve", id, self.pick(["--happened", "--did-not-happen"]), "--by", "soak")
            if status == 0 and out:
                self.note("resolved", json.loads(out)["discharge_id"])

    def tick(self) -> None:
        self.run("tick")

    def verify(self) -> None:
        out, status = self.run("ledger", "verify", killed=0.02)
        if status != -9 and not json.loads(out)["ok"]:
            self.note("wrong", f"ledger verify: {out}")

    def documents(self, folder: str) -> list:
        # Somebody else may take one away at the same time.
        return sorted((self.folder / folder).glob("*.json"))

    def move(self, here: str, there: str) -> None:
        documents = self.documents(here)
        if documents:
            document = self.pick(documents[-100:])
            try:
                document.rename(self.folder / there / document.name)
            except FileNotFoundError:
                pass

    def take_away(self) -> None:
        self.move(f"home/grants/{TYPE}", "away")

    def put_back(self) -> None:
        self.move("away", f"home/grants/{TYPE}")

    def edit(self) -> None:
        """Makes a document say something else, or what it said before."""
        documents = self.documents(f"home/grants/{TYPE}")
        if documents:
            try:
                with open(self.pick(documents[-100:]), "r+b") as document:
                    text = document.read()
                    document.seek(0)
                    document.write(
                        text.replace(b'"soak"', b'"sulk"') if b'"soak"' in text else text.replace(b'"sulk"', b'"soak"')
                    )
            except FileNotFoundError:
                pass

    def change_bound(self) -> None:
        (self.folder / "bound").write_text(str(self.random.random()))

    def drop_index(self) -> None:
        runs = sorted((self.home / "index").glob("*.run"))
        if runs and self.random.random() < 0.1:
            self.pick(runs).unlink(missing_ok=True)

    def tear(self) -> None:
        """Leaves what a writer leaves whose write the machine cut short: the beginning of a row."""
        path = self.home / "ledger.jsonl"
        if self.random.random() < 0.7 or not path.exists():
            return
        with open(path, "r+b") as ledger:
            fcntl.flock(ledger, fcntl.LOCK_EX)
            ledger.seek(max(0, os.path.getsize(path) - 4096))
            tail = ledger.read()
            if tail.endswith(b"\n"):
                line = tail.splitlines()[-1]
                ledger.write(line[: self.random.randrange(1, len(line))])
                self.note("tore")


if __name__ == "__main__":
    granted, folder, name, seed, work = sys.argv[1:]
    Verbs(granted, folder, name, seed, int(work)).go_on()
