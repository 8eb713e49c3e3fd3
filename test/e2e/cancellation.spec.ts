import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { connectV1, connectV2 } from '../kit/sdk-clients.js';
import { until } from '../kit/until.js';

/** Of the server that takes longer as a whole, but has far less time between two steps. */
const TIMEOUT_MS = 1000;
const STEPS = 10;

const CANCELLED = 'notifications/cancelled';

type Abortable = (name: string, signal: AbortSignal) => Promise<unknown>;

async function abortableOfV1(url: string): Promise<Abortable> {
  const client = await connectV1(url);
  return (name, signal) => client.callTool({ name }, undefined, { signal });
}

async function abortableOfV2(url: string): Promise<Abortable> {
  const client = await connectV2(url);
  return (name, signal) => client.callTool({ name }, { signal });
}

describe.each(['stdio', 'http'])('a cancelled call (%s)', (kind) => {
  let server: ScriptedServer;
  let gateway: Gateway;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server
      .tool('hang', (call) => {
        call.progress(1);
        return undefined;
      })
      .tool('slow', async (call) => {
        const steps = Number(call.args['steps'] ?? STEPS);
        for (let step = 1; step <= steps && !call.isCancelled; step++) {
          call.progress(step);
          await new Promise((resolve) => setTimeout(resolve, (1.2 * TIMEOUT_MS) / STEPS));
        }
        return text('done');
      })
      .tool('echo', () => text('echo'));
    const entry = kind === 'http' ? server.http : server.stdio();
    gateway = await startGateway({
      mcpServers: {
        patient: { ...entry, concurrency: 1 },
        hasty: { ...entry, timeoutMs: TIMEOUT_MS },
      },
    });
    await gateway.listed({ tools: ['patient', 'hasty'] });
  });

  /** The id that the server sees of the call made by `start`. */
  async function begin(start: () => unknown): Promise<unknown> {
    const before = server.countOf('tools/call');
    start();
    const { message } = await until(
      'the call reached the server',
      () => server.messages('tools/call')[before],
    );
    return message.id;
  }

  const isCancelled = (id: unknown): Promise<unknown> =>
    server.untilReceived(CANCELLED, ({ params }) => params?.['requestId'] === id);

  it('is cancelled at the server when its client cancels it, and its slot of the call gate is free', async () => {
    const session = await RawSession.open(gateway.url);
    const id = await begin(() => session.callTool('patient__hang', {}, 'mine').catch(() => {}));
    await session.notify(CANCELLED, { requestId: 'mine', reason: 'enough' });
    await isCancelled(id);
    expect((await session.callTool('patient__echo')).result).toEqual(text('echo'));
  });

  it.each([
    ['v1', abortableOfV1],
    ['v2', abortableOfV2],
  ])('is cancelled at the server when an SDK client aborts it (%s)', async (_sdk, connect) => {
    const call = await connect(gateway.url);
    const abort = new AbortController();
    let outcome: Promise<string> | undefined;
    const id = await begin(() => {
      outcome = call('patient__hang', abort.signal).then(
        () => 'answered',
        () => 'aborted',
      );
    });
    abort.abort();
    await isCancelled(id);
    expect(await outcome).toBe('aborted');
  });

  it('is cancelled at the server when its client ends the session', async () => {
    const session = await RawSession.open(gateway.url);
    const id = await begin(() => session.callTool('patient__hang').catch(() => {}));
    await session.end();
    expect(await isCancelled(id)).toBeDefined();
  });

  it('is not cancelled because the connection broke', async () => {
    const session = await RawSession.open(gateway.url);
    const params = { name: 'patient__slow', arguments: { steps: 3 }, _meta: { progressToken: 1 } };
    const stream = await session.stream('tools/call', params);
    await stream.message('progress', ({ method }) => method === 'notifications/progress');
    stream.disconnect();
    const resumed = await session.listen(stream.lastId);
    await resumed.untilEnded();
    expect(resumed.messages.at(-1)?.result).toEqual(text('done'));
  });

  it('never reaches the server when it is cancelled in the queue', async () => {
    const [one, two] = await Promise.all([RawSession.open(gateway.url), RawSession.open(gateway.url)]);
    const id = await begin(() => one.callTool('patient__hang', {}, 'holder').catch(() => {}));
    const waiting = two.callTool('patient__hang', { never: 'seen' }, 'waiting');
    // A later request is answered, so this one has arrived.
    await two.request('ping');
    await two.notify(CANCELLED, { requestId: 'waiting' });
    expect((await waiting).error?.code).toBe(-31099);
    await one.notify(CANCELLED, { requestId: 'holder' });
    await isCancelled(id);
    expect((await two.callTool('patient__echo')).result).toEqual(text('echo'));
    expect(server.messages('tools/call').some(({ text: seen }) => seen.includes('never'))).toBe(false);
  });

  it('fails with -31008 when the server takes too long, and is cancelled there', async () => {
    const session = await RawSession.open(gateway.url);
    const id = begin(() => {});
    const { error } = await session.callTool('hasty__hang');
    expect(error).toEqual({
      code: -31008,
      message: 'TIMEOUT: server hasty did not answer tools/call within 1000 ms',
      data: { code: 'TIMEOUT', server: 'hasty' },
    });
    await isCancelled(await id);
    await gateway.logged({ level: 'warn', kind: 'timeout', method: 'tools/call' });
  });

  it('may take longer than the timeout while it makes progress', async () => {
    const session = await RawSession.open(gateway.url);
    const params = { name: 'hasty__slow', _meta: { progressToken: 1 } };
    const { result, before } = await session.request('tools/call', params);
    expect(result).toEqual(text('done'));
    expect(before).toHaveLength(STEPS);
  });

  it('is ignored when its id is unknown', async () => {
    const session = await RawSession.open(gateway.url);
    for (const requestId of ['unknown', 1, null, { a: 1 }]) {
      expect((await session.notify(CANCELLED, { requestId })).status).toBe(202);
    }
    expect((await session.request('ping')).result).toEqual({});
  });
});
