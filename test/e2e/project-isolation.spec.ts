import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { hashOf } from '../../src/config/api-key-config.js';
import {
  canaryServer,
  attempt,
  event,
  META_TOOLS,
  otherOf,
  PROMPT,
  SIDES,
  TOOLS,
  type Attempt,
  type Event,
  type SideName,
} from '../kit/project-isolation.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { bodyOf, openExchange, type RawRequest } from '../kit/http.js';
import { BOTH_TYPES, RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until, within } from '../kit/until.js';

/** Markers that must never reach the other side: one in every message of a side's servers, one in every message of its clients. */
const serverCanary = (side: SideName): string => `canary-of-the-servers-of-${side}-7f3a`;
const clientCanary = (side: SideName): string => `canary-of-the-clients-of-${side}-91bc`;

const members = (one: SideName): object => ({ servers: [`${one}-http`, `${one}-stdio`, 'common'] });

/** A client of one side: its session and every byte that it received. */
class Client {
  readonly chunks: string[] = [];
  readonly cursors: string[] = [];
  readonly eventIds: string[] = [];
  private checked = 0;

  private constructor(
    readonly side: SideName,
    readonly session: RawSession,
    private readonly gateway: Gateway,
  ) {}

  static async open(gateway: Gateway, side: SideName, path: string): Promise<Client> {
    const session = await RawSession.open(gateway.urlOf(path), {
      headers: { authorization: `Bearer key-${side}` },
      capabilities: { sampling: {}, elicitation: {} },
    });
    const client = new Client(side, session, gateway);
    client.chunks.push(JSON.stringify(session.initializeResult));
    await session.request('logging/setLevel', { level: 'debug' });
    const eventStream = await openExchange(session.url, {
      headers: {
        accept: 'text/event-stream',
        'mcp-session-id': session.id,
        authorization: `Bearer key-${side}`,
      },
    });
    eventStream.setEncoding('utf8').on('data', (chunk: string) => client.record(chunk));
    return client;
  }

  get text(): string {
    return this.chunks.join('');
  }

  /** Sends a request with this side's key and records the whole response: the head and the body. */
  async send(path: string, request: RawRequest): Promise<void> {
    const headers = { ...request.headers, authorization: `Bearer key-${this.side}` };
    const response = await openExchange(this.gateway.urlOf(path), { ...request, headers });
    this.record(JSON.stringify([response.statusCode, response.rawHeaders]));
    // A stream that is still open after 200 ms is closed.
    const body = await within('a response', Promise.race([bodyOf(response), delay(200)])).catch(() => '');
    if (body === undefined) response.destroy();
    else this.record(body);
  }

  /** The text received since the last check, with an overlap for a marker that arrived in two chunks. */
  uncheckedText(): string {
    const whole = this.text;
    const from = Math.max(0, this.checked - 100);
    this.checked = whole.length;
    return whole.slice(from);
  }

  private record(chunk: string): void {
    this.chunks.push(chunk);
    for (const [, cursor] of chunk.matchAll(/"nextCursor":"([^"]+)"/g)) this.cursors.push(cursor!);
    for (const [, id] of chunk.matchAll(/^id: ?(.+)$/gm)) this.eventIds.push(id!);
  }
}

const delay = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());

