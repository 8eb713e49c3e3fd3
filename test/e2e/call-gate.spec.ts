import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, type Answer } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until, within, type Deferred } from '../kit/until.js';

const KINDS = ['stdio', 'http'] as const;

const limited = (kind: string, entry: object): object => ({
  [`${kind}-three`]: { ...entry, concurrency: 3, queue: 4 },
  [`${kind}-one`]: { ...entry, concurrency: 1, queue: 100 },
  [`${kind}-short`]: { ...entry, concurrency: 1, queue: 0 },
});

let gateway: Gateway;
let servers: Record<(typeof KINDS)[number], ScriptedServer>;

beforeAll(async () => {
  const [stdio, http] = await Promise.all(KINDS.map(() => ScriptedServer.start()));
  servers = { stdio: stdio!, http: http! };
  for (const server of [stdio!, http!]) server.tool('work', () => text('replaced in each block'));
  const mcpServers = { ...limited('stdio', stdio!.stdio()), ...limited('http', http!.http) };
  gateway = await startGateway({ mcpServers });
  await gateway.listed({ tools: Object.keys(mcpServers) });
});

describe.each(KINDS)('the call gate of a server (%s)', (kind) => {
  let server: ScriptedServer;
  /** Calls that have reached the server, by their argument, with a function that ends each. */
  const reached: { who: string; end: Deferred<void> }[] = [];
  let endsAtOnce = false;

  beforeAll(() => {
    server = servers[kind];
    server.tool('work', async (call) => {
      const end = deferred();
      reached.push({ who: String(call.args['who']), end });
      if (endsAtOnce) end.resolve();
      await Promise.race([end.promise, call.ended]);
      return text(String(call.args['who']));
    });
  });

  /** Ends every call that arrives until the promise settles. */
  async function endAllUntil<T>(done: Promise<T>): Promise<T> {
    endsAtOnce = true;
    for (const { end } of reached) end.resolve();
    return within('all calls to end', done).finally(() => (endsAtOnce = false));
  }

  it('admits as many calls as concurrency, queues as many as queue, and refuses the rest at once', async () => {
    const session = await RawSession.open(gateway.url);
    const [from, most] = [reached.length, server.maxInFlight];
    const refused: Answer[] = [];
    const calls = Array.from({ length: 10 }, async (_, index) => {
      const answer = await session.callTool(`${kind}-three__work`, { who: `${index}` });
      if (answer.error) refused.push(answer);
      return answer;
    });
    await until('three are refused', () => refused.length === 3);
    expect(refused[0]?.error).toEqual({
      code: -31029,
      message: expect.stringContaining('Overloaded'),
      data: { code: 'Overloaded', server: `${kind}-three`, limit: 4, retryAfterMs: expect.any(Number) },
    });
    await until('three are in flight', () => reached.length - from === 3);
    const answers = await endAllUntil(Promise.all(calls));
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(7);
    expect(reached.length - from).toBe(7);
    expect(server.maxInFlight).toBe(Math.max(3, most));
    await gateway.logged({ level: 'warn', kind: 'overloaded' });
  });

  it('queues fairly: a busy client does not starve another', async () => {
    const busy = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
    const modest = await RawSession.open(gateway.url);
    const from = reached.length;
    // A batch is dispatched at once: when its first call is at the server, the others are queued.
    const batch = Array.from({ length: 20 }, (_, index) => ({
      jsonrpc: '2.0',
      id: index,
      method: 'tools/call',
      params: { name: `${kind}-one__work`, arguments: { who: `busy ${index}` } },
    }));
    const ofBusy = busy.post(batch);
    await until('the first is in flight', () => reached.length > from);
    const ofModest = modest.callTool(`${kind}-one__work`, { who: 'modest' });
    // A later request is answered, so this one has arrived.
    await modest.request('ping');
    for (let turn = 0; turn < 10; turn++) {
      await until('the next is in flight', () => reached[from + turn]);
      reached[from + turn]!.end.resolve();
    }
    const order = reached.slice(from).map(({ who }) => who);
    await endAllUntil(Promise.all([ofBusy, ofModest]));
    expect(order).toContain('modest');
    const answers = JSON.parse((await ofBusy).text) as Answer[];
    expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    expect((await ofModest).result).toEqual(text('modest'));
  });

  it('queues no call when queue is 0', async () => {
    const session = await RawSession.open(gateway.url);
    const from = reached.length;
    const first = session.callTool(`${kind}-short__work`, { who: 'first' });
    await until('the call is in flight', () => reached.length > from);
    const { error } = await session.callTool(`${kind}-short__work`, { who: 'second' });
    expect(error).toMatchObject({
      code: -31029,
      data: { code: 'Overloaded', server: `${kind}-short`, limit: 0 },
    });
    await endAllUntil(first);
    expect((await first).result).toEqual(text('first'));
  });

  it('refuses more calls in flight of one session than the limit', async () => {
    const session = await RawSession.open(gateway.url);
    const calls = Array.from({ length: 101 }, (_, index) =>
      session.callTool(`${kind}-one__work`, { who: `${index}` }),
    );
    const first = await Promise.race(calls);
    expect(first.error).toMatchObject({ code: -31029, data: { code: 'LimitExceeded', limit: 100 } });
    const answers = await endAllUntil(Promise.all(calls));
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(100);
  });
});
