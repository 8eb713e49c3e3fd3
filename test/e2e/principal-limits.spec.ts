import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, type Answer } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until, within, type Deferred } from '../kit/until.js';

/** Of the slots of the raised concurrency, one principal may take all but a sixteenth. */
const [RAISED, RAISED_CONCURRENCY] = [80, 85];
const LIMITS = {
  sessions: 30,
  sessionsPerPrincipal: 28,
  streamsPerPrincipal: 2,
  callsPerPrincipal: 81,
  queuedPerPrincipal: 15,
  processesPerPrincipal: 2,
};

const key = (id: string): object => ({ id, hash: `sha256:${hash('sha256', id)}`, projects: ['*'] });

const endAll = async (sessions: readonly RawSession[]): Promise<void> => {
  await Promise.all(sessions.map((session) => session.end()));
};

describe('the limits of one key', () => {
  let server: ScriptedServer;
  let gateway: Gateway;
  let admin: AdminClient;
  /** Calls that have reached the server and wait for the test. */
  const held: Deferred<void>[] = [];
  let releasesAtOnce = false;

  const open = (id: string): Promise<RawSession> =>
    RawSession.open(gateway.url, { headers: { authorization: `Bearer ${id}` } });
  const openMany = (count: number, id: string): Promise<RawSession[]> =>
    Promise.all(Array.from({ length: count }, () => open(id)));
  const refusals = async (limit: string): Promise<number> => {
    const line = `gatehouse_limit_refusals_total{limit="${limit}"} `;
    const { text: metrics } = await admin.get('/metrics');
    return Number(
      metrics
        .split('\n')
        .find((one) => one.startsWith(line))!
        .slice(line.length),
    );
  };

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('hold', async (call) => {
      const end = deferred();
      if (releasesAtOnce) end.resolve();
      else held.push(end);
      await Promise.race([end.promise, call.ended]);
      return text('held');
    });
    server.tool('echo', () => text('echo'));
    gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      auth: { apiKeys: [key('a'), key('b')] },
      limits: LIMITS,
      mcpServers: {
        small: { ...server.http, concurrency: 4, queue: 12 },
        raised: { ...server.http, concurrency: 1, queue: 100 },
        own: { ...server.stdio(), isolation: 'session' },
      },
    });
    admin = new AdminClient(gateway);
    await gateway.listed({ tools: ['small', 'raised', 'own'] }, { authorization: 'Bearer a' });
  });

  /** Ends the calls at the server until the promise settles. */
  async function releaseUntil<T>(done: Promise<T>): Promise<T> {
    releasesAtOnce = true;
    for (const end of held.splice(0)) end.resolve();
    return within('all calls to end', done).finally(() => (releasesAtOnce = false));
  }

  it('leave another key its calls while one key floods a server over many sessions', async () => {
    const flooding = await openMany(10, 'a');
    const flood = flooding.flatMap((session) =>
      Array.from({ length: 3 }, () => session.callTool('small__hold')),
    );
    await until('the flood holds its slots', () => held.length === 3);
    // None of the held calls ends, and the other key has not called the server before: one slot is free for it.
    const modest = await open('b');
    const answers: Answer[] = [];
    for (let n = 0; n < 20; n++) answers.push(await modest.callTool('small__echo'));
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(20);
    const ended = await releaseUntil(Promise.all(flood));
    const refused = ended.filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThanOrEqual(15);
    expect(refused[0]!.error).toMatchObject({
      code: -31029,
      data: { code: 'Overloaded', server: 'small', limit: 12, retryAfterMs: expect.any(Number) },
    });
    expect(await refusals('queue')).toBe(refused.length);
    await endAll([...flooding, modest]);
  });

  it('do not lock another key out of initialize', async () => {
    const many = await openMany(28, 'a');
    await expect(open('a')).rejects.toThrow('this principal already has 28 open sessions');
    const few = await openMany(6, 'b');
    expect((await few[0]!.request('ping')).result).toEqual({});
    const pings = await Promise.all(
      many.map((session) => session.post({ jsonrpc: '2.0', id: 1, method: 'ping' })),
    );
    expect(pings.filter(({ status }) => status === 404)).toHaveLength(4);
    expect((await admin.get('/metrics')).text).toContain('\ngatehouse_sessions_evicted_total 4\n');
    expect(await refusals('sessionsPerPrincipal')).toBe(1);
    await endAll([...many, ...few]);
  });

  it('limit the processes of servers with a link per session', async () => {
    const sessions = await openMany(3, 'a');
    const answers = [];
    for (const session of sessions) answers.push(await session.callTool('own__echo'));
    expect(answers.map(({ error }) => error?.data)).toEqual([
      undefined,
      undefined,
      { code: 'LimitExceeded', limit: 2 },
    ]);
    expect(await refusals('processesPerPrincipal')).toBe(1);
    const other = await open('b');
    expect((await other.callTool('own__echo')).result).toEqual(text('echo'));
    await sessions[0]!.end();
    await until('a process has ended', async () => !(await sessions[2]!.callTool('own__echo')).error);
    await endAll([...sessions, other]);
  });

  it('limit the calls that wait for one server', async () => {
    const sessions = await openMany(2, 'a');
    const calls = Array.from({ length: 18 }, (_, n) => sessions[n % 2]!.callTool('raised__hold'));
    await until('two are refused', async () => (await refusals('queuedPerPrincipal')) === 2);
    const ended = await releaseUntil(Promise.all(calls));
    const refused = ended.flatMap(({ error }) => (error ? [error.data] : []));
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ code: 'LimitExceeded', server: 'raised', limit: 15 });
    await endAll(sessions);
  });

  it('let a raised concurrency take effect on the open link, with true numbers in the admin API', async () => {
    const session = await open('a');
    const first = session.callTool('raised__hold');
    await until('the first call is at the server', () => held.length === 1);
    await admin.patch('/admin/v1/servers/raised', { concurrency: RAISED_CONCURRENCY });
    const others = Array.from({ length: RAISED - 1 }, () => session.callTool('raised__hold'));
    await until(`${RAISED} calls are at the server`, () => held.length === RAISED);
    expect((await admin.get('/admin/v1/servers/raised')).json).toMatchObject({ inFlight: RAISED });
    // With these, the principal has the maximum of calls at all servers together.
    const last = session.callTool('small__hold');
    await until('the last call is at the server', () => held.length === RAISED + 1);
    expect((await session.callTool('small__echo')).error?.data).toEqual({ code: 'LimitExceeded', limit: 81 });
    expect(await refusals('callsPerPrincipal')).toBe(1);
    await releaseUntil(Promise.all([first, ...others, last]));
    await session.end();
  });
});
