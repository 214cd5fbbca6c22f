"""Compares the cases that cases.py made with the requests that server.py recorded: `compare.py CASES RECORD`.

It prints a table of the operations, and fails on a difference. Equal are: numbers of one value, texts of one
millisecond or of one UUID, an absent member and a null one, an absent list in the query and an empty one.
"""

import collections
import datetime
import json
import sys
import urllib.parse
import uuid


def plain(value):
    """A value of JSON such that equal values compare as equal."""
    if isinstance(value, bool):
        return ("bool", value)  # True equals 1 in Python.
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    return text(value) if isinstance(value, str) else value


def text(value):
    """A text, or the instant or the UUID that it writes."""
    try:
        if "T" in value or "t" in value:
            return round(datetime.datetime.fromisoformat(value).timestamp(), 3)
        return uuid.UUID(value) if len(value) == 36 else value
    except (ValueError, OverflowError):
        return value


def written(value):
    """A variable as a text of a URL or of a header."""
    return text(str(value).lower() if isinstance(value, bool) else str(value))


def number(value):
    """A whole number as an integer: JSON may write it as 43.0."""
    if isinstance(value, list):
        return [number(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def pairs(variables):
    """Variables of a query or a form: the pairs of names and texts, without regard to the order of the names."""
    listed = [(name, value if isinstance(value, list) else [value]) for name, value in variables.items()]
    return sorted(((name, [written(number(item)) for item in items]) for name, items in listed if items), key=first)


def first(pair):
    return pair[0]


def received(sent):
    """The pairs that a server read, joined by name."""
    found = collections.defaultdict(list)
    for name, value in sent:
        found[name].append(text(value))
    return sorted(found.items(), key=first)


def differences(case, found):
    """The parts of a case that the application did not receive as they are."""
    headers, body = found["header"], found["body"]
    sent = {name: ",".join(value) if isinstance(value, list) else value for name, value in case["header"].items()}
    cookie = "; ".join(f"{name}={value}" for name, value in case["cookie"].items())
    parts = {
        "operation": (True, found["endpoint"] is not None and case["operation"].startswith(found["endpoint"] + "_")),
        "path": (pairs(case["path"]), pairs(found["path"])),
        "query": (pairs(case["query"]), received(found["query"])),
        "header": ({name: text(value) for name, value in sent.items()},
                   {name: text(headers.get(name, "")) for name in sent}),
        "cookie": (cookie, headers.get("cookie", "")),
    }
    if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        form = urllib.parse.parse_qsl(body, keep_blank_values=True)
        parts["body"] = (pairs(case["body"]), received(form))
    elif "body" in case:
        parts["body"] = (plain(case["body"]), plain(json.loads(body)) if body else None)
    return {name: pair for name, pair in parts.items() if pair[0] != pair[1]}


def main():
    with open(sys.argv[1]) as file:
        cases = [json.loads(line) for line in file]
    with open(sys.argv[2]) as file:
        records = {record["case"]: record for record in map(json.loads, file)}
    equal, total = collections.Counter(), collections.Counter()
    for index, case in enumerate(cases):
        total[case["operation"]] += 1
        found = differences(case, records[index]) if index in records else {"request": ("one", "none")}
        equal[case["operation"]] += not found
        for name, (expected, other) in found.items():
            print(f"case {index}, {case['operation']}, {name}: {other!r} instead of {expected!r}")
    print(f"{'operation':<40}cases  equal")
    for name, count in total.items():
        print(f"{name:<40}{count:>5}  {equal[name]:>5}")
    print(f"{'all':<40}{sum(total.values()):>5}  {sum(equal.values()):>5}")
    sys.exit(0 if equal == total else 1)


if __name__ == "__main__":
    main()
