"""Server on FastMCP: server.py stdio | http | stateless [port], see ../README.md."""

import os
import socket
import sys
from dataclasses import dataclass

import anyio
import mcp_types as types
import uvicorn
from fastmcp import Context, FastMCP

mcp = FastMCP("interop-fastmcp", version="1.0.0")
cancelled_calls = 0


@dataclass
class Sum:
    sum: float


@dataclass
class Answer:
    answer: str


@mcp.tool(output_schema=None)
def echo(text: str) -> str:
    return text


@mcp.tool(name="sum")
def add(a: float, b: float) -> Sum:
    return Sum(a + b)


@mcp.tool(output_schema=None)
async def log(text: str, context: Context) -> str:
    await context.info(text)
    return "logged"


@mcp.tool(output_schema=None)
async def progress(steps: int, context: Context) -> str:
    for step in range(1, steps + 1):
        await context.report_progress(step, steps)
    return "done"


@mcp.tool(output_schema=None)
async def slow(ms: int) -> str:
    global cancelled_calls
    try:
        await anyio.sleep(ms / 1000)
    except anyio.get_cancelled_exc_class():
        cancelled_calls += 1
        raise
    return "slept"


@mcp.tool(output_schema=None)
def cancelled() -> str:
    return str(cancelled_calls)


@mcp.tool(output_schema=None)
def capabilities(context: Context) -> str:
    return ",".join(context.session.client_capabilities.model_dump(exclude_none=True))


@mcp.tool(output_schema=None)
async def ask(question: str, context: Context) -> str:
    result = await context.elicit(question, response_type=Answer)
    return f"{result.action}:{result.data.answer}"


@mcp.tool(output_schema=None)
async def touch(uri: str, context: Context) -> str:
    params = types.ResourceUpdatedNotificationParams(uri=uri)
    await context.send_notification(types.ResourceUpdatedNotification(params=params))
    return "touched"


def extra() -> str:
    return "extra"


@mcp.tool(output_schema=None)
async def grow(context: Context) -> str:
    has_extra = await mcp.get_tool("extra") is not None
    if has_extra:
        mcp.local_provider.remove_tool("extra")
    else:
        mcp.tool(extra, output_schema=None)
    await context.send_notification(types.ToolListChangedNotification())
    return str(not has_extra)


@mcp.resource("note://one", name="one", mime_type="text/plain")
def one() -> str:
    return "content of note://one"


@mcp.resource("note://{name}", name="note", mime_type="text/plain")
def note(name: str) -> str:
    return f"content of note://{name}"


@mcp.prompt
def greet(name: str) -> str:
    return f"Hello {name}"


def serve_http(mode, port):
    app = mcp.http_app(path="/mcp", json_response=mode == "stateless", stateless_http=mode == "stateless")
    listener = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if os.environ.get("INTEROP_EXTRA") == "1":
        mcp.tool(extra, output_schema=None)
    if sys.argv[1] == "stdio":
        mcp.run(show_banner=False)
    else:
        serve_http(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
