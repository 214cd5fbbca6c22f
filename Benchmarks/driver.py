"""Runs the clients in turn and prints how Errand compares with libcurl in C and with URLSession.

Each client is a child process, `PROGRAM MODE URL COUNT`, that prints one JSON line:

    {"name": "curl-parallel", "requests": 20000, "cpu_us_per_request": 12.3,
     "wall_us_per_request": 14.5, "requests_per_second": 68000}

The child measures wall clock and CPU time around its loop, after a warm-up. All clients run once in each round, so that
other load on the machine affects all of them. Modes with many requests in flight are compared by medians, sequential
modes by minima, because waking a sleeping processor has two very different costs. transfers.py has the transfers of one
large file, waits.py the waiting times of small calls during a large one, values.py the decoding of JSON.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import failures
from transfers import Place, make_transfers, print_transfers
from values import Values, print_values
from waits import make_waits, print_waits

TIMEOUT = 120
# What is measured over the engine, too, beside the platform's transport.
ENGINE_MODES = [
    ("parallel", 40000, statistics.median),
    ("core", 40000, statistics.median),
    ("typed", 40000, statistics.median),
    ("parallel-on-loop", 40000, statistics.median),
    ("sequential", 10000, min),
    ("sequential-main", 10000, min),
    ("sequential-on-loop", 10000, min),
]
# What is measured over the engine, in C and in Go: TLS, HTTP/2 and larger bodies.
PEER_MODES = [
    ("parallel-tls", "/200b", 40000),
    ("parallel-h2", "/200b", 40000),
    ("parallel-10k", "/10k.json", 20000),
    ("parallel-1m", "/1m", 2000),
]


class Client:
    """A program in one of its modes, over a transport of that name if the program has several."""

    def __init__(self, program, mode, path, count, by=statistics.median, transport=None):
        self.program, self.mode, self.path, self.count, self.by = program, mode, path, count, by
        self.transport = transport
        self.name = f"{transport or program}-{mode}"
        self.lines, self.failure = [], None

    def run(self, options):
        """One round. A client that failed once is not run again, because its figures would be incomplete."""
        if self.failure:
            return
        base = options.files.resolve().as_uri() if self.mode.startswith("decode") else options.url
        if self.mode.endswith(("-tls", "-h2")):
            base = options.tls
        count = max(self.count // (10 if options.quick else 1), 64)
        programs = options.peers if self.program == "go-http" else options.programs
        command = [programs / f"bench-{self.program}", self.mode, base + self.path, str(count)]
        try:
            environment = dict(os.environ, ERRAND_TRANSPORT=self.transport) if self.transport else None
            child = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT, check=True, env=environment
            )
            self.lines.append(read_line(child.stdout, count))
        except failures.KINDS as error:
            self.failure = failures.words(error)

    def values(self, key):
        return [line[key] for line in self.lines]

    def cpu(self):
        """CPU time per request in microseconds, or None if it was not measured."""
        return None if self.failure or not self.lines else self.by(self.values("cpu_us_per_request"))

    def rate(self):
        return None if self.failure or not self.lines else self.by(self.values("requests_per_second"))


def read_line(output, count):
    """The figures of a child. Raises ValueError if the line is not a measurement of `count` requests."""
    line = json.loads(output.strip().splitlines()[-1] if output.strip() else "")
    for key in ("cpu_us_per_request", "wall_us_per_request", "requests_per_second"):
        if not isinstance(line.get(key), (int, float)) or line[key] <= 0:
            raise ValueError(f"{key} is missing")
    if line.get("requests") != count:
        raise ValueError(f"{line.get('requests')} requests instead of {count}")
    return line


def make_clients():
    """Every client, in the order in which a round runs them."""
    small, account, large = "/200b", "/200b.json", "/10k.json"
    clients = [
        Client("curl", "parallel", small, 40000),
        Client("errand", "parallel", small, 40000),
        Client("urlsession", "parallel", small, 4000),
        Client("errand", "core", small, 40000),
        Client("errand", "typed", account, 40000),
        Client("errand", "decode-200b", account, 40000),
        Client("curl", "sequential", small, 10000, min),
        Client("errand", "sequential", small, 10000, min),
        Client("errand", "sequential-main", small, 10000, min),
        Client("urlsession", "sequential", small, 2000, min),
        Client("curl", "fetch-10k", large, 5000, min),
        Client("errand", "decode-10k", large, 2000, min),
        Client("errand", "typed-10k", large, 2000, min),
        Client("errand", "typed-10k-own", large, 2000, min),
        Client("errand", "alone", small, 40000),
        Client("errand", "alone-joining", small, 40000),
        Client("errand", "parallel-joining", small, 40000),
        Client("errand", "sequential-joining", small, 10000, min),
        Client("errand", "sequential-main-joining", small, 10000, min),
        Client("errand", "parallel-guarded", small, 40000),
        Client("errand", "typed-guarded", account, 40000),
        Client("errand", "sequential-guarded", small, 10000, min),
        Client("errand", "sequential-main-guarded", small, 10000, min),
        Client("errand", "parallel-recorded", small, 40000),
        Client("errand", "sequential-recorded", small, 10000, min),
        Client("errand", "batch-100", small, 20000),
        Client("errand", "sends-100", small, 20000),
        Client("errand", "line-batch-100", small, 100000),
        Client("errand", "line-sends-100", small, 100000),
        Client("errand", "hit", account, 100000),
        Client("errand", "hit-main", account, 100000),
        Client("errand", "hit-floor", account, 100000),
        Client("errand", "disk-find", small, 20000),
        Client("errand", "disk-send", small, 20000),
        Client("errand", "disk-put", small, 20000),
        Client("errand", "sqlite-read", small, 20000),
        Client("errand", "file-read", small, 20000),
        Client("errand", "outbox-add", small, 5000),
        Client("errand", "outbox-commit", small, 5000),
        Client("errand", "outbox-open", small, 20),
        Client("errand", "bare-hop", small, 20000),
        Client("errand", "bare-task", small, 100000),
        *[
            Client("errand", mode, account if mode.startswith("typed") else small, count, by, transport="engine")
            for mode, count, by in ENGINE_MODES
        ],
    ]
    for mode, path, count in [("parallel", small, 40000), *PEER_MODES]:
        clients.append(Client("go-http", mode, path, count))
    for mode, path, count in PEER_MODES:
        clients += [Client("curl", mode, path, count), Client("errand", mode, path, count, transport="engine")]
    clients.append(Client("go-http", "sequential", small, 10000, min))
    return {client.name: client for client in clients}


class Row:
    """A goal: the figures it is made of and the bounds it is held against; one without a goal is only printed."""

    def __init__(self, number, what, inputs, figure, goal=None, stretch=None, at_least=False, unit=""):
        self.number, self.what, self.inputs, self.figure = number, what, inputs, figure
        self.goal, self.stretch, self.at_least, self.unit = goal, stretch, at_least, unit

    def judge(self, clients):
        """The figure, or None if it was not measured, and the verdict."""
        values = [getattr(clients[name], key)() for name, key in self.inputs]
        if any(value is None for value in values):
            return None, "not measured"
        value = self.figure(*values)
        if self.goal is None:
            return value, "no goal"
        if self.stretch is not None and self.reaches(value, self.stretch):
            return value, "met, stretch too"
        return value, "met" if self.reaches(value, self.goal) else "NOT MET"

    def reaches(self, value, bound):
        return value >= bound if self.at_least else value <= bound


    def is_chosen(self, clients):
        return all(name in clients for name, _ in self.inputs)


def ratio(ours, theirs):
    return ours / theirs


def make_rows():
    """The rows with their goals, numbered as in the project's performance notes."""
    limit = ("curl-parallel", "cpu")
    easy = ("curl-sequential", "cpu")
    ten = [("errand-decode-10k", "cpu"), ("curl-fetch-10k", "cpu")]
    against_parts = lambda ours, decode, fetch: ours / (decode + fetch)
    own_share = lambda typed, core, decode: typed - core - decode
    own_cost = lambda with_it, without: with_it - without
    share_inputs = [("errand-typed", "cpu"), ("errand-core", "cpu"), ("errand-decode-200b", "cpu")]
    fetched, sent = ("errand-download", "cpu"), ("errand-upload", "cpu")
    itself = lambda value: value
    return [
        Row("1", "send, 64 in flight: CPU ÷ C multi", [("errand-parallel", "cpu"), limit], ratio, 1.6, 1.3),
        Row("1c", "the transport alone: CPU ÷ C multi", [("errand-core", "cpu"), limit], ratio),
        Row("2", "1 ÷ URLSession", [("errand-parallel", "cpu"), ("urlsession-parallel", "cpu")], ratio,
            1 / 8, 1 / 12),
        Row("3", "requests/s, 64 in flight ÷ C multi", [("errand-parallel", "rate"), ("curl-parallel", "rate")], ratio,
            0.8, 0.95, at_least=True),
        Row("4", "sequential, background: CPU ÷ C easy", [("errand-sequential", "cpu"), easy], ratio, 2.2, 1.9),
        Row("5", "sequential, main actor: CPU ÷ C easy", [("errand-sequential-main", "cpu"), easy], ratio, 3.0, 2.7),
        Row("4j", "4 with joining on, no call to join", [("errand-sequential-joining", "cpu"), easy], ratio),
        Row("5j", "5 with joining on, no call to join", [("errand-sequential-main-joining", "cpu"), easy], ratio),
        Row("1g", "1 with retries, account, breaker, rate", [("errand-parallel-guarded", "cpu"), limit], ratio, 1.6),
        Row("3g", "3 with them", [("errand-parallel-guarded", "rate"), ("curl-parallel", "rate")], ratio, 0.8,
            at_least=True),
        Row("4g", "4 with them", [("errand-sequential-guarded", "cpu"), easy], ratio, 2.2),
        Row("5g", "5 with them", [("errand-sequential-main-guarded", "cpu"), easy], ratio, 3.0),
        Row("6g", "6 with them", [("errand-typed-guarded", "cpu"), limit], ratio, 2.5),
        Row("1r", "1 with the flight record on ÷ 1", [("errand-parallel-recorded", "cpu"), ("errand-parallel", "cpu")],
            ratio, 1.1),
        Row("4r", "4 with the flight record on ÷ 4",
            [("errand-sequential-recorded", "cpu"), ("errand-sequential", "cpu")], ratio, 1.1),
        Row("J", "joining, 64 in flight, no call to join", [("errand-alone-joining", "cpu"), ("errand-alone", "cpu")],
            own_cost, 2, unit=" µs"),
        Row("Jt", "a task that suspends once, 64 in flight", [("errand-bare-task", "cpu")], itself, unit=" µs"),
        Row("6", "typed call, 64 in flight: CPU ÷ C multi", [("errand-typed", "cpu"), limit], ratio, 2.5, 2.0),
        Row("7", "own share of a typed call", share_inputs, own_share, 4, 2, unit=" µs"),
        Row("8", "10 KiB typed ÷ (JSONDecoder + C fetch)", [("errand-typed-10k", "cpu"), *ten], against_parts, 1.3, 0.4),
        Row("9", "file download: CPU ÷ C, 512 KiB buffer", [fetched, ("curl-download", "cpu")], ratio, 1.1, 1.03),
        Row("9p", "the same with progress", [("errand-download-progress", "cpu"), ("curl-download", "cpu")], ratio),
        Row("9s", "9 ÷ C that syncs every 32 MiB", [fetched, ("curl-download-synced", "cpu")], ratio),
        Row("9c", "9 ÷ the command curl", [fetched, ("curl-command-download", "cpu")], ratio),
        Row("9w", "9 ÷ wget", [fetched, ("wget-download", "cpu")], ratio),
        Row("9a", "9 ÷ aria2c", [fetched, ("aria2c-download", "cpu")], ratio),
        Row("10", "memory that the file adds", [("errand-download", "memory")], itself, 4, 1, unit=" MiB"),
        Row("U", "file upload: CPU ÷ curl -T", [sent, ("curl-command-upload", "cpu")], ratio, 1.15),
        Row("Uc", "the same ÷ C, 512 KiB buffer", [sent, ("curl-upload", "cpu")], ratio),
        Row("Um", "memory that the file adds", [("errand-upload", "memory")], itself, 4, unit=" MiB"),
        Row("11", "hit in memory ÷ a network call", [("errand-hit", "cpu"), ("errand-sequential", "cpu")], ratio,
            1 / 15, 1 / 15),
        Row("11m", "the same from the main actor", [("errand-hit-main", "cpu"), ("errand-sequential-main", "cpu")],
            ratio, 1 / 15, 1 / 15),
        Row("11f", "hit ÷ (URL by hand + locked lookup)", [("errand-hit", "cpu"), ("errand-hit-floor", "cpu")], ratio,
            4, 2),
        Row("12", "1 KiB read from disk ÷ plain SQLite", [("errand-disk-find", "cpu"), ("errand-sqlite-read", "cpu")],
            ratio, 6, 4.5),
        Row("12s", "a whole call from disk ÷ plain SQLite",
            [("errand-disk-send", "cpu"), ("errand-sqlite-read", "cpu")], ratio, 6, 4.5),
        Row("12h", "a thread switch and back ÷ plain SQLite", [("errand-bare-hop", "cpu"), ("errand-sqlite-read", "cpu")], ratio),
        Row("12f", "12 ÷ a separate file", [("errand-disk-find", "cpu"), ("errand-file-read", "cpu")], ratio),
        Row("13", "1 KiB put, written later: caller's time", [("errand-disk-put", "rate")], lambda rate: 1e6 / rate,
            unit=" µs"),
        Row("O", "a change added to an outbox ÷ a commit of SQLite, time",
            [("errand-outbox-commit", "rate"), ("errand-outbox-add", "rate")], ratio, 2, 2),
        Row("Oo", "opening an outbox with 100,000 changes", [("errand-outbox-open", "rate")],
            lambda rate: 1e3 / rate, 200, 50, unit=" ms"),
        Row("B", "a member of a batch of 100 − a send",
            [("errand-batch-100", "cpu"), ("errand-sends-100", "cpu")], own_cost, 2, unit=" µs"),
        Row("Bl", "the same over an immediate transport",
            [("errand-line-batch-100", "cpu"), ("errand-line-sends-100", "cpu")], own_cost, 2, unit=" µs"),
        Row("E1", "the engine: send, 64 in flight ÷ C multi", [("engine-parallel", "cpu"), limit], ratio, 1.4),
        Row("E1l", "the same on the loop's thread", [("engine-parallel-on-loop", "cpu"), limit], ratio, 1.2),
        Row("E1c", "the engine alone", [("engine-core", "cpu"), limit], ratio),
        Row("E4", "the engine: sequential, background ÷ C easy", [("engine-sequential", "cpu"), easy], ratio, 1.9),
        Row("E4l", "the same on the loop's thread", [("engine-sequential-on-loop", "cpu"), easy], ratio, 1.2),
        Row("E5", "the engine: sequential, main actor ÷ C easy", [("engine-sequential-main", "cpu"), easy], ratio),
        Row("E6", "the engine: typed call, 64 in flight ÷ C multi", [("engine-typed", "cpu"), limit], ratio, 1.6),
        Row("E1g", "E1 ÷ Go", [("engine-parallel", "cpu"), ("go-http-parallel", "cpu")], ratio, 1),
        Row("E4g", "E4 ÷ Go", [("engine-sequential", "cpu"), ("go-http-sequential", "cpu")], ratio),
        *peer_mode_rows(ratio),
        *wait_rows(ratio),
        Row("8o", "8 with this library's decoder", [("errand-typed-10k-own", "cpu"), *ten], against_parts, 0.5, 0.4),
        *json_rows(),
    ]


