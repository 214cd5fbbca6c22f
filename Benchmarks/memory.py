"""Prints the memory of one call when many calls wait for their responses at the same time.

    memory.py [--program FILE] [--calls N] [--only KIND] [--pause MILLISECONDS]

The client is bench-errand over the engine: over HTTP/1.1 in cleartext and TLS, and over HTTP/2 in cleartext and TLS;
each with `send` and with the transport alone. Before a run: `swift build -c release --package-path Benchmarks --product
bench-errand`. The limit on open files must exceed the number of calls. With a pause after each 100 calls, the
connections do not open at the same time.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
KINDS = {"plain": "held", "tls": "held-tls", "h2-cleartext": "held-h2-cleartext", "h2": "held-h2"}


def measure(options, kind, mode, folder):
    keys = [folder / "server.pem", folder / "server.key"]
    server = subprocess.Popen(
        ["python3", "-B", HERE / "hold.py", kind, str(options.calls), *keys], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline())
        scheme = "https" if kind in ("tls", "h2") else "http"
        environment = dict(os.environ, ERRAND_TRANSPORT="engine", ERRAND_NGINX_CA=str(folder / "ca.pem"),
                           ERRAND_PAUSE=str(options.pause))
        command = [options.program, mode, f"{scheme}://127.0.0.1:{port}/", str(options.calls)]
        child = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        if child.returncode:
            raise SystemExit(f"memory: {mode}: {child.stderr.strip()}")
        return json.loads(child.stdout)
    finally:
        server.kill()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="Benchmarks/.build/release/bench-errand")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--pause", type=int, default=0)
    options = parser.parse_args()
    print(f"{options.calls} calls in flight, bytes of memory per call:\n{'':<14} {'send':>8} {'engine alone':>14}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([HERE.parent / "Scripts/servers/certificates.sh", folder], check=True)
        for kind, mode in KINDS.items():
            if options.only in (None, kind):
                lines = [measure(options, kind, name, pathlib.Path(folder)) for name in (mode, f"{mode}-alone")]
                print(f"{kind:<14} {lines[0]['bytes_per_call']:>8} {lines[1]['bytes_per_call']:>14}", flush=True)


main()
