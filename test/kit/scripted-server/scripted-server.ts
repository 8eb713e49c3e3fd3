import { createServer as createHttpServer } from 'node:http';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { onCleanup } from '../cleanup.js';
import type { Message } from '../events.js';
import { freePort } from '../http.js';
import { ScriptedCall } from './scripted-call.js';
import { HttpEndpoint } from './http-endpoint.js';
import type { ScriptedLink } from './scripted-link.js';
import { ScriptedResources } from './scripted-resources.js';
import { StdioLink } from './stdio-link.js';
import { tempDir } from '../temp-dir.js';
import { until } from '../until.js';

const STDIO_RELAY = resolve('test/kit/scripted-server/stdio-relay.mjs');

/** A result as an object, or as text that is sent unchanged. With undefined the request stays unanswered. */
export type Reply = object | string | undefined | void;
type Handler = (call: ScriptedCall) => Reply | Promise<Reply>;

/** Thrown by a handler. Its text is the JSON-RPC error of the response and is sent unchanged. */
export class ScriptedError extends Error {
  constructor(readonly text: string) {
    super(text);
  }
}

export interface Received {
  readonly text: string;
  readonly message: Message;
  readonly link: ScriptedLink;
}

export const text = (words: string): object => ({ content: [{ type: 'text', text: words }] });

/**
 * An MCP server with handlers of the test that records every message. The same script serves as a child
 * process (`stdio`) and over HTTP (`http`, `sse`), side by side.
 */
export class ScriptedServer {
  /** All received messages, in order. */
  readonly received: Received[] = [];
  /** All processes and HTTP sessions so far. */
  readonly links: ScriptedLink[] = [];
  /** Unanswered tool calls, and their maximum so far. */
  inFlight = 0;
  maxInFlight = 0;
  readonly httpEndpoint = new HttpEndpoint(this);
  private readonly handlers = new Map<string, Handler>();
  private readonly tools = new Map<string, { definition: string; handler: Handler }>();
  private readonly prompts = new Map<string, { definition: string; handler: Handler }>();
  private readonly resources = new ScriptedResources();
  private socketPath = '';
  private servers: Server[] = [];
  private port = 0;

  static async start(): Promise<ScriptedServer> {
    const scripted = new ScriptedServer();
    scripted.socketPath = join(tempDir(), 'relays');
    scripted.servers = [createSocketServer((socket) => scripted.addStdioLink(socket))];
    await listen(scripted.servers[0]!, scripted.socketPath);
    await scripted.goUp();
    onCleanup(() => scripted.stop());
    return scripted;
  }

  /** For the config: a child process. Flags are those of stdio-relay.mjs. */
  stdio(...flags: string[]): { command: string; args: string[] } {
    return { command: process.execPath, args: [STDIO_RELAY, this.socketPath, ...flags] };
  }

  /** For the config: the same server over HTTP. */
  get http(): { url: string } {
    return { url: `http://127.0.0.1:${this.port}/mcp` };
  }

  /** For the config: the same server over the SSE transport. */
  get sse(): { type: 'sse'; url: string } {
    return { type: 'sse', url: `http://127.0.0.1:${this.port}/sse` };
  }

  /** Replaces the handler of a method. The reply to a notification is not used. */
  on(method: string, handler: Handler): this {
    this.handlers.set(method, handler);
    return this;
  }

  /** `definition` as text is listed byte for byte. */
  tool(name: string, handler: Handler, definition?: string): this {
    const plain = JSON.stringify({ name, inputSchema: { type: 'object' } });
    this.tools.set(name, { definition: definition ?? plain, handler });
    return this;
  }

  withoutTool(name: string): this {
    this.tools.delete(name);
    return this;
  }

  prompt(name: string, handler: Handler, definition?: string): this {
    this.prompts.set(name, { definition: definition ?? JSON.stringify({ name }), handler });
    return this;
  }

  resource(...given: Parameters<ScriptedResources['add']>): this {
    this.resources.add(...given);
    return this;
  }

  template(...given: Parameters<ScriptedResources['addTemplate']>): this {
    this.resources.addTemplate(...given);
    return this;
  }

  /** Removes a resource or a template from its list. */
  withoutResource(uri: string): this {
    this.resources.remove(uri);
    return this;
  }