def peer_mode_rows(ratio):
    """The engine ÷ libcurl in C, with goals, and ÷ Go."""
    goals = [
        ("Et", "TLS, 64 in flight", "parallel-tls", 1.15),
        ("Eh", "HTTP/2 over TLS, 64 streams", "parallel-h2", 1.0),
        ("Ek", "10 KiB, 64 in flight", "parallel-10k", 1.5),
        ("Em", "1 MiB, 64 in flight", "parallel-1m", 0.6),
    ]
    rows = []
    for number, what, mode, goal in goals:
        ours = (f"engine-{mode}", "cpu")
        rows.append(Row(number, f"the engine: {what} ÷ C multi", [ours, (f"curl-{mode}", "cpu")], ratio, goal))
        rows.append(Row(f"{number}g", f"{number} ÷ Go", [ours, (f"go-http-{mode}", "cpu")], ratio))
    return rows


def wait_rows(ratio):
    """The waiting times of 64 small calls during 1 GiB ÷ those without it."""
    rows = []
    for number, what, mode in [("W", "dropped", "beside"), ("Wf", "to a file", "beside-file"),
                               ("Ws", "to a slow sink", "beside-slow")]:
        for suffix, share, figure, goal in [("", "median", "p50", None), ("9", "99 %", "p99", 4)]:
            inputs = [(f"engine-{mode}", figure), ("engine-latency", figure)]
            rows.append(Row(number + suffix, f"1 GiB {what}: wait ÷ alone, {share}", inputs, ratio, goal))
    return rows


