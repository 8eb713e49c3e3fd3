"""Client on the Python SDK 2.x: commands and events as JSON lines, see ../README.md."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
from mcp import Client, types
from mcp.client.subscriptions import SubscriptionLost

LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def write(message):
    print(json.dumps(message), flush=True)


def text_of(parts):
    return "".join(getattr(part, "text", "") for part in parts)


class Program:
    def __init__(self, stack, tasks):
        self.stack = stack
        self.tasks = tasks
        self.client = None
        self.calls = {}
        self.listening = None

    async def on_message(self, message):
        match message:
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

        client = Client(
            command["url"],
            elicitation_callback=on_elicit,
            logging_callback=self.on_log,
            message_handler=self.on_message,
            # By default, this SDK asks for revision 2026-07-28.
            **({} if command["era"] == "2026" else {"mode": "legacy"}),
        )
        self.client = await self.stack.enter_async_context(client)
        return {"server": self.client.server_info.name, "protocol": self.client.protocol_version}

    async def listen(self, command):
        listening = anyio.Event()
        self.tasks.start_soon(self.stay_listening, command, listening)
        await listening.wait()

    async def stay_listening(self, command, listening):
        stream = self.client.listen(
            tools_list_changed=command.get("tools", False), resource_subscriptions=command.get("uris", [])
        )
        with anyio.CancelScope() as self.listening:
            try:
                async with stream as events:
                    listening.set()
                    # The handler of all messages writes the events: the stream itself merges equal ones.
                    async for _event in events:
                        pass
                write({"event": "listenEnded", "withResult": True})
            except SubscriptionLost:
                write({"event": "listenEnded", "withResult": False})

    async def unlisten(self, _command):
        self.listening.cancel()

    async def call(self, command):
        async def on_progress(progress, _total, _message):
            write({"event": "progress", "call": command["id"], "progress": progress})

        # The SDK cancels a request when the scope it runs in is cancelled.
        with anyio.CancelScope() as scope:
            self.calls[command["id"]] = scope
            result = await self.client.call_tool(
                command["name"],
                command.get("arguments"),
                progress_callback=on_progress if command.get("progress") else None,
                meta={LOG_LEVEL: command["level"]} if "level" in command else None,
            )
            return {
                "text": text_of(result.content),
                "structured": result.structured_content,
                "isError": result.is_error or False,
            }

    async def cancel(self, command):
        self.calls[command["call"]].cancel()

    async def tools(self, _command):
        return {"names": [tool.name for tool in (await self.client.list_tools()).tools]}

    async def resources(self, _command):
        return {"names": [one.uri for one in (await self.client.list_resources()).resources]}

    async def templates(self, _command):
        result = await self.client.list_resource_templates()
        return {"names": [one.uri_template for one in result.resource_templates]}

    async def prompts(self, _command):
        return {"names": [prompt.name for prompt in (await self.client.list_prompts()).prompts]}

    async def read(self, command):
        return {"text": text_of((await self.client.read_resource(command["uri"])).contents)}

    async def prompt(self, command):
        result = await self.client.get_prompt(command["name"], command["arguments"])
        return {"text": text_of([message.content for message in result.messages])}

    async def subscribe(self, command):
        await self.client.subscribe_resource(command["uri"])

    async def unsubscribe(self, command):
        await self.client.unsubscribe_resource(command["uri"])

    async def level(self, command):
        await self.client.set_logging_level(command["level"])

    async def ping(self, _command):
        await self.client.send_ping()

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
        program = Program(stack, tasks)
        async for line in anyio.wrap_file(sys.stdin):
            command = json.loads(line)
            # Contexts of the SDK must be entered and left in the same task.
            if command["op"] in ("connect", "disconnect"):
                await program.run(command)
            else:
                tasks.start_soon(program.run, command)
        tasks.cancel_scope.cancel()


anyio.run(main)