describe('two projects with identical servers', () => {
  let gateway: Gateway;
  const servers = new Map<string, ScriptedServer>();
  const clients: Record<SideName, Client[]> = { x: [], y: [] };
  let counter = 0;

  beforeAll(async () => {
    for (const one of SIDES)
      for (const transport of ['http', 'stdio'])
        servers.set(`${one}-${transport}`, await canaryServer(serverCanary(one)));
    // Both projects may use this server: the arguments of one client must not reach a client of the other.
    const common = await ScriptedServer.start();
    common
      .tool('echo', (call) => text(call.text))
      .tool('talk', async (call) => {
        call.notify('notifications/message', { level: 'error', data: call.params });
        await new Promise((resolve) => setTimeout(resolve, 3));
        return text(call.text);
      });
    servers.set('common', common);
    const entries = [...servers].map(([id, server]) => [
      id,
      id.endsWith('http') ? server.http : server.stdio(),
    ]);
    gateway = await startGateway({
      mcpServers: Object.fromEntries(entries) as Record<string, object>,
      projects: { x: members('x'), y: members('y') },
      auth: { apiKeys: SIDES.map((id) => ({ id, hash: hashOf(`key-${id}`), projects: [id] })) },
      limits: { pageSize: 2 },
      metaTools: true,
    });
    for (const one of SIDES) {
      const ids = [`${one}-http`, `${one}-stdio`];
      await gateway.listed(
        { tools: [...ids, 'common'], prompts: ids, resources: ids, resourceTemplates: ids },
        { authorization: `Bearer key-${one}` },
      );
      for (const path of [`/projects/${one}/mcp`, '/mcp'])
        clients[one].push(await Client.open(gateway, one, path));
    }
  });

  function paramsOf(given: Attempt, from: Client): object {
    const { progressToken, meta, serverId, refType } = given;
    const cursor =
      given.cursor === undefined ? {} : { cursor: from.cursors[given.cursor % from.cursors.length] };
    return {
      name: given.name,
      arguments: {
        mine: clientCanary(given.side),
        query: 'canary servers clients',
        uri: given.uri,
        name: `${serverId ?? 'x-http'}__echo`,
        ...(serverId === undefined ? {} : { serverId }),
        ...cursor,
      },
      ref: { type: refType, name: given.name, uri: given.uri },
      argument: { name: 'a', value: clientCanary(given.side) },
      uri: given.uri,
      level: 'debug',
      protocolVersion: '2025-11-25',
      capabilities: {},
      requestId: given.id,
      progressToken: given.id,
      ...cursor,
      ...(meta || progressToken !== undefined ? { _meta: { ...meta, progressToken } } : {}),
    };
  }

  async function perform(given: Attempt): Promise<void> {
    const own = clients[given.side][given.client]!;
    const from = clients[given.of][given.client]!;
    const session = given.takesSession ? from.session.id : own.session.id;
    // Later attempts need the client's own session and event stream.
    if (given.verb !== 'POST' && session === own.session.id) return;
    const { method } = given;
    const isNotification = method.startsWith('notifications/');
    // The gateway refuses a request whose id is already in flight in the same session.
    const id = isNotification ? {} : { id: given.id < 5 ? ++counter : given.id };
    const result = { role: 'assistant', content: clientCanary(given.side) };
    const body = given.isAnswer
      ? { jsonrpc: '2.0', id: given.id, result }
      : { jsonrpc: '2.0', ...id, method, params: paramsOf(given, from) };
    const headers: Record<string, string> = {
      accept: given.verb === 'GET' ? 'text/event-stream' : BOTH_TYPES,
      'content-type': 'application/json',
      ...(method === 'initialize' && given.verb === 'POST' ? {} : { 'mcp-session-id': session }),
      ...(given.header === undefined ? {} : { 'x-gatehouse-project': given.header }),
    };
    const lastEventId = from.eventIds.at(-1);
    if (given.verb === 'GET' && lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    await own.send(given.path, {
      method: given.verb,
      headers,
      ...(given.verb === 'POST' ? { body: JSON.stringify(body) } : {}),
    });
  }

  function trigger({ side: one, transport, what }: Event): void {
    const server = servers.get(`${one}-${transport}`)!;
    const canary = serverCanary(one);
    if (what === 0)
      server.broadcast('notifications/message', { level: 'error', logger: canary, data: canary });
    if (what === 1)
      server.broadcast('notifications/progress', { progressToken: 1, progress: 1, message: canary });
    if (what === 2) server.broadcast('notifications/made/up', { canary });
    if (what === 3) {
      server.tool(
        `added_${one}`,
        () => text(canary),
        JSON.stringify({ name: `added_${one}`, title: `${canary} ${++counter}` }),
      );
      server.broadcast('notifications/tools/list_changed', { canary });
    }
    if (what === 4) {
      const added = { uri: `x://added_${one}`, name: `${canary} ${++counter}` };
      server.resource(added.uri, undefined, JSON.stringify(added));
      server.broadcast('notifications/resources/list_changed', { canary });
    }
    if (what === 5) server.broadcast('notifications/resources/updated', { uri: 'x://doc', canary });
  }

  /** Markers of the other side in the unchecked text of all clients, each with the text around it. */
  const leaks = (): string[] =>
    SIDES.flatMap((one) => clients[one].flatMap((client) => markersIn(client.uncheckedText(), otherOf(one))));

  it('leak no byte to each other under random requests and server notifications', async () => {
    const round = fc.record({
      attempts: fc.array(attempt, { minLength: 4, maxLength: 16 }),
      events: fc.array(event, { maxLength: 3 }),
    });
    const property = fc.asyncProperty(round, async ({ attempts, events }) => {
      for (const one of events) trigger(one);
      await Promise.all(attempts.map(perform));
      expect(leaks()).toEqual([]);
    });
    await fc.assert(property, { numRuns: 400, interruptAfterTimeLimit: 9000, endOnFailure: true });
    expect(gateway.isRunning).toBe(true);
    expect(gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('deliver everything of their own servers to their clients', async () => {
    for (const one of SIDES) {
      const canary = serverCanary(one);
      const [client] = clients[one];
      const ask = (method: string, params: object): Promise<void> =>
        client!.send('/mcp', {
          method: 'POST',
          headers: {
            accept: BOTH_TYPES,
            'content-type': 'application/json',
            'mcp-session-id': client!.session.id,
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: ++counter, method, params }),
        });
      for (const tool of TOOLS)
        await ask('tools/call', { name: `${one}-http__${tool}`, _meta: { progressToken: 'p' } });
      await ask('tools/list', {});
      await ask('completion/complete', {
        ref: { type: 'ref/prompt', name: `${one}-http__${PROMPT}` },
        argument: { name: 'a', value: '' },
      });
      const uri = `resource://${one}-stdio/x://doc`;
      await ask('resources/list', {});
      await ask('resources/templates/list', {});
      const meta = { mine: clientCanary(one) };
      for (const server of [`${one}-http`, `${one}-stdio`])
        await ask('resources/read', { uri: `resource://${server}/x://doc`, _meta: meta });
      await ask('resources/read', { uri: `resource://${one}-http/x://fail` });
      await ask('resources/subscribe', { uri });
      await ask('completion/complete', {
        ref: { type: 'ref/resource', uri: `resource://${one}-http/x://t/{a}` },
        argument: { name: 'a', value: '' },
      });
      for (const tool of META_TOOLS)
        await ask('tools/call', {
          name: tool,
          arguments: { uri, name: `${one}-http__echo`, query: canary, serverId: `${one}-stdio` },
        });
      for (const what of [0, 3, 4, 5]) trigger({ side: one, transport: 'stdio', what });
      for (const trace of [
        `"title":"${canary}"`,
        `"structuredContent":{"canary":"${canary}"}`,
        `"code":-32050,"message":"${canary}"`,
        `"progress":1,"message":"${canary}"`,
        `"data":["${canary}"`,
        `"systemPrompt":"${canary}"`,
        `"values":["${canary}"`,
        `"instructions":"# ${one}-http\\n\\n${canary}`,
        `"logger":"${canary}","data":"${canary}"`,
        'notifications/tools/list_changed',
        `"uri":"resource://${one}-http/x://doc","name":"${canary}"`,
        `"uriTemplate":"resource://${one}-http/x://t/{a}","name":"${canary}"`,
        `"contents":[{"uri":"${uri}","mimeType":"text/plain","text":"${canary} `,
        `"code":-32051,"message":"${canary}"`,
        `"type\\":\\"ref/resource\\",\\"uri\\":\\"x://t/{a}`,
        `{"uri":"${uri}","name":"${canary}","title":"${canary}","serverId":"${one}-stdio"}`,
        `"structuredContent":{"resource":{"uri":"${uri}","name":"${canary}"`,
        `"structuredContent":{"resourceTemplates":[{"uriTemplate":"resource://${one}-stdio/x://t/{a}","name":"${canary}"`,
        `"structuredContent":{"tools":[{"name":"${one}-stdio__`,
        `"structuredContent":{"tool":{"name":"${one}-http__echo","title":"${canary}"`,
        'notifications/resources/list_changed',
        `"notifications/resources/updated","params":{"uri":"${uri}","canary":"${canary}"`,
      ])
        await until(`a client of ${one} received ${trace}`, () => {
          // Log messages are dropped while a call has ended within the last second.
          if (trace.startsWith('"logger"')) trigger({ side: one, transport: 'stdio', what: 0 });
          return client!.text.includes(trace);
        });
    }
    expect(leaks()).toEqual([]);
  });

  it('send no text of their clients to a server of the other project', () => {
    for (const one of SIDES)
      for (const transport of ['http', 'stdio']) {
        const { received } = servers.get(`${one}-${transport}`)!;
        const sent = received.map((message) => message.text).join('\n');
        expect(sent).toContain(clientCanary(one));
        expect(sent).not.toContain(clientCanary(otherOf(one)));
      }
  });
});

function markersIn(seen: string, owner: SideName): string[] {
  return [serverCanary(owner), clientCanary(owner)].flatMap((canary) => {
    const at = seen.indexOf(canary);
    return at === -1 ? [] : [seen.slice(Math.max(0, at - 300), at + 200)];
  });
}