def json_rows():
    """The rows for JSON, numbered D. DD needs a debug build of bench-json, which then replaces the other rows."""
    cpu = lambda *names: [(f"json-{name}", "cpu") for name in names]
    faster = lambda theirs, ours: theirs / ours
    return [
        Row("D1", "10 KiB into structs: JSONDecoder ÷ own", cpu("10k-foundation", "10k-own"), faster, 5, 6.5, at_least=True),
        Row("D2", "200 B, the same", cpu("200b-foundation", "200b-own"), faster, 4, 5.5, at_least=True),
        Row("D3", "0.5 MB of strings and optionals, the same", cpu("posts-foundation", "posts-own"), faster, 4, 5,
            at_least=True),
        Row("D4", "2 MB of doubles, the same", cpu("map-foundation", "map-own"), faster, 6, 8, at_least=True),
        Row("D5", "10 KiB, JSONDecoder ÷ JSONReadable structs", cpu("10k-foundation", "10k-readable"), faster, 8, 10,
            at_least=True),
        Row("D6", "10 KiB, shape check ÷ parse", cpu("10k-shape", "10k-parse"), lambda shape, parse: shape / parse - 1,
            1, 0.7),
        Row("D7", "10 KiB, JSONSerialization ÷ JSONValue", cpu("10k-tree", "10k-value"), faster),
        Row("D7s", "0.5 MB of strings, the same", cpu("posts-tree", "posts-value"), faster),
        Row("D7d", "2 MB of doubles, the same", cpu("map-tree", "map-value"), faster),
        Row("D8", "10 KiB written: JSONEncoder ÷ own", cpu("10k-write-foundation", "10k-write-own"), faster, 5, 8,
            at_least=True),
        Row("D8s", "0.5 MB of strings and optionals, the same", cpu("posts-write-foundation", "posts-write-own"), faster),
        Row("D8b", "200 B, the same", cpu("200b-write-foundation", "200b-write-own"), faster),
        Row("D8u", "10 KiB written without sorting", cpu("10k-write-foundation", "10k-write-unsorted"), faster),
        *peer_rows(cpu),
        Row("DD", "debug, 10 KiB: own ÷ JSONDecoder", cpu("debug-10k-own", "debug-10k-foundation"), ratio, 2, 1.3),
    ]


