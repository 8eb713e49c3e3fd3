import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { descendantsOf, untilExited } from '../kit/processes.js';
import { RawSession, type Answer } from '../kit/raw-session.js';
import { everythingOverStdio, startEverything } from '../kit/real-servers.js';
import { ScriptedServer, ScriptedError, text } from '../kit/scripted-server/scripted-server.js';
import { until, within } from '../kit/until.js';

const UNAVAILABLE = (server: string, reason: unknown = expect.any(String)): object => ({
  code: -31003,
  message: expect.stringContaining(`SERVER_UNAVAILABLE: server ${server} is not available`),
  data: { code: 'SERVER_UNAVAILABLE', server, reason, retryAfterMs: expect.any(Number) },
});

/** Repeats one call until `stop` and keeps every answer. */
class RepeatedCall {
  readonly answers: Answer[] = [];
  private isOn = true;
  private readonly running: Promise<void>;

  constructor(session: RawSession, tool: string, args: object) {
    this.running = this.run(session, tool, args);
  }

  get failures(): Answer[] {
    return this.answers.filter(({ result }) => result === undefined);
  }

  async stop(): Promise<void> {
    this.isOn = false;
    await this.running;
  }

  private async run(session: RawSession, tool: string, args: object): Promise<void> {
    while (this.isOn) this.answers.push(await session.callTool(tool, args));
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** SERVER_UNAVAILABLE is the only error that a call may get while its server is down. */
function expectResultOrUnavailable({ result, error }: Answer, server: string, expected: object): void {
  expect(error ?? result).toEqual(error ? UNAVAILABLE(server) : expected);
}

describe('a crashed server', () => {
  describe('killed with SIGKILL under load', () => {
    let gateway: Gateway;
    let other: ScriptedServer;

    beforeAll(async () => {
      other = await ScriptedServer.start();
      other.tool('echo', (call) => text(String(call.args['message'])));
      gateway = await startGateway({
        mcpServers: {
          victim: everythingOverStdio(),
          stdio: other.stdio(),
          http: other.http,
        },
      });
      await gateway.listed({ tools: ['victim', 'stdio', 'http'] });
    });

    /** The process id of the victim, from the process table. */
    const pidOfVictim = (): number | undefined =>
      descendantsOf(gateway.pid).find((pid) => commandOf(pid).includes('server-everything'));

    it('fails its calls at once with -31003, affects no other server, and is restarted', async () => {
      const sessions = await Promise.all(Array.from({ length: 6 }, () => RawSession.open(gateway.url)));
      const [one, two] = sessions as [RawSession, RawSession];
      const bystanders = sessions.flatMap((session) =>
        ['stdio__echo', 'http__echo'].map(
          (tool) => new RepeatedCall(session, tool, { message: 'still here' }),
        ),
      );
      const victims = [one, two].map(
        (session) => new RepeatedCall(session, 'victim__echo', { message: 'x' }),
      );
      const long = { duration: 60, steps: 60 };
      const inFlight = Array.from({ length: 3 }, () =>
        one.callTool('victim__trigger-long-running-operation', long),
      );
      await until('all calls succeed', () =>
        [...bystanders, ...victims].every(({ answers }) => answers.length > 5),
      );
      const before = await one.list('tools');

      const pid = pidOfVictim()!;
      process.kill(pid, 'SIGKILL');
      const lost = await within('the calls in flight to fail', Promise.all(inFlight));
      for (const { error } of lost) expect(error).toEqual(UNAVAILABLE('victim', 'crashed'));
      // Its last listing stays in the catalog while it is down.
      expect(await one.list('tools')).toEqual(before);

      const isBack = (): boolean => victims.every(({ answers }) => answers.at(-1)?.result !== undefined);
      await until('calls to the victim failed', () => victims.every(({ failures }) => failures.length > 0));
      await until('the victim answers again', isBack);
      expect(pidOfVictim()).not.toBe(pid);
      const marks = bystanders.map(({ answers }) => answers.length + 3);
      await until('calls to the other servers continue', () =>
        bystanders.every(({ answers }, index) => answers.length > marks[index]!),
      );
      await Promise.all([...bystanders, ...victims].map((load) => load.stop()));

      expect(bystanders.flatMap(({ failures }) => failures)).toEqual([]);
      for (const { failures } of victims)
        for (const { error } of failures) expect(error).toEqual(UNAVAILABLE('victim', 'crashed'));
      await untilExited([pid]);
    });

    it('is logged: its exit with the reason, its restart and the failed calls', async () => {
      const lost = await gateway.logged({ level: 'warn', server: 'victim', message: 'server is retrying' });
      expect(lost['reason']).toBe('killed by SIGKILL');
      const countReady = (): number =>
        gateway.logs.filter(({ message, server }) => message === 'server is ready' && server === 'victim')
          .length;
      await until('both starts are logged', () => countReady() >= 2);
      expect(countReady()).toBe(2);
      const failed = await gateway.logged({ kind: 'server-unavailable', method: 'tools/call' });
      expect(failed).toMatchObject({
        level: 'warn',
        code: -31003,
        reason: expect.stringContaining('victim'),
      });
    });
  });

  describe('that fails to restart', () => {
    it('stays listed, and its calls fail at once with -31003', async () => {
      const scripted = await ScriptedServer.start();
      scripted.tool('echo', () => text('echo'));
      const gateway = await startGateway({ mcpServers: { gone: scripted.stdio() } });
      await gateway.listed({ tools: ['gone'] });
      const session = await RawSession.open(gateway.url);
      scripted.on('initialize', () => {
        throw new ScriptedError('{"code":-32603,"message":"out of order"}');
      });
      process.kill(scripted.link.pid!, 'SIGKILL');
      await gateway.logged({ server: 'gone', message: 'server is retrying' });
      const began = performance.now();
      const { error } = await session.callTool('gone__echo');
      expect(error).toEqual(UNAVAILABLE('gone', 'crashed'));
      expect(performance.now() - began).toBeLessThan(5000);
      expect((await session.list('tools')).map(({ name }) => name)).toEqual(['gone__echo']);
    });
  });
});

describe('a restarted HTTP server', () => {
  /** One server per test, because five losses within a minute lead to the crash-loop state. */
  const NAMES = ['single', 'many', 'idle', 'down', 'changed', 'refusing'] as const;
  let scriptedServers: Record<(typeof NAMES)[number], ScriptedServer>;
  let session: RawSession;

  beforeAll(async () => {
    const started = NAMES.map(async (name) => [name, await ScriptedServer.start()] as const);
    scriptedServers = Object.fromEntries(await Promise.all(started)) as typeof scriptedServers;
    for (const scripted of Object.values(scriptedServers))
      scripted.tool('echo', (call) => text(String(call.args['message'])));
    const gateway = await startGateway({
      mcpServers: Object.fromEntries(
        NAMES.map((name) => [name, { ...scriptedServers[name].http, concurrency: 50 }]),
      ),
    });
    await gateway.listed({ tools: NAMES });
    session = await RawSession.open(gateway.url);
  });

  const echo = (server: string, message: string): Promise<Answer> =>
    session.callTool(`${server}__echo`, { message });

  /** Repeats a call until it succeeds; the only error until then is SERVER_UNAVAILABLE. */
  async function untilEcho(server: string, message: string): Promise<void> {
    await until(`${server} answers`, async () => {
      const answer = await echo(server, message);
      expectResultOrUnavailable(answer, server, text(message));
      return answer.result !== undefined;
    });
  }

  it('whose session expired is initialised once, and the call that got HTTP 404 is repeated', async () => {
    const { single } = scriptedServers;
    single.httpEndpoint.expireSessions();
    expect((await echo('single', 'repeated')).result).toEqual(text('repeated'));
    expect(single.countOf('initialize')).toBe(2);
    expect(single.messages('tools/call').map(({ message }) => message.params)).toEqual([
      { name: 'echo', arguments: { message: 'repeated' } },
    ]);
  });

  it('is initialised once when 30 concurrent calls get HTTP 404, each ends with its result or -31003', async () => {
    const { many } = scriptedServers;
    many.httpEndpoint.expireSessions();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => echo('many', `${index}`)));
    answers.forEach((answer, index) => expectResultOrUnavailable(answer, 'many', text(`${index}`)));
    await untilEcho('many', 'after');
    expect(many.countOf('initialize')).toBe(2);
    expect(many.countOf('notifications/initialized')).toBe(2);
  });

  it('whose session expired without calls is initialised again by its notification stream', async () => {
    const { idle } = scriptedServers;
    idle.httpEndpoint.expireSessions();
    await until('the gateway initialises again', () => idle.countOf('initialize') === 2);
    await untilEcho('idle', 'after');
    expect(idle.countOf('initialize')).toBe(2);
  });

  it('fails calls with -31003 while it is down and answers again once it is up', async () => {
    const { down } = scriptedServers;
    await down.goDown();
    expect((await echo('down', 'while down')).error).toEqual(UNAVAILABLE('down'));
    await down.goUp();
    await untilEcho('down', 'up again');
    expect(down.countOf('initialize')).toBe(2);
  });

  it('is listed again: its new tools replace the old ones', async () => {
    const { changed } = scriptedServers;
    await changed.goDown();
    changed.withoutTool('echo').tool('other', () => text('other'));
    await changed.goUp();
    const names = async (): Promise<string[]> => (await session.list('tools')).map(({ name }) => name);
    await until('the new tool is listed', async () => (await names()).includes('changed__other'));
    expect(await names()).not.toContain('changed__echo');
    expect((await session.callTool('changed__other')).result).toEqual(text('other'));
  });

  it.each([500, 502, 503, 429])('fails only the call that it answers with HTTP %d', async (status) => {
    const { refusing } = scriptedServers;
    refusing.httpEndpoint.nextPostStatuses.push(status);
    expect((await echo('refusing', 'refused')).error).toEqual(UNAVAILABLE('refusing'));
    expect((await echo('refusing', 'accepted')).result).toEqual(text('accepted'));
    expect(refusing.countOf('initialize')).toBe(1);
  });

  it.each(['streamableHttp', 'sse'] as const)(
    'answers again as a real server, also without calls during the restart (%s)',
    async (transport) => {
      const first = await startEverything(transport);
      const type = transport === 'sse' ? { type: 'sse' } : {};
      const own = await startGateway({ mcpServers: { real: { url: first.url, ...type } } });
      await own.listed({ tools: ['real'] });
      const client = await RawSession.open(own.url);
      expect((await client.callTool('real__echo', { message: '1' })).result).toEqual(text('Echo: 1'));
      await first.kill();
      await startEverything(transport, Number(new URL(first.url).port));
      await until('the server answers again', async () => {
        const answer = await client.callTool('real__echo', { message: '2' });
        expectResultOrUnavailable(answer, 'real', text('Echo: 2'));
        return answer.result !== undefined;
      });
    },
  );

  it('fails a call in flight at once with -31003 when its SSE stream breaks', async () => {
    const server = await startEverything('sse');
    const own = await startGateway({ mcpServers: { real: { url: server.url, type: 'sse' } } });
    await own.listed({ tools: ['real'] });
    const client = await RawSession.open(own.url);
    const params = { name: 'real__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } };
    const stream = await client.stream('tools/call', { ...params, _meta: { progressToken: 1 } }, 'long');
    await stream.message('progress', ({ method }) => method === 'notifications/progress');
    await server.kill();
    const answer = await stream.message('the answer', ({ id }) => id === 'long');
    expect(answer.error).toEqual(UNAVAILABLE('real'));
  });
});