  /** Sends a notification on every open link. */
  broadcast(method: string, params?: object): void {
    for (const link of this.links)
      if (link.isOpen) link.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  countOf(method: string): number {
    return this.messages(method).length;
  }

  messages(method: string): Received[] {
    return this.received.filter(({ message }) => message.method === method);
  }

  /** Waits for a message that satisfies the condition. It may have arrived before. */
  untilReceived(method: string, matches: (message: Message) => boolean = () => true): Promise<Received> {
    return until(`the server receives ${method}`, () =>
      this.messages(method).find(({ message }) => matches(message)),
    );
  }

  /** The open link; fails when there is not exactly one. */
  get link(): ScriptedLink {
    const open = this.links.filter(({ isOpen }) => isOpen);
    if (open.length !== 1) throw new Error(`${open.length} links are open`);
    return open[0]!;
  }

  /** Closes the port, breaks the connections and expires the sessions, as when the machine is shut down. */
  async goDown(): Promise<void> {
    this.httpEndpoint.expireSessions();
    const server = this.servers.pop();
    this.httpEndpoint.breakConnections();
    await new Promise((done) => server?.close(done));
  }

  async goUp(): Promise<void> {
    const server = createHttpServer((request, response) => void this.httpEndpoint.serve(request, response));
    this.httpEndpoint.watch(server);
    this.port ||= await freePort();
    await listen(server, this.port);
    this.servers.push(server);
  }

  /** Called by links for each message. */
  async receive(textOfMessage: string, link: ScriptedLink, send: (text: string) => void): Promise<void> {
    const message = JSON.parse(textOfMessage) as Message;
    this.received.push({ text: textOfMessage, message, link });
    if (message.method === undefined) return link.answered(message);
    if (message.method === 'notifications/cancelled') return link.cancelled(message.params?.['requestId']);
    const call = new ScriptedCall(message, textOfMessage, link, send);
    if (message.id !== undefined) await this.answer(call);
    else await this.handlers.get(message.method)?.(call);
  }

  private async answer(call: ScriptedCall): Promise<void> {
    const isToolCall = call.method === 'tools/call';
    if (isToolCall) this.maxInFlight = Math.max(this.maxInFlight, ++this.inFlight);
    try {
      const reply = await this.replyTo(call);
      if (reply === undefined) await call.ended;
      else call.answer(`"result":${typeof reply === 'string' ? reply : JSON.stringify(reply)}`);
    } catch (error) {
      const internal = JSON.stringify({ code: -32603, message: String(error) });
      call.answer(`"error":${error instanceof ScriptedError ? error.text : internal}`);
    } finally {
      if (isToolCall) this.inFlight--;
    }
  }

  private replyTo(call: ScriptedCall): Reply | Promise<Reply> {
    const own = this.handlers.get(call.method);
    if (own) return own(call);
    switch (call.method) {
      case 'initialize':
        return initializeResult(this.resources.areOffered);
      case 'ping':
      case 'logging/setLevel':
        return {};
      case 'tools/list':
        return `{"tools":[${definitions(this.tools)}]}`;
      case 'prompts/list':
        return `{"prompts":[${definitions(this.prompts)}]}`;
      case 'tools/call':
        return named(this.tools, call);
      case 'prompts/get':
        return named(this.prompts, call);
      case 'resources/list':
        return this.resources.list;
      case 'resources/templates/list':
        return this.resources.templateList;
      case 'resources/read':
        return this.resources.read(call);
      default:
        throw new ScriptedError(`{"code":-32601,"message":"Method not found: ${call.method}"}`);
    }
  }

  private addStdioLink(socket: Socket): void {
    this.links.push(new StdioLink(socket, this));
  }

  private stop(): void {
    for (const link of this.links) link.close();
    this.httpEndpoint.breakConnections();
    for (const server of this.servers) server.close();
  }
}

const initializeResult = (hasResources: boolean): object => ({
  protocolVersion: '2025-11-25',
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    ...(hasResources && { resources: { listChanged: true } }),
    logging: {},
    completions: {},
  },
  serverInfo: { name: 'scripted', version: '1' },
});

const definitions = (entries: ReadonlyMap<string, { definition: string }>): string =>
  [...entries.values()].map(({ definition }) => definition).join(',');

function named(
  entries: ReadonlyMap<string, { handler: Handler }>,
  call: ScriptedCall,
): Reply | Promise<Reply> {
  const name = String(call.params['name']);
  const entry = entries.get(name);
  if (!entry) throw new ScriptedError(`{"code":-32602,"message":"Unknown name: ${name}"}`);
  return entry.handler(call);
}

function listen(server: Server, where: string | number): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    if (typeof where === 'string') server.listen(where, done);
    else server.listen(where, '127.0.0.1', done);
  });
}