def peer_rows(cpu):
    """Other languages for comparison: S for simdjson, which skips fields that no struct declares, and G for Go."""
    theirs = lambda peer, text: [*cpu(f"{text}-own"), (f"{peer}-{text}", "cpu")]
    parsed = lambda text: [*cpu(f"{text}-parse"), (f"simdjson-{text}-parse", "cpu")]
    written = [*cpu("10k-write-own"), ("go-10k-write", "cpu")]
    return [
        Row("S1", "10 KiB into structs: own ÷ simdjson", theirs("simdjson", "10k"), ratio),
        Row("S2", "200 B, the same", theirs("simdjson", "200b"), ratio),
        Row("S3", "0.5 MB of strings and optionals, the same", theirs("simdjson", "posts"), ratio),
        Row("S4", "2 MB of doubles, the same", theirs("simdjson", "map"), ratio),
        Row("S6", "10 KiB, parse alone: own ÷ simdjson", parsed("10k"), ratio),
        Row("S6b", "200 B, the same", parsed("200b"), ratio),
        Row("S6s", "0.5 MB of strings, the same", parsed("posts"), ratio),
        Row("S6d", "2 MB of doubles, the same", parsed("map"), ratio),
        Row("G1", "10 KiB into structs: own ÷ Go", theirs("go", "10k"), ratio),
        Row("G2", "200 B, the same", theirs("go", "200b"), ratio),
        Row("G3", "0.5 MB of strings and optionals, the same", theirs("go", "posts"), ratio),
        Row("G4", "2 MB of doubles, the same", theirs("go", "map"), ratio),
        Row("G8", "10 KiB written: own ÷ Go", written, ratio),
    ]


