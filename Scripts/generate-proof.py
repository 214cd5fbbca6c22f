#!/usr/bin/env python3
"""Proves that `errand generate` writes requests that work with a server that it does not know.

1. FastAPI writes the OpenAPI document of Scripts/generate-proof/app.py.
2. `errand generate` writes requests and models for it; a second run must change nothing.
   It also writes a module for a document made of odd names and texts.
3. Scripts/generate-proof/Proof.swift, which calls every operation, is compiled with these files and with warnings as
   errors. Generated files of the levels package and public are compiled as well. The odd module is type-checked.
4. schemathesis checks that the application conforms to its document.
5. The program runs against uvicorn on a free port of the loopback interface, and checks the results. Then it sends the
   cases that schemathesis made from the document, the same in each run; the application must receive them unchanged.

FastAPI, uvicorn, and schemathesis come from PyPI, into a virtual environment in .build-generate. The first run compiles
the library, which takes minutes. With --errand PATH the command is not compiled.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Scripts/generate-proof"
WORK = ROOT / ".build-generate"
PACKAGE = WORK / "package"
REQUIREMENTS = ["fastapi==0.165.0", "uvicorn==0.54.0", "python-multipart==0.0.34", "schemathesis==4.32.5"]
LEVELS = ["package", "public"]
EXAMPLES, CASES = 20, 100
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance")

# Keywords, names of the library and of Swift, names of local variables in generated code, and texts that would end a
# literal or a comment.
ODD = """
    Any Self Type Protocol as associatedtype async await break case catch class consume continue copy default defer
    deinit discard do each else enum extension fallthrough false fileprivate for func get guard if import in indirect
    init inout internal is lazy let macro mutating nil none nonisolated open operator optional override package
    precedencegroup private protocol public repeat required rethrows return self set some static struct subscript
    super switch throw throws true try typealias unowned unsafe var weak where while yield APIRequest Arguments Array
    Bool Box CodingKey CodingKeys Codable Container Content Data Date Decodable Decoder Dictionary Encodable Encoder
    Error ErrorBody Errand Failure Family Foundation Hashable Indirect Int Item JSONValue Key KeyedDecodingContainer
    LibraryRequest Library CookieText Multipart Never Nothing Optional Path RawRepresentable Response Result Sendable
    Set Set2 String Swift Task URL UUID Value Void additionalProperties argument argumentValue arguments body
    container cookies decode decoder description encode encoder entry family form hash hashValue headers key method
    others other path rawValue request sent value wrappedValue
    """.split() + [
    "", " ", "_", "$", "1", "+1", "-1", "ä", "名前", "🍵", "a b", 'a"b',
    "a\\b", "\\(fatalError())", "a\nfatalError()",
    "*/ fatalError() /*", "../x", "`x`", "\u2028", "\0", "{}", "}", "%", "\u202e", "e\u0301", "x" * 400,
]
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let errand = Target.Dependency.product(name: "Errand", package: "Errand")
let settings: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let package = Package(
  name: "Proof",
  platforms: [.macOS(.v15)],
  products: [.library(name: "Levels", targets: [LEVELS])],
  dependencies: [.package(name: "Errand", path: "ROOT")],
  targets: [
    .executableTarget(name: "Proof", dependencies: [errand], swiftSettings: settings),
TARGETS
  ]
)
"""


def run(*words, **options):
    """Runs a program, and ends with its status if it fails."""
    result = subprocess.run([str(word) for word in words], text=True, **options)
    if result.returncode != 0:
        sys.exit(f"generate-proof: {' '.join(str(word) for word in words[:3])} … failed ({result.returncode})")
    return result.stdout


def make_python():
    """The Python of the virtual environment with FastAPI; it is made again if the list of packages changes."""
    folder, stamp = WORK / "python", WORK / "python/installed.json"
    python = folder / "bin/python"
    if not stamp.exists() or json.loads(stamp.read_text()) != REQUIREMENTS:
        print("generate-proof: installing FastAPI, uvicorn, and schemathesis from PyPI", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS)
        stamp.write_text(json.dumps(REQUIREMENTS))
    return python


