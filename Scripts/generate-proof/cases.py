"""Cases of schemathesis for each operation of a document.

`cases.py DOCUMENT COUNT` prints a line of JSON for each case. A case has an object of variables for each place, and the
body. A changed document, in which each operation takes all of this as one JSON body, makes schemathesis leave the
values as they are: it would write variables as texts.
"""

import json
import sys

import hypothesis
import schemathesis

PLACES = ["path", "query", "header", "cookie"]
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
# The sum of such integers has at most 64 bits, as the generated type has. Foundation reads no offset of a time zone of
# more than 18 hours. Headers take few characters, and a path of FastAPI takes no line feed.
WHOLE = {"minimum": -(2**53), "maximum": 2**53}
INSTANT = {"pattern": "([Zz]|[+-](0[0-9]|1[0-7]):[0-5][0-9])$"}
LINE = {"type": "string", "pattern": r"^[^\r\n]+$"}
WORD = {"type": "string", "pattern": "^[a-z0-9-]{1,20}$"}


def narrow(schema):
    """A schema without the members, numbers, and dates that generated types leave out."""
    if isinstance(schema, list):
        return [narrow(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: narrow(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        result.setdefault("additionalProperties", False)
    extra = WHOLE if schema.get("type") == "integer" else INSTANT if schema.get("format") == "date-time" else {}
    return {**extra, **result}


def without_null(schema):
    """The schema of a variable, which is absent instead of null."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 else schema


def variable(parameter):
    """The schema of one variable of the path, the query, or the headers."""
    schema = without_null(parameter["schema"])
    if parameter["in"] == "path" and schema.get("type") == "string":
        return schema if "format" in schema else {**schema, **LINE}
    if parameter["in"] in ("path", "query"):
        return schema
    if schema.get("type") == "array":
        return {"type": "array", "minItems": 1, "items": WORD}
    return WORD if schema == {**schema, "type": "string"} and "format" not in schema else schema


def everything(operation):
    """The schema of all that an operation sends, or nothing if it sends a file."""
    properties = {}
    for place in PLACES:
        found = [parameter for parameter in operation.get("parameters", []) if parameter["in"] == place]
        properties[place] = {
            "type": "object",
            "required": [parameter["name"] for parameter in found if parameter.get("required")],
            "properties": {parameter["name"]: variable(parameter) for parameter in found},
            "additionalProperties": False,
        }
    content = operation.get("requestBody", {}).get("content", {})
    kind = next((kind for kind in (JSON, FORM) if kind in content), None)
    if content and kind is None:
        return None
    if kind:
        properties["body"] = content[kind]["schema"]
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def changed(document):
    """The document in which each operation takes all as one body; the path names the operation."""
    paths = {}
    for path in document["paths"].values():
        for operation in path.values():
            schema = everything(operation)
            if schema and (operation.get("parameters") or "body" in schema["properties"]):
                body = {"required": True, "content": {JSON: {"schema": schema}}}
                answer = {"200": {"description": ""}}
                paths["/" + operation["operationId"]] = {"post": {"requestBody": body, "responses": answer}}
    return narrow({**document, "paths": paths})


def make(operation, count):
    """The cases of one operation; the same in each run."""
    cases = []

    @hypothesis.settings(
        max_examples=count, derandomize=True, database=None, deadline=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(operation.as_strategy())
    def collect(case):
        cases.append(case.body)

    collect()
    return cases


def main():
    with open(sys.argv[1]) as file:
        document = changed(json.load(file))
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = result.ok()
        for case in make(operation, int(sys.argv[2])):
            print(json.dumps({"operation": operation.path[1:], **case}))


if __name__ == "__main__":
    main()