def print_clients(clients, rounds):
    print(f"\nCPU µs per request, {rounds} interleaved rounds: median, minimum and maximum; requests/s: median")
    print(f"{'client':<24} {'median':>9} {'min':>9} {'max':>9} {'wall µs':>9} {'req/s':>9}")
    for client in clients.values():
        if client.failure:
            print(f"{client.name:<24} not measured: {client.failure}")
            continue
        cpu = client.values("cpu_us_per_request")
        wall = statistics.median(client.values("wall_us_per_request"))
        rate = statistics.median(client.values("requests_per_second"))
        print(f"{client.name:<24} {statistics.median(cpu):>9.2f} {min(cpu):>9.2f} {max(cpu):>9.2f} {wall:>9.1f} {rate:>9.0f}")


def print_rows(clients):
    """Prints the table of goals and returns whether all are met."""
    print(f"\n{'#':<3} {'what':<42} {'measured':>9} {'goal':>9} {'stretch':>9}  verdict")
    all_met = True
    for row in make_rows():
        if not row.is_chosen(clients):
            continue
        value, verdict = row.judge(clients)
        sign = "≥" if row.at_least else "≤"
        measured = "–" if value is None else f"{value:.3f}"
        goal = "–" if row.goal is None else f"{sign} {row.goal:.4g}"
        stretch = "–" if row.stretch is None else f"{sign} {row.stretch:.3g}"
        print(f"{row.number:<3} {row.what:<42} {measured:>9} {goal:>9} {stretch:>9}  {verdict}{row.unit and f' ({row.unit.strip()})'}")
        all_met = all_met and (row.goal is None or verdict.startswith("met"))
    return all_met