def write_document(python):
    """Lets FastAPI write the document of the application."""
    code = "import json, app; print(json.dumps(app.app.openapi(), indent=1))"
    text = run(python, "-B", "-c", code, cwd=FOLDER, stdout=subprocess.PIPE)
    document = WORK / "openapi.json"
    document.write_text(text)
    return document


def write_odd_document():
    """A document in which each odd text is the name or the value of everything."""
    text, reference = {"type": "string"}, {"$ref": "#/components/schemas/All"}
    inner = {"type": "object", "required": ["a"], "properties": {"a": text}}
    schemas = {f"{name}": {**inner, "description": name} for name in ODD}
    schemas["Listed"] = {"type": "string", "enum": ODD}
    every = {name: {"$ref": f"#/components/schemas/{pointer(name)}"} for name in ODD}
    schemas["All"] = {"type": "object", "required": ODD, "properties": every}
    plain = {name: {"type": "string", "default": name, "description": name} for name in ODD}
    schemas["Plain"] = {"type": "object", "required": ODD, "properties": plain, "additionalProperties": text}
    nested = {name: inner for name in ODD}
    schemas["Nested"] = {"type": "object", "properties": nested, "additionalProperties": reference}
    schemas["Lists"] = {"type": "object", "properties": {name: {"type": "string", "enum": [name]} for name in ODD}}
    schemas["Union"] = {"oneOf": list(every.values()), "discriminator": {"propertyName": 'k"\\('}}
    schemas["Tries"] = {"anyOf": list(every.values())}
    schemas["Broken"] = {"oneOf": [{"$ref": "#/nowhere"}, {"$ref": "#/neither"}]}
    names = ["Listed", "All", "Plain", "Nested", "Lists", "Union", "Tries", "Broken"]
    result = {"type": "object", "properties": {name: {"$ref": f"#/components/schemas/{name}"} for name in names}}

    def parameters(place, schema):
        rest = {"in": place, "required": place == "path", "schema": schema}
        return [{"name": name, "description": name, **rest} for name in ODD]

    def operation(name, parameters=(), content=None):
        body = {"requestBody": {"required": True, "content": content}} if content else {}
        answer = {"200": {"description": "", "content": {"application/json": {"schema": result}}}}
        return {"operationId": name, "summary": name, "parameters": list(parameters), "responses": answer, **body}

    listed = {"type": "string", "enum": ["a", "b"]}
    several = {"type": "array", "items": {"type": ["string", "null"]}}
    paths = {f"/{index}/{name}": {"get": operation(name)} for index, name in enumerate(ODD)}
    path = "".join(f"/{{{name}}}" for name in ODD if "{" not in name and "}" not in name)
    paths[path] = {"get": operation("InPath", parameters("path", text))}
    paths["/q"] = {
        "get": operation("InQuery", parameters("query", listed)),
        "put": operation("Lists", parameters("query", several)),
        "head": operation("InHead", parameters("header", listed)),
        "trace": operation("InCookie", parameters("cookie", text)),
        "post": operation("InForm", (), {"multipart/form-data": {"schema": schemas["Plain"]}}),
        "patch": operation("InBody", parameters("header", text)[:20], {"application/json": {"schema": reference}}),
    }
    document = WORK / "odd.json"
    document.write_text(json.dumps(
        {"openapi": "3.1.0", "info": {"title": 'Odd "*/ \\('}, "paths": paths, "components": {"schemas": schemas}}))
    return document


def pointer(key):
    """A key as a part of a JSON pointer in a reference."""
    return urllib.parse.quote(key.replace("~", "~0").replace("/", "~1"), safe="~")


