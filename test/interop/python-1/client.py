"""Client on the Python SDK 1.x: commands and events as JSON lines, see ../README.md."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl


def write(message):
    print(json.dumps(message), flush=True)


def text_of(parts):
    return "".join(getattr(part, "text", "") for part in parts)


class Program:
    def __init__(self, stack):
        self.stack = stack
        self.session = None
        self.calls = {}

    async def on_message(self, message):
        match getattr(message, "root", None):
            case types.ResourceUpdatedNotification(params=params):
                write({"event": "updated", "uri": str(params.uri)})
            case types.ToolListChangedNotification():
                write({"event": "toolsChanged"})

    async def on_log(self, params):
        write({"event": "log", "data": params.data})

    async def connect(self, command):
        async def on_elicit(_context, params):
            write({"event": "elicit", "message": params.message})
            return types.ElicitResult(action="accept", content={"answer": command["answer"]})

        read, send, _ = await self.stack.enter_async_context(streamable_http_client(command["url"]))
        session = ClientSession(
            read,
            send,
            elicitation_callback=on_elicit,
            logging_callback=self.on_log,
            message_handler=self.on_message,
        )
        self.session = await self.stack.enter_async_context(session)
        result = await self.session.initialize()
        return {"server": result.serverInfo.name}

    async def call(self, command):
        async def on_progress(progress, _total, _message):
            write({"event": "progress", "call": command["id"], "progress": progress})

        # The request id that the session gives to the call; the SDK has no other way to cancel one.
        self.calls[command["id"]] = self.session._request_id
        result = await self.session.call_tool(
            command["name"],
            command.get("arguments"),
            progress_callback=on_progress if command.get("progress") else None,
        )
        return {"text": text_of(result.content), "structured": result.structuredContent, "isError": result.isError}

    async def cancel(self, command):
        params = types.CancelledNotificationParams(requestId=self.calls[command["call"]], reason="cancelled")
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))

    async def tools(self, _command):
        return {"names": [tool.name for tool in (await self.session.list_tools()).tools]}

    async def resources(self, _command):
        return {"names": [str(one.uri) for one in (await self.session.list_resources()).resources]}

    async def templates(self, _command):
        result = await self.session.list_resource_templates()
        return {"names": [one.uriTemplate for one in result.resourceTemplates]}

    async def prompts(self, _command):
        return {"names": [prompt.name for prompt in (await self.session.list_prompts()).prompts]}

    async def read(self, command):
        return {"text": text_of((await self.session.read_resource(AnyUrl(command["uri"]))).contents)}

    async def prompt(self, command):
        result = await self.session.get_prompt(command["name"], command["arguments"])
        return {"text": text_of([message.content for message in result.messages])}

    async def subscribe(self, command):
        await self.session.subscribe_resource(AnyUrl(command["uri"]))

    async def unsubscribe(self, command):
        await self.session.unsubscribe_resource(AnyUrl(command["uri"]))

    async def level(self, command):
        await self.session.set_logging_level(command["level"])

    async def ping(self, _command):
        await self.session.send_ping()

    async def disconnect(self, _command):
        await self.stack.aclose()

    async def run(self, command):
        try:
            result = await getattr(self, command["op"])(command)
            write({"id": command["id"], "result": result or {}})
        except Exception as error:
            write({"id": command["id"], "error": repr(error)})


async def main():
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        program = Program(stack)
        async for line in anyio.wrap_file(sys.stdin):
            command = json.loads(line)
            # Contexts of the SDK must be entered and left in the same task.
            if command["op"] in ("connect", "disconnect"):
                await program.run(command)
            else:
                tasks.start_soon(program.run, command)
        tasks.cancel_scope.cancel()


anyio.run(main)
