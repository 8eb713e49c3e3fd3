import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';
import { exchange, type RawResponse } from '../../test/kit/http.js';
import { outcomeOf } from '../../test/kit/promises.js';
import { postMessage, RawSession } from '../../test/kit/raw-session.js';
import { deferred, until } from '../../test/kit/until.js';

const PING = { jsonrpc: '2.0', id: 'p', method: 'ping' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'i',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

let edge: EdgeHarness;
beforeEach(async () => {
  Logger.overrideLogger(false);
  edge = new EdgeHarness();
  await edge.listen();
  onCleanup(() => edge.close());
});

describe('McpEndpoint after its sessions were suspended', () => {
  it('still serves every kind of request, and ends new streams at once', async () => {
    const session = await RawSession.open(edge.url, { protocolVersion: '2025-03-26' });
    edge.sessions.suspendAll();
    const listening = { accept: 'text/event-stream', 'mcp-session-id': session.id };
    const responses = [
      await session.post(PING),
      await session.post([PING]),
      await session.notify('notifications/cancelled', {}),
      await postMessage(edge.url, INITIALIZE),
      await exchange(edge.url, { headers: listening }),
      await session.end(),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 202, 200, 200, 200]);
  });
});

describe('McpEndpoint with session records on a slow disk', () => {
  it.each<[string, (session: RawSession) => Promise<RawResponse>]>([
    ['initialize', () => postMessage(edge.url, INITIALIZE)],
    ['DELETE', (session) => session.end()],
  ])('answers %s when the records are written', async (_which, send) => {
    const session = await RawSession.open(edge.url);
    const other = await RawSession.open(edge.url);
    const written = deferred();
    let waiting = 0;
    edge.sessions.waitUntilPersisted = () => {
      waiting++;
      return written.promise;
    };
    const outcome = outcomeOf(send(session));
    await until('the request waits', () => waiting > 0);
    await other.post(PING);
    expect(outcome).toEqual({});
    written.resolve();
    expect((await until('the answer', () => outcome.value)).status).toBe(200);
  });
});

/** The text of a standalone stream of a new session, whose sessions are suspended so that it ends. */
async function standaloneText(
  headers: Record<string, string>,
  protocolVersion = '2025-11-25',
): Promise<string> {
  const session = await RawSession.open(edge.url, { protocolVersion });
  edge.sessions.suspendAll();
  const listening = { accept: 'text/event-stream', 'mcp-session-id': session.id, ...headers };
  return (await exchange(edge.url, { headers: listening })).text;
}

describe('GET of the standalone stream', () => {
  it('begins with an event id and a delay of three to four seconds before a reconnect', async () => {
    expect(await standaloneText({})).toMatch(/^id: \d+\nretry: 3\d{3}\ndata: \n\n$/);
  });

  it('has no delay for the HTTP client of Java, whose SDK fails on the line', async () => {
    expect(await standaloneText({ 'user-agent': 'Java-http-client/17.0.13' })).toMatch(
      /^id: \d+\ndata: \n\n$/,
    );
  });

  it('begins without an event in revisions whose clients fail on an event without data', async () => {
    expect(await standaloneText({}, '2025-06-18')).toBe('');
  });
});