def parse_options():
    parser = argparse.ArgumentParser(description="Compare Errand with libcurl in C and with URLSession.")
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of the built clients")
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="folder of the built programs in other languages")
    parser.add_argument("--url", required=True, help="address of nginx")
    parser.add_argument("--tls", required=True, help="address of nginx over TLS, with HTTP/2")
    parser.add_argument("--files", type=pathlib.Path, required=True, help="folder of the files that nginx serves")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests and 64 MiB, to try the driver")
    parser.add_argument("--only", choices=("requests", "transfers", "json"), help="run only these clients and print only their rows")
    parser.add_argument("--strict", action="store_true", help="fail unless every goal is met")
    parser.add_argument("--json", type=pathlib.Path, help="also write the lines of all clients to this file")
    return parser.parse_args()


def main():
    options = parse_options()
    requests = make_clients() if options.only in (None, "requests") else {}
    transfers = make_transfers(options.programs) if options.only in (None, "transfers") else {}
    waits = make_waits(options.programs) if transfers else {}
    values = Values(options.programs, options.peers) if options.only in (None, "json") else None
    place = Place(options) if transfers else None
    try:
        for number in range(options.rounds):
            print(f"bench: round {number + 1} of {options.rounds}", flush=True)
            for client in requests.values():
                client.run(options)
            for transfer in (transfers | waits).values():
                transfer.run(place)
            if values:
                values.run()
    finally:
        if place:
            place.remove()
        if values:
            values.remove()
    if requests:
        print_clients(requests, options.rounds)
    if transfers:
        print_transfers(transfers, options.rounds, place.bytes)
        print_waits(waits, options.rounds)
    if values:
        print_values(values, options.rounds)
    clients = requests | transfers | waits | (values.figures if values else {})
    all_met = print_rows(clients) and not (values and values.failure)
    if options.json:
        options.json.write_text(json.dumps({name: client.lines for name, client in clients.items()}, indent=2) + "\n")
    sys.exit(1 if options.strict and not all_met else 0)


main()
