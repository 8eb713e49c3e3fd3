import type { RequestListener, ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { writeEndlessly } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { serve } from '../kit/serve.js';
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

describe('a hostile server', () => {
  let gateway: Gateway;
  let session: RawSession;
  const endless: Awaited<ReturnType<typeof startEndless>>[] = [];

  beforeAll(async () => {
    for (const part of ['event', 'error of the stream', 'error of a message'] as const)
      endless.push(await startEndless(part));
    const healthy = await ScriptedServer.start();
    healthy.tool('echo', () => text('healthy'));
    gateway = await startGateway({
      limits: { responseBytes: RESPONSE_BYTES },
      mcpServers: {
        healthy: healthy.http,
        'endless-event': endless[0]!.entry,
        'endless-stream-error': endless[1]!.entry,
        'endless-message-error': endless[2]!.entry,
      },
    });
    await gateway.listed({ tools: ['healthy'] });
    session = await RawSession.open(gateway.url);
  }, 30_000);

  it('over SSE is disconnected within limits.responseBytes when an event or the body of an error does not end', async () => {
    for (const { written } of endless) {
      await until('the gateway disconnects', () => written.length > 0);
      expect(Math.max(...written)).toBeLessThan(BUFFERED_BYTES);
    }
    const { result } = await within('the call', session.callTool('healthy__echo'));
    expect(result).toEqual(text('healthy'));
  });
});
