#!/usr/bin/env python3
"""Kills a process that uses an outbox, again and again, and checks what arrived at the server.

    outbox-kills.py CRASHER [KILLS] [SEED]      CRASHER is the built program OutboxCrasher

A ledger in this process carries out each idempotency key once. It fails on purpose: it rejects, it answers late, and it
carries out a request and closes the connection before the response. Meanwhile the program adds entries for two accounts
and sends them, alone or as two processes on one folder, and is killed at random times and at each named point. Some runs
have a wrong clock (a day or a year early or late) or a full disk. In the end the entries that are left are sent.

The check: each entry whose addition was confirmed had its effect exactly once, or is in the list of dead letters with a
reason; each unconfirmed one at most once; the entries of a lane had their effects in order; and no entry was sent with
another account.
"""

import collections
import http.server
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

POINTS = ["adding", "added", "beginning", "began", "answered", "ended"]
DAY = 86_400_000


class Ledger(http.server.ThreadingHTTPServer):
    """Carries out each key once, and records the effects."""

    daemon_threads = True

    def __init__(self, seed):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.random = random.Random(seed)
        self.effects = []
        self.keys = {}
        self.faults = collections.Counter()
        self.wrong = []
        self.fails = True

    def handle_error(self, request, client_address):
        """Does not report the connections that a killed process leaves."""

    def carry_out(self, path, key, account):
        """Returns the fault to show: None, or `silent` if the client must not hear of the effect."""
        with self.lock:
            fault = self.random.choice([None] * 12 + ["reject", "busy", "late", "silent", "silent"]) if self.fails else None
            self.faults[fault or "none"] += 1
            if fault in ("reject", "busy"):
                return fault
            _, _, owner, lane, number = path.split("/")
            if owner != account:
                self.wrong.append(f"{path} was sent as {account}")
            if key in self.keys:
                if self.keys[key] != path:
                    self.wrong.append(f"the key of {self.keys[key]} was used for {path}")
            else:
                self.keys[key] = path
                self.effects.append((owner, lane, int(number)))
            return fault


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        key = self.headers.get("Idempotency-Key", "")
        account = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.carry_out(self.path, key, account)
        if fault == "late":
            time.sleep(0.02)
        if fault == "silent":
            self.close_connection = True
            return
        self.send_response({"reject": 500, "busy": 429}.get(fault, 204))
        if fault in ("reject", "busy"):
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Run:
    def __init__(self, crasher, kills, seed):
        self.crasher, self.kills, self.seed = crasher, kills, seed
        self.random = random.Random(seed)
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="outbox-kills-"))
        os.chmod(self.place, 0o700)
        self.folder = self.place / "outbox"
        self.ledger = Ledger(seed)
        self.url = f"http://127.0.0.1:{self.ledger.server_port}"
        threading.Thread(target=self.ledger.serve_forever, daemon=True).start()
        self.ends = collections.Counter()

    def start(self, mode, name, account, **variables):
        environment = {"PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no", "LLVM_PROFILE_FILE": "/dev/null"}
        environment |= {key: str(value) for key, value in variables.items()}
        return subprocess.Popen(
            [self.crasher, mode, self.folder, self.url, name, account], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def conditions(self):
        """The conditions of one process."""
        found = {"COUNT": self.random.choice([0, 3, 9, 30])}
        kind = self.random.random()
        if kind < 0.4:
            found |= {"KILL_AT": self.random.choice(POINTS), "KILL_NUMBER": self.random.randint(1, 6)}
        if 0.4 < kind < 0.44:
            found["CLOCK"] = self.random.choice([-365 * DAY, -DAY, DAY, 365 * DAY])
        if 0.5 < kind < 0.56:
            found["FILE_LIMIT"] = self.random.choice([30_000, 60_000, 200_000])
        return found

    def work(self):
        """Kills one process, or two on the same folder."""
        names = self.random.choice([["one"], ["one"], ["one", "two"]])
        account = self.random.choice(["ada", "bo"])
        running = [self.start("work", name, account, **self.conditions()) for name in names]
        end = time.monotonic() + self.random.uniform(0.03, 0.4)
        while time.monotonic() < end and any(process.poll() is None for process in running):
            time.sleep(0.002)
        for process in running:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                self.ends["at a random time"] += 1
            elif process.returncode == -signal.SIGKILL:
                self.ends["at a named point"] += 1
            else:
                self.ends[f"with status {process.returncode}"] += 1
                print(process.stdout.read(), end="")
            process.wait()
        return len(running)

    def drain(self):
        self.ledger.fails = False
        dead = {}
        for account in ["ada", "bo"]:
            process = self.start("drain", "one", account)
            try:
                output, _ = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
                sys.exit("outbox-kills: entries were left after two minutes")
            if "drained" not in output:
                sys.exit(f"outbox-kills: the last run failed: {output}")
            for line in output.splitlines():
                if line.startswith("dead "):
                    _, entry, state, reason = line.split()
                    dead[entry] = (state, reason)
        return dead

    def check(self, dead):
        effects = collections.Counter(self.ledger.effects)
        wrong = list(self.ledger.wrong)
        confirmed, begun, refused = {}, set(), set()
        for journal in self.place.glob("*.journal"):
            for line in journal.read_text().splitlines():
                if not line.endswith(" ."):  # empty, or cut off by the limit of the file's size
                    continue
                word, account, lane, number, *rest = line.split()
                entry = (account, lane, int(number))
                if word == "adding":
                    begun.add(entry)
                elif word == "added":
                    confirmed[entry] = rest[0]
                else:
                    refused.add(entry)
        for entry, count in effects.items():
            if count > 1:
                wrong.append(f"{entry} had its effect {count} times")
            if entry not in begun or entry in refused:
                wrong.append(f"{entry} had an effect and was never added")
        for entry, number in confirmed.items():
            if effects[entry] == 0 and number not in dead:
                wrong.append(f"{entry} (entry {number}) is lost")
            if number in dead and dead[number][1] == "none":
                wrong.append(f"{entry} has no reason")
        last = {}
        for account, lane, number in self.ledger.effects:
            if number < last.get((account, lane), -1):
                wrong.append(f"{(account, lane, number)} came after {last[(account, lane)]}")
            last[(account, lane)] = number
        print(f"{self.kills} kills: " + ", ".join(f"{count} {end}" for end, count in sorted(self.ends.items())))
        print(f"{len(confirmed)} entries confirmed, {len(begun) - len(confirmed) - len(refused)} unconfirmed, "
              f"{len(refused)} refused; {len(effects)} effects, {len(dead)} dead letters "
              f"{dict(collections.Counter(dead.values()))}; server {dict(self.ledger.faults)}")
        return wrong

    def all(self):
        killed = 0
        while killed < self.kills:
            killed += self.work()
        wrong = self.check(self.drain())
        if not wrong:
            shutil.rmtree(self.place)
            return
        sys.exit("\n".join(f"outbox-kills: {line}" for line in wrong[:20]) + f"\nseed {self.seed}, files {self.place}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    Run(pathlib.Path(sys.argv[1]).resolve(), kills, seed).all()
