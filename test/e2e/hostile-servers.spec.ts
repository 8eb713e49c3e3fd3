import type { RequestListener, ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange, writeEndlessly } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import type { ScriptedCall } from '../kit/scripted-server/scripted-call.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { serve } from '../kit/serve.js';
import { startSubscribableServer, SubscribedClient } from '../kit/subscribed-client.js';
import { until, within } from '../kit/until.js';

const RESPONSE_BYTES = 1_000_000;
/** What the kernel and the HTTP client may read before the limit takes effect. */
const BUFFERED_BYTES = 16_000_000;

/** An SSE server of which one part never ends, and the bytes of each such part. */
async function startEndless(part: 'event' | 'error of the stream' | 'error of a message') {
  const written: number[] = [];
  const write = (response: ServerResponse): unknown =>
    writeEndlessly(response).then((bytes) => written.push(bytes));
  const listener: RequestListener = (request, response) => {
    if (request.method === 'POST' && part === 'event') return void response.writeHead(202).end();
    if (request.method === 'POST' || part === 'error of the stream')
      return void write(response.writeHead(500, { 'content-type': 'application/json' }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: endpoint\ndata: /message\n\n');
    return void (part === 'event' && (response.write('data: '), write(response)));
  };
  const { url } = await serve(listener);
  return { entry: { type: 'sse', url }, written };
}

const FLOOD = 40_000;

/** Log messages and updates of one resource in turn; `n` counts them. */
const floodMessage = (n: number): string =>
  n % 2 === 0
    ? `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${n}}}`
    : `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:1","n":${n}}}`;

/** A tool that floods the shared stream with messages and junk before it responds. */
const flood =
  (separator: string) =>
  ({ link }: ScriptedCall): object => {
    const messages = Array.from({ length: FLOOD }, (_, n) => floodMessage(n));
    link.send([...messages, 'junk', '{"junk":', '{}'].join(separator));
    return text('flooded');
  };

/** None of them is a JSON-RPC message, for a different reason each. */
const MALFORMED = [
  'a line of a log',
  '{"jsonrpc":"2.0","method":',
  '{"jsonrpc":"1.0","method":"ping","id":1}',
  '{"jsonrpc":"2.0","id":12345}',
  '{"jsonrpc":"2.0","method":7}',
];

/** A tool that sends malformed messages on the shared stream before it responds. */
const sendMalformed = ({ link }: ScriptedCall): object => {
  for (const message of MALFORMED) link.send(message);
  return text('sent');
};

/** A tool that floods the stream of its own response. */
function floodResponse(call: ScriptedCall): object {
  for (let n = 0; n < FLOOD / 4; n++) call.notify('notifications/message', { level: 'info', data: n });
  return text('flooded');
}

describe('a hostile server', () => {
  let gateway: Gateway;
  let session: RawSession;
  const endless: Awaited<ReturnType<typeof startEndless>>[] = [];

  beforeAll(async () => {
    for (const part of ['event', 'error of the stream', 'error of a message'] as const)
      endless.push(await startEndless(part));
    const healthy = await ScriptedServer.start();
    healthy.tool('echo', () => text('healthy'));
    const [lines, events] = [await startSubscribableServer('x:1'), await startSubscribableServer('x:1')];
    const malformed = await ScriptedServer.start();
    malformed.tool('malformed', sendMalformed);
    lines.tool('flood', flood('\n'));
    events.tool('flood', flood('\n\ndata: ')).tool('flood_response', floodResponse);
    gateway = await startGateway({
      limits: { responseBytes: RESPONSE_BYTES },
      mcpServers: {
        healthy: healthy.http,
        stdio: lines.stdio(),
        http: events.http,
        sse: events.sse,
        'malformed-stdio': malformed.stdio(),
        'malformed-http': malformed.http,
        'malformed-sse': malformed.sse,
        'endless-event': endless[0]!.entry,
        'endless-stream-error': endless[1]!.entry,
        'endless-message-error': endless[2]!.entry,
      },
    });
    await gateway.listed({
      tools: ['healthy', 'stdio', 'http', 'sse', 'malformed-stdio', 'malformed-http', 'malformed-sse'],
      resources: ['stdio', 'http', 'sse'],
    });
    session = await RawSession.open(gateway.url);
  });

  it('over SSE is disconnected within limits.responseBytes when an event or the body of an error does not end', async () => {
    for (const { written } of endless) {
      await until('the gateway disconnects', () => written.length > 0);
      expect(Math.max(...written)).toBeLessThan(BUFFERED_BYTES);
    }
    const { result } = await within('the call', session.callTool('healthy__echo'));
    expect(result).toEqual(text('healthy'));
    const scrape = new Scrape((await exchange(gateway.urlOf('/metrics'))).text);
    const refused = scrape.value('gatehouse_refused_json_total', { source: 'server', reason: 'size' });
    expect(refused).toBeGreaterThan(0);
  });

  it.each(['stdio', 'http', 'sse'])('over %s is counted with each malformed message', async (kind) => {
    const server = `malformed-${kind}`;
    expect((await session.callTool(`${server}__malformed`)).result).toEqual(text('sent'));
    const counted = async (): Promise<number | undefined> => {
      const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
      return new Scrape(metrics).value('gatehouse_malformed_server_messages_total', { server_id: server });
    };
    await until('all are counted', async () => (await counted()) === MALFORMED.length);
  });

  const excessOf = async (server: string): Promise<number[]> => {
    const scrape = new Scrape((await exchange(gateway.urlOf('/metrics'))).text);
    return ['dropped', 'coalesced'].map(
      (outcome) =>
        scrape.value('gatehouse_excess_server_messages_total', { server_id: server, outcome }) ?? 0,
    );
  };

  it.each(['stdio', 'http', 'sse'])(
    'that floods its %s stream is limited to its rate, and answers; its last update arrives',
    async (server) => {
      const client = await SubscribedClient.of(gateway.url, `resource://${server}/x:1`);
      const from = gateway.logs.length;
      const call = session.callTool(`${server}__flood`);
      const { result } = await within('the healthy call', session.callTool('healthy__echo'));
      expect(result).toEqual(text('healthy'));
      expect((await within('the flooding call', call)).result).toEqual(text('flooded'));
      await until('the last update arrives', () => client.updates.some(({ n }) => n === FLOOD - 1));
      expect(client.updates.length).toBeLessThan(FLOOD / 10);
      const [dropped = 0, coalesced = 0] = await excessOf(server);
      expect(Math.min(dropped, coalesced)).toBeGreaterThan(FLOOD / 4);
      expect(dropped + coalesced).toBeLessThan(FLOOD);
      const message = 'the server sends more messages than its rate allows';
      await gateway.logged({ level: 'warn', server, message }, from);
      await gateway.logged(
        { level: 'warn', server, message: 'the server sent a message that was not processed' },
        from,
      );
      expect(gateway.logs.slice(from).filter((entry) => entry.level === 'warn').length).toBeLessThan(20);
    },
  );

  it('that floods the stream of its response is limited to its rate, and answers', async () => {
    const [before = 0] = await excessOf('http');
    const { result } = await within('the call', session.callTool('http__flood_response'));
    expect(result).toEqual(text('flooded'));
    const [dropped = 0] = await excessOf('http');
    expect(dropped - before).toBeGreaterThan(FLOOD / 10);
  });
});
