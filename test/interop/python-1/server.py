"""Server on the Python SDK 1.x: server.py stdio | http | stateless [port], see ../README.md."""

import contextlib
import os
import socket
import sys

import anyio
import uvicorn
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount

server = Server("interop-python-1", version="1.0.0")
sessions = set()
subscribed = set()
cancelled = 0
has_extra = os.environ.get("INTEROP_EXTRA") == "1"


def schema(kind, *members):
    return {"type": "object", "properties": {one: {"type": kind} for one in members}, "required": list(members)}


TOOLS = {
    "echo": schema("string", "text"),
    "sum": schema("number", "a", "b"),
    "log": schema("string", "text"),
    "progress": schema("number", "steps"),
    "slow": schema("number", "ms"),
    "cancelled": schema("string"),
    "capabilities": schema("string"),
    "ask": schema("string", "question"),
    "touch": schema("string", "uri"),
    "grow": schema("string"),
}


def text(value):
    return [types.TextContent(type="text", text=str(value))]


@server.list_tools()
async def list_tools():
    tools = {**TOOLS, "extra": schema("string")} if has_extra else TOOLS
    output = {"sum": schema("number", "sum")}
    return [types.Tool(name=name, inputSchema=one, outputSchema=output.get(name)) for name, one in tools.items()]


async def log(context, arguments):
    await context.session.send_log_message("info", arguments["text"], related_request_id=context.request_id)
    return text("logged")


async def progress(context, arguments):
    for step in range(1, int(arguments["steps"]) + 1):
        await context.session.send_progress_notification(
            context.meta.progressToken, step, arguments["steps"], related_request_id=str(context.request_id)
        )
    return text("done")


async def slow(_context, arguments):
    global cancelled
    try:
        await anyio.sleep(arguments["ms"] / 1000)
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        raise
    return text("slept")


async def ask(context, arguments):
    result = await context.session.elicit_form(
        arguments["question"], schema("string", "answer"), related_request_id=context.request_id
    )
    return text(f"{result.action}:{result.content['answer']}")


async def touch(_context, arguments):
    for session, uri in list(subscribed):
        if uri == arguments["uri"]:
            await session.send_resource_updated(arguments["uri"])
    return text("touched")


async def grow(_context, _arguments):
    global has_extra
    has_extra = not has_extra
    for session in list(sessions):
        await session.send_tool_list_changed()
    return text(has_extra)


HANDLERS = {"log": log, "progress": progress, "slow": slow, "ask": ask, "touch": touch, "grow": grow}


@server.call_tool()
async def call_tool(name, arguments):
    sessions.add(server.request_context.session)
    match name:
        case "echo":
            return text(arguments["text"])
        case "sum":
            return text(arguments["a"] + arguments["b"]), {"sum": arguments["a"] + arguments["b"]}
        case "cancelled":
            return text(cancelled)
        case "capabilities":
            return text(",".join(server.request_context.session.client_params.capabilities.model_dump(exclude_none=True)))
        case "extra":
            return text("extra")
    return await HANDLERS[name](server.request_context, arguments)


@server.list_resources()
async def list_resources():
    return [types.Resource(uri="note://one", name="one")]


@server.list_resource_templates()
async def list_templates():
    return [types.ResourceTemplate(uriTemplate="note://{name}", name="note")]


@server.read_resource()
async def read_resource(uri):
    return f"content of {uri}"


@server.subscribe_resource()
async def subscribe(uri):
    subscribed.add((server.request_context.session, str(uri)))


@server.unsubscribe_resource()
async def unsubscribe(uri):
    subscribed.discard((server.request_context.session, str(uri)))


@server.set_logging_level()
async def set_level(_level):
    pass


@server.list_prompts()
async def list_prompts():
    return [types.Prompt(name="greet", arguments=[types.PromptArgument(name="name", required=True)])]


@server.get_prompt()
async def get_prompt(_name, arguments):
    content = types.TextContent(type="text", text=f"Hello {arguments['name']}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def options():
    return server.create_initialization_options(NotificationOptions(tools_changed=True, resources_changed=True))


async def serve_stdio():
    async with stdio_server() as (read, write):
        await server.run(read, write, options())


def serve_http(mode, port):
    # The manager asks for the options without arguments.
    defaults = options()
    server.create_initialization_options = lambda *_: defaults
    stateless = mode == "stateless"
    manager = StreamableHTTPSessionManager(server, json_response=stateless, stateless=stateless)

    @contextlib.asynccontextmanager
    async def lifespan(_app):
        async with manager.run():
            yield

    listener = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = Starlette(routes=[Mount("/", app=manager.handle_request)], lifespan=lifespan)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(serve_stdio)
    else:
        serve_http(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
