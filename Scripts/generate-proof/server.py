"""Serves app.py on a free port of the loopback interface, prints the port, and records the requests of cases.

`server.py FILE` writes a line of JSON for each request with the header X-Case.
"""

import json
import socket
import sys
import urllib.parse

import app
import uvicorn


def record(file):
    """The application, which writes what it received after each request."""
    async def serve(scope, receive, send):
        parts = []

        async def listen():
            message = await receive()
            parts.append(message.get("body", b""))
            return message

        await app.app(scope, listen, send)
        headers = {name.decode(): value.decode() for name, value in scope.get("headers", [])}
        if "x-case" in headers:
            query = urllib.parse.parse_qsl(scope["query_string"].decode(), keep_blank_values=True)
            found = {
                "case": int(headers["x-case"]), "endpoint": scope["endpoint"].__name__ if "endpoint" in scope else None,
                "path": scope.get("path_params", {}), "query": query, "header": headers,
                "body": b"".join(parts).decode(),
            }
            print(json.dumps(found, default=str), file=file, flush=True)

    return serve


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    with open(sys.argv[1], "w") as file:
        uvicorn.Server(uvicorn.Config(record(file), log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