def generate(errand, document, name, *options):
    """Generates the files of one module, and checks that a second run has nothing to change."""
    folder = PACKAGE / "Sources" / name
    words = [errand, "generate", document, "--into", folder / "Generated", "--name", "Library", *options]
    run(*words)
    run(*words, "--check")
    return folder


def build(errand, document):
    """Makes the package and compiles it; returns the path of the program."""
    proof = generate(errand, document, "Proof")
    for file in FOLDER.glob("*.swift"):
        shutil.copy(file, proof / file.name)
    for level in LEVELS:
        generate(errand, document, level.capitalize() + "Level", "--access", level)
    names = [f"{level.capitalize()}Level" for level in LEVELS]
    targets = [f'    .target(name: "{name}", dependencies: [errand], swiftSettings: settings),' for name in names]
    manifest = MANIFEST.replace("TARGETS", "\n".join(targets)).replace("ROOT", str(ROOT))
    manifest = manifest.replace("LEVELS", ", ".join(f'"{name}"' for name in names))
    if not (PACKAGE / "Package.swift").exists() or (PACKAGE / "Package.swift").read_text() != manifest:
        (PACKAGE / "Package.swift").write_text(manifest)
    flags = ["--package-path", PACKAGE, "-debug-info-format", "none", "-Xswiftc", "-driver-batch-size-limit"]
    flags += ["-Xswiftc", "64"]
    run("swift", "build", *flags)
    return pathlib.Path(run("swift", "build", *flags, "--show-bin-path", stdout=subprocess.PIPE).strip()) / "Proof"


def check_odd(errand, modules):
    """Type-checks the public module for the odd document; its hundreds of files would take minutes to compile."""
    folder = WORK / "odd"
    run(errand, "generate", write_odd_document(), "--into", folder, "--name", "Library", "--access", "public",
        stderr=subprocess.DEVNULL)
    words = ["swiftc", "-typecheck", "-warnings-as-errors", "-swift-version", "6", "-module-name", "Odd", "-I", modules]
    maps = [*(ROOT / "Sources").rglob("module.modulemap"), *modules.parent.glob("*.build/module.modulemap")]
    words += [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
    run(*words, *folder.rglob("*.swift"))


@contextlib.contextmanager
def served(python):
    """Serves the application while a block runs; gives its URL."""
    words = [python, "-B", FOLDER / "server.py", WORK / "received.jsonl"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def conform(python, document):
    """Lets schemathesis check that the application does what its document says."""
    with served(python) as url:
        words = [python, "-B", "-m", "schemathesis.cli", "run", document, "--url", url, "--checks", CHECKS]
        words += ["--header", "Authorization: Bearer t", "--phases", "coverage,fuzzing", "--max-examples", EXAMPLES]
        run(*words, "--generation-deterministic", "--continue-on-failure", "--no-color", "--warnings", "off", cwd=WORK)


def prove(python, program, document):
    """Runs the program against the application, and compares what was received with the cases of schemathesis."""
    cases = WORK / "cases.jsonl"
    cases.write_text(run(python, "-B", FOLDER / "cases.py", document, CASES, stdout=subprocess.PIPE))
    with served(python) as url:
        status = subprocess.run([program, url, cases], timeout=300).returncode
    run(sys.executable, "-B", FOLDER / "compare.py", cases, WORK / "received.jsonl")
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--errand", type=pathlib.Path, help="the built command; by default it is compiled")
    errand = parser.parse_args().errand
    os.chdir(ROOT)
    WORK.mkdir(exist_ok=True)
    python = make_python()
    document = write_document(python)
    if errand is None:
        run("swift", "build", "--product", "errand")
        errand = pathlib.Path(run("swift", "build", "--show-bin-path", stdout=subprocess.PIPE).strip()) / "errand"
    errand = errand.resolve()
    program = build(errand, document)
    check_odd(errand, program.parent / "Modules")
    conform(python, document)
    sys.exit(prove(python, program, document))


if __name__ == "__main__":
    main()
