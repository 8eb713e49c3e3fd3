"""Server on the Python SDK 2.x: server.py stdio | http | stateless [port], see ../README.md."""

import os
import socket
import sys

import anyio
import uvicorn
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server

sessions = {}
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


def text(value, **members):
    return types.CallToolResult(content=[types.TextContent(text=str(value))], **members)


def remember(context):
    """The SDK makes a session object per request; messages outside a request go through the last one."""
    headers = context.request.headers if context.request is not None else {}
    key = headers.get("mcp-session-id")
    sessions[key] = context.session
    return key


async def list_tools(_context, _params):
    tools = {**TOOLS, "extra": schema("string")} if has_extra else TOOLS
    output = {"sum": schema("number", "sum")}
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema=one, output_schema=output.get(name)) for name, one in tools.items()]
    )


async def log(context, arguments):
    await context.session.send_log_message("info", arguments["text"], related_request_id=context.request_id)
    return text("logged")


async def progress(context, arguments):
    for step in range(1, int(arguments["steps"]) + 1):
        await context.session.report_progress(step, arguments["steps"])
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
    for key, uri in list(subscribed):
        if uri == arguments["uri"]:
            await sessions[key].send_resource_updated(uri)
    return text("touched")


async def grow(_context, _arguments):
    global has_extra
    has_extra = not has_extra
    for session in list(sessions.values()):
        await session.send_tool_list_changed()
    return text(has_extra)


HANDLERS = {"log": log, "progress": progress, "slow": slow, "ask": ask, "touch": touch, "grow": grow}


async def call_tool(context, params):
    remember(context)
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return text(arguments["text"])
        case "sum":
            total = arguments["a"] + arguments["b"]
            return text(total, structured_content={"sum": total})
        case "cancelled":
            return text(cancelled)
        case "capabilities":
            return text(",".join(context.session.client_capabilities.model_dump(exclude_none=True)))
        case "extra":
            return text("extra")
    return await HANDLERS[params.name](context, arguments)


async def list_resources(_context, _params):
    return types.ListResourcesResult(resources=[types.Resource(uri="note://one", name="one")])


async def list_templates(_context, _params):
    template = types.ResourceTemplate(uri_template="note://{name}", name="note")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_context, params):
    content = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=f"content of {params.uri}")
    return types.ReadResourceResult(contents=[content])


async def subscribe(context, params):
    subscribed.add((remember(context), params.uri))
    return types.EmptyResult()


async def unsubscribe(context, params):
    subscribed.discard((remember(context), params.uri))
    return types.EmptyResult()


async def set_level(_context, _params):
    return types.EmptyResult()


async def list_prompts(_context, _params):
    argument = types.PromptArgument(name="name", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="greet", arguments=[argument])])


async def get_prompt(_context, params):
    content = types.TextContent(text=f"Hello {params.arguments['name']}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


server = Server(
    "interop-python-2",
    version="1.0.0",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=unsubscribe,
    on_set_logging_level=set_level,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
)
options = server.create_initialization_options(NotificationOptions(tools_changed=True, resources_changed=True))


async def serve_stdio():
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


def serve_http(mode, port):
    # The app asks for the options without arguments.
    server.create_initialization_options = lambda *_, **__: options
    stateless = mode == "stateless"
    app = server.streamable_http_app(json_response=stateless, stateless_http=stateless)
    listener = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(serve_stdio)
    else:
        serve_http(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
