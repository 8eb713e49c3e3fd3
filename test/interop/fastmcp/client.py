"""Client on FastMCP: commands and events as JSON lines, see ../README.md."""

import json
import sys

import anyio
import mcp_types as types
from fastmcp import Client


def write(message):
    print(json.dumps(message), flush=True)


def text_of(parts):
    return "".join(getattr(part, "text", "") for part in parts)


class Program:
    def __init__(self):
        self.client = None
        self.calls = {}

    async def on_message(self, message):
        match message:
            case types.ResourceUpdatedNotification(params=params):
                write({"event": "updated", "uri": str(params.uri)})
            case types.ToolListChangedNotification():
                write({"event": "toolsChanged"})

    async def on_log(self, message):
        write({"event": "log", "data": message.data})

    async def connect(self, command):
        async def on_elicit(message, _response_type, _params, _context):
            write({"event": "elicit", "message": message})
            return {"answer": command["answer"]}

        self.client = Client(
            command["url"],
            elicitation_handler=on_elicit,
            log_handler=self.on_log,
            message_handler=self.on_message,
        )
        await self.client.__aenter__()
        return {"server": self.client.server_info.name}

    async def call(self, command):
        async def on_progress(progress, _total, _message):
            write({"event": "progress", "call": command["id"], "progress": progress})

        # A request is cancelled when the scope it runs in is cancelled.
        with anyio.CancelScope() as scope:
            self.calls[command["id"]] = scope
            result = await self.client.call_tool_mcp(
                command["name"],
                command.get("arguments") or {},
                progress_handler=on_progress if command.get("progress") else None,
            )
            return {
                "text": text_of(result.content),
                "structured": result.structured_content,
                "isError": result.is_error or False,
            }

    async def cancel(self, command):
        self.calls[command["call"]].cancel()

    async def tools(self, _command):
        return {"names": [tool.name for tool in await self.client.list_tools()]}

    async def resources(self, _command):
        return {"names": [str(one.uri) for one in await self.client.list_resources()]}

    async def templates(self, _command):
        return {"names": [one.uri_template for one in await self.client.list_resource_templates()]}

    async def prompts(self, _command):
        return {"names": [prompt.name for prompt in await self.client.list_prompts()]}

    async def read(self, command):
        return {"text": text_of(await self.client.read_resource(command["uri"]))}

    async def prompt(self, command):
        result = await self.client.get_prompt(command["name"], command["arguments"])
        return {"text": text_of([message.content for message in result.messages])}

    # FastMCP has no method for subscriptions; its session is that of the Python SDK.
    async def subscribe(self, command):
        await self.client.session.subscribe_resource(command["uri"])

    async def unsubscribe(self, command):
        await self.client.session.unsubscribe_resource(command["uri"])

    async def level(self, command):
        await self.client.set_logging_level(command["level"])

    async def ping(self, _command):
        await self.client.ping()

    async def disconnect(self, _command):
        await self.client.close()

    async def run(self, command):
        try:
            result = await getattr(self, command["op"])(command)
            write({"id": command["id"], "result": result or {}})
        except Exception as error:
            write({"id": command["id"], "error": repr(error)})


async def main():
    program = Program()
    async with anyio.create_task_group() as tasks:
        async for line in anyio.wrap_file(sys.stdin):
            command = json.loads(line)
            # Contexts of the client must be entered and left in the same task.
            if command["op"] in ("connect", "disconnect"):
                await program.run(command)
            else:
                tasks.start_soon(program.run, command)
        tasks.cancel_scope.cancel()


anyio.run(main)
