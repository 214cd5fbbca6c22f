"""Drives `errand mcp` with the client of PyPI's package mcp. Usage: mcp_client.py ERRAND MODE FILE CALL CALL.

Prints one JSON object: the revision, the tools, and the text of each tool for the two calls."""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def call(client, name, arguments):
    result = await client.call_tool(name, arguments)
    return {"text": "".join(part.text for part in result.content), "isError": bool(result.is_error)}


async def main(errand, mode, file, first, second):
    server = StdioServerParameters(command=errand, args=["mcp", file])
    async with Client(stdio_client(server), mode=mode) as client:
        tools = await client.list_tools()
        said = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "list": await call(client, "list", {}),
            "failed": await call(client, "list", {"failed": True}),
            "why": await call(client, "why", {"call": first}),
            "diff": await call(client, "diff", {"a": first, "b": second}),
            "curl": await call(client, "curl", {"call": second}),
            "none": await call(client, "why", {"call": "99999"}),
        }
        try:
            await client.call_tool("frob", {})
            said["unknown"] = None
        except Exception as error:  # the client's class of protocol errors
            said["unknown"] = str(error)
    print(json.dumps(said))


asyncio.run(main(*sys.argv[1:]))
