"""Counts the instructions of one call by function, by running a benchmark step by step.

    instructions.py [--program FILE] [--mode MODE] [--url URL] [--mark TEXT] [--thread NAME] [--steps N] [--top N]
                    [--callers FUNCTION]

The default is the mode `line` of bench-errand: the pipeline over a transport that responds immediately. For the engine
alone, start a server and pass `--mode core --url URL --thread errand.engine --mark 12ErrandEngine0B4LoopC3end`, with
ERRAND_TRANSPORT=engine. A call lasts from one beginning of a function whose mangled name contains the mark to the next
one, so the count is for the engine's thread only, and without the system. The time of a call
depends on what else the machine does, but the number of its instructions does not, so that a change of one per cent is
visible. With `--callers swift_retain`, the functions that call swift_retain are counted, too. Linux on x86-64 only. The program must have symbols; `swift build -c release` keeps them.
"""

import argparse
import bisect
import collections
import ctypes
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
SINGLESTEP, GETREGS, DETACH, SEIZE, INTERRUPT = 9, 12, 17, 0x4206, 0x4207
WAIT_FOR_ANY_THREAD = 0x40000000
# `struct user_regs_struct` of <sys/user.h>: the instruction pointer and the stack pointer in 27 numbers.
REGISTERS, POINTER, STACK = ctypes.create_string_buffer(27 * 8), 16 * 8, 19 * 8


def trace(request, thread, data=None):
    if LIBC.ptrace(request, thread, None, data) < 0:
        sys.exit(f"instructions: ptrace failed: {os.strerror(ctypes.get_errno())}")


def busiest(process, name):
    """The thread of a process, among those of that name, that has used most of the processor."""
    def used(thread):
        words = pathlib.Path(f"/proc/{process}/task/{thread}/stat").read_text().rsplit(")", 1)[1].split()
        return int(words[11]) + int(words[12])
    folder = pathlib.Path(f"/proc/{process}/task")
    threads = [thread.name for thread in folder.iterdir() if name in (thread / "comm").read_text()]
    return max(map(int, threads), key=used)


def record(thread, count):
    """The instruction pointers and stack pointers of the next `count` steps of a thread."""
    trace(SEIZE, thread)
    trace(INTERRUPT, thread)
    os.waitpid(thread, WAIT_FOR_ANY_THREAD)
    steps = []
    for _ in range(count):
        trace(SINGLESTEP, thread)
        if not os.WIFSTOPPED(os.waitpid(thread, WAIT_FOR_ANY_THREAD)[1]):
            sys.exit("instructions: the program ended before the last step; the default count of calls is too small")
        trace(GETREGS, thread, ctypes.addressof(REGISTERS))
        steps.append((*struct.unpack_from("Q", REGISTERS, POINTER), *struct.unpack_from("Q", REGISTERS, STACK)))
    trace(DETACH, thread)
    return steps


class Symbols:
    """Finds the function of an address."""

    def __init__(self, process):
        self.areas, self.bases, self.tables, self.found = [], {}, {}, {}
        for line in pathlib.Path(f"/proc/{process}/maps").read_text().splitlines():
            words = line.split(maxsplit=5)
            if len(words) < 6:
                continue
            begin, end = (int(word, 16) for word in words[0].split("-"))
            if int(words[2], 16) == 0:
                self.bases.setdefault(words[5], begin)
            if "x" in words[1]:
                self.areas.append((begin, end, words[5]))

    def table(self, file):
        if file not in self.tables:
            rows = []
            for option in ([], ["-D"]):
                output = subprocess.run(
                    ["nm", "--defined-only", *option, file], capture_output=True, text=True, check=False).stdout
                rows += re.findall(r"^([0-9a-f]+) [tTwWi] (\S+)$", output, re.MULTILINE)
            rows = sorted({int(address, 16): name for address, name in rows}.items())
            self.tables[file] = [row[0] for row in rows], [row[1] for row in rows]
        return self.tables[file]

    def function(self, address):
        """The name and the first address of the function at an address."""
        if address not in self.found:
            self.found[address] = hex(address), address
            for begin, end, file in self.areas:
                if begin <= address < end and file.startswith("/"):
                    addresses, names = self.table(file)
                    base = self.bases[file]
                    place = bisect.bisect(addresses, address - base) - 1
                    if place >= 0:
                        self.found[address] = names[place], base + addresses[place]
        return self.found[address]


def counted(steps, symbols):
    """The instructions in each function itself, with those of the functions that it calls, the number of calls, and the
    number of calls by function and caller."""
    own, whole, entries, pairs = (collections.Counter() for _ in range(4))
    stack, running = [], collections.Counter()

    def push(name, pointer, place):
        stack.append((name, pointer, place))
        running[name] += 1

    def pop(place):
        name, _, begin = stack.pop()
        running[name] -= 1
        if not running[name]:
            whole[name] += place - begin

    before = None
    for place, (address, pointer) in enumerate(steps):
        name, first = symbols.function(address)
        own[name] += 1
        entries[name] += address == first
        if before is None:
            push(name, float("inf"), place)
        elif pointer == before - 8 and address == first:
            push(name, pointer, place)
        else:
            while len(stack) > 1 and pointer > stack[-1][1]:
                pop(place)
            if name != stack[-1][0]:  # a jump at the end of a function, or a step from one part of it to another
                outer = stack[-1][1]
                pop(place)
                push(name, outer, place)
        if address == first and len(stack) > 1:
            pairs[name, stack[-2][0]] += 1
        before = pointer
    while stack:
        pop(len(steps))
    return own, whole, entries, pairs


def demangled(names):
    output = subprocess.run(
        ["swift", "demangle", "--simplified"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, output.split("\n")))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `| head`
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="Benchmarks/.build/release/bench-errand")
    parser.add_argument("--mode", default="line")
    parser.add_argument("--thread", default="", help="a part of the name of the thread")
    parser.add_argument("--url", default="http://127.0.0.1:1/")
    parser.add_argument("--mark", default="CallRunC8prepared")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("--callers", default="", help="also print the callers of this function, by its mangled name")
    options = parser.parse_args()
    program = subprocess.Popen(
        [options.program, options.mode, options.url, "1000000000"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(2)  # until the first calls have filled the caches of the runtime
        symbols = Symbols(program.pid)
        steps = record(busiest(program.pid, options.thread), options.steps)
        names = [symbols.function(address) for address, _ in steps]
    finally:
        program.kill()
        program.wait()
    marks = [
        place for place, ((name, first), (address, _)) in enumerate(zip(names, steps))
        if address == first and options.mark in name]
    if len(marks) < 2:
        sys.exit("instructions: fewer than two calls in these steps; use more --steps")
    calls = len(marks) - 1
    own, whole, entries, pairs = counted(steps[marks[0]:marks[-1]], symbols)
    shown = demangled(sorted(own))
    print(f"{(marks[-1] - marks[0]) / calls:.0f} instructions per call, over {calls} calls")
    for title, counts in (("in the function itself", own), ("with the functions that it calls", whole)):
        print(f"\n{title}\n  instructions  times  function")
        for name, count in counts.most_common(options.top):
            print(f"{count / calls:14.0f} {entries[name] / calls:6.1f}  {shown[name][:100]}")

    if options.callers:
        print(f"\ncalls of {options.callers}\n  times  caller")
        callers = collections.Counter({caller: count for (name, caller), count in pairs.items() if name == options.callers})
        for name, count in callers.most_common(options.top):
            print(f"{count / calls:7.1f}  {shown.get(name, name)[:100]}")


if __name__ == "__main__":
    main()
