#!/usr/bin/env python3
"""Converts the terminal output of the demo to an SVG for the README.

    script -qec '.build/debug/errand demo 3 8' /dev/null | python3 Scripts/demo-picture.py >demo.svg

It supports the codes that the command uses: bold, dim, red, green, yellow, blue, cyan, and the carriage return that
redraws a line. The first argument is the title of the picture.
"""

import re
import sys
from xml.sax.saxutils import escape

CODE = re.compile(r"\x1b\[([0-9;]*)m")
OTHER = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]")
WORDS = re.compile(r"\S+(?: \S+)*")
CLASSES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "36": "cyan", "33": "yellow", "34": "blue"}
CELL, LINE, MARGIN = 8.4, 19, 20
STYLE = """
text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6e6e6;
  white-space: pre; }
.bold { font-weight: bold } .dim { fill: #8b949e } .red { fill: #ff7b72 } .green { fill: #7ee787 }
.cyan { fill: #79c0ff } .yellow { fill: #e3b341 } .blue { fill: #a5b4fc }
"""


def runs(line):
    """The pieces of a line, each with its active classes."""
    on, place = set(), 0
    for code in CODE.finditer(line):
        if code.start() > place:
            yield line[place : code.start()], sorted(on)
        for number in code.group(1).split(";"):
            on = on | {CLASSES[number]} if number in CLASSES else set()
        place = code.end()
    if place < len(line):
        yield line[place:], sorted(on)


def drawn(line, row):
    """One line of text. Words after a wide gap have a fixed column, independent of the font: renderers drop spaces."""
    column, spans = 0, []
    for text, classes in runs(line):
        for words in WORDS.finditer(text):
            x = MARGIN + (column + words.start()) * CELL
            spans.append(f'<tspan x="{x:.1f}" class="{" ".join(classes)}">{escape(words[0])}</tspan>')
        column += len(text)
    return f'<text y="{MARGIN + (row + 1) * LINE}">{"".join(spans)}</text>'


def main():
    title = sys.argv[1] if len(sys.argv) > 1 else "Output of the demo"
    text = OTHER.sub("", sys.stdin.read().replace("\r\n", "\n"))
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in text.strip("\n").split("\n")]
    width = 2 * MARGIN + CELL * max(len(CODE.sub("", line)) for line in lines)
    height = 2 * MARGIN + LINE * (len(lines) + 0.5)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img">')
    print(f"<title>{escape(title)}</title><style>{STYLE}</style>")
    print('<rect width="100%" height="100%" rx="8" fill="#161b22"/>')
    print("\n".join(drawn(line, row) for row, line in enumerate(lines) if line))
    print("</svg>")


main()
