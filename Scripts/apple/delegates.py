"""Compares the delegate methods of URLSession in the sources with those in the stubs.

URLSession's delegate methods are optional. If a method has a wrong label or type, it is another method, which
URLSession never calls, and the compiler may not notice.
"""

import re

METHOD = re.compile(r"\bfunc (urlSession\w*)\s*\(")


def parameters(text):
    """The text of each parameter in a list that begins after its opening parenthesis."""
    found, depth, part = [], 0, ""
    for character in text:
        if character in ")]>" and depth == 0 and not part.endswith("-"):
            return [*found, part] if part.strip() else found
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        if character == "," and depth == 0:
            found.append(part)
            part = ""
        else:
            part += character
    return found


def methods(text):
    """The delegate methods in a text: (offset, signature). A signature has the labels and types without spaces."""
    for match in METHOD.finditer(text):
        parts = []
        for parameter in parameters(text[match.end():]):
            names, _, kind = parameter.partition(":")
            parts.append(names.split()[0] + ":" + "".join(kind.split()))
        yield match.start(), f"{match.group(1)}({','.join(parts)})"


def strangers(texts, stubs):
    """Yields (path, line) of each delegate method that no stub has."""
    known = {signature for text in stubs for _, signature in methods(text)}
    for path, text in texts.items():
        for offset, signature in methods(text):
            if signature not in known:
                yield path, text.count("\n", 0, offset) + 1
