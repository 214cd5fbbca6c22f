"""Writes the files that nginx serves: python3 files.py FOLDER [--large]."""

import json
import pathlib
import sys

MIB = 1 << 20


def user(number):
    """One element of the 10 KiB list: seven fields, about 150 bytes."""
    return {
        "id": 1000 + number,
        "name": f"Person Number {number:03}",
        "email": f"person.{number:03}@mail.example.org",
        "age": 20 + number % 50,
        "score": 12.5 + number,
        "active": number % 2 == 0,
        "city": "Kristiansand"[: 6 + number % 6],
    }


def account():
    """The small object: eight fields, 200 bytes."""
    fields = {
        "id": 4711,
        "name": "Ada Lovelace",
        "email": "ada.lovelace@mail.example.org",
        "age": 36,
        "score": 99.25,
        "active": True,
        "city": "London",
        "note": "",
    }
    fields["note"] = "n" * (200 - len(json.dumps(fields)))
    return fields


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "200b").write_bytes((b"errand " * 29)[:200])
    (folder / "200b.json").write_text(json.dumps(account()))
    (folder / "10k.json").write_text(json.dumps([user(number) for number in range(68)]))
    (folder / "1m").write_bytes(bytes(range(256)) * (MIB // 256))
    if "--large" in sys.argv[2:]:
        with open(folder / "stream", "wb") as file:
            file.truncate(1024 * MIB)


main()
