import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { descendantsOf, untilGone } from '../kit/processes.js';
import { RawSession, type Answer } from '../kit/raw-session.js';
import { everythingOverStdio, startEverything } from '../kit/real-servers.js';
import { ScriptedBackend, ScriptedError, text } from '../kit/scripted-backend.js';
import { until, within } from '../kit/until.js';

const UNAVAILABLE = (server: string): object => ({
  code: -31003,
  message: expect.stringContaining(`SERVER_UNAVAILABLE: server ${server} is not available`),
  data: { code: 'SERVER_UNAVAILABLE', server },
});

/** Calls again and again until told to stop; keeps every answer. */
class Load {
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

describe('a server that dies', () => {
  describe('by kill -9, under load', () => {
    let gateway: Gateway;
    let others: ScriptedBackend;

    beforeAll(async () => {
      others = await ScriptedBackend.start();
      others.tool('echo', (call) => text(String(call.args['message'])));
      gateway = await startGateway({
        mcpServers: {
          victim: everythingOverStdio(),
          stdio: others.stdio(),
          http: others.http,
        },
      });
      await gateway.listed({ tools: ['victim', 'stdio', 'http'] });
    }, 30_000);

    /** The process of the victim, found as an operator would. */
    const pidOfVictim = (): number | undefined =>
      descendantsOf(gateway.pid).find((pid) => commandOf(pid).includes('server-everything'));

    const commandOf = (pid: number): string => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    };

    it('fails its calls at once with -31003, costs the others nothing, and comes back by itself', async () => {
      const sessions = await Promise.all(Array.from({ length: 6 }, () => RawSession.open(gateway.url)));
      const [one, two] = sessions as [RawSession, RawSession];
      const bystanders = sessions.flatMap((session) =>
        ['stdio__echo', 'http__echo'].map((tool) => new Load(session, tool, { message: 'still here' })),
      );
      const victims = [one, two].map((session) => new Load(session, 'victim__echo', { message: 'x' }));
      const long = { duration: 60, steps: 60 };
      const inFlight = Array.from({ length: 3 }, () =>
        one.callTool('victim__trigger-long-running-operation', long),
      );
      await until('all are working', () =>
        [...bystanders, ...victims].every(({ answers }) => answers.length > 5),
      );
      const before = await one.list('tools');

      const pid = pidOfVictim()!;
      process.kill(pid, 'SIGKILL');
      const lost = await within('the calls in flight to fail', Promise.all(inFlight), 3000);
      for (const { error } of lost) expect(error).toEqual(UNAVAILABLE('victim'));
      // Known from its last good listing, it stays in the lists meanwhile.
      expect(await one.list('tools')).toEqual(before);

      const isBack = (): boolean => victims.every(({ answers }) => answers.at(-1)?.result !== undefined);
      await until('it failed', () => victims.every(({ failures }) => failures.length > 0));
      await until('it is back', isBack);
      expect(pidOfVictim()).not.toBe(pid);
      const marks = bystanders.map(({ answers }) => answers.length + 3);
      await until('the others go on', () =>
        bystanders.every(({ answers }, index) => answers.length > marks[index]!),
      );
      await Promise.all([...bystanders, ...victims].map((load) => load.stop()));

      expect(bystanders.flatMap(({ failures }) => failures)).toEqual([]);
      for (const { failures } of victims)
        for (const { error } of failures) expect(error).toEqual(UNAVAILABLE('victim'));
      await untilGone([pid]);
    });

    it('is in the log: its end with the reason, its return, and the calls it cost', async () => {
      const lost = await gateway.logged({ level: 'warn', server: 'victim', message: 'server is retrying' });
      expect(lost['reason']).toMatch(/killed by SIGKILL|closed its std/);
      const ready = gateway.logs.filter(
        ({ message, server }) => message === 'server is ready' && server === 'victim',
      );
      expect(ready).toHaveLength(2);
      const failed = await gateway.logged({ kind: 'server-unavailable', method: 'tools/call' });
      expect(failed).toMatchObject({
        level: 'warn',
        code: -31003,
        reason: expect.stringContaining('victim'),
      });
    });
  });

  describe('and does not come back', () => {
    it('stays listed, and its calls fail at once with -31003', async () => {
      const backend = await ScriptedBackend.start();
      backend.tool('echo', () => text('echo'));
      const gateway = await startGateway({ mcpServers: { gone: backend.stdio() } });
      await gateway.listed({ tools: ['gone'] });
      const session = await RawSession.open(gateway.url);
      backend.on('initialize', () => {
        throw new ScriptedError('{"code":-32603,"message":"out of order"}');
      });
      process.kill(backend.link.pid!, 'SIGKILL');
      await gateway.logged({ server: 'gone', message: 'server is retrying' });
      const began = performance.now();
      const { error } = await session.callTool('gone__echo');
      expect(error).toEqual(UNAVAILABLE('gone'));
      expect(performance.now() - began).toBeLessThan(1000);
      expect((await session.list('tools')).map(({ name }) => name)).toEqual(['gone__echo']);
    });
  });
});

describe('an HTTP server that is restarted', () => {
  let backend: ScriptedBackend;
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    backend = await ScriptedBackend.start();
    backend.tool('echo', (call) => text(String(call.args['message'])));
    gateway = await startGateway({ mcpServers: { s: { ...backend.http, concurrency: 50 } } });
    await gateway.listed({ tools: ['s'] });
    session = await RawSession.open(gateway.url);
  }, 30_000);

  const echo = (message: string): Promise<Answer> => session.callTool('s__echo', { message });

  it('and has forgotten the session is greeted once, and the call that found out is made again', async () => {
    const before = backend.countOf('initialize');
    backend.front.forgetSessions();
    expect((await echo('first')).result).toEqual(text('first'));
    expect(backend.countOf('initialize')).toBe(before + 1);
    expect(backend.messages('tools/call').filter(({ text: sent }) => sent.includes('first'))).toHaveLength(1);
  });

  it('is greeted once, however many calls find out; none gets anything but its result or -31003', async () => {
    const before = backend.countOf('initialize');
    backend.front.forgetSessions();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => echo(`${index}`)));
    answers.forEach(({ result, error }, index) => {
      if (error) expect(error).toEqual(UNAVAILABLE('s'));
      else expect(result).toEqual(text(`${index}`));
    });
    expect((await echo('after')).result).toEqual(text('after'));
    expect(backend.countOf('initialize')).toBe(before + 1);
    expect(backend.countOf('notifications/initialized')).toBe(backend.countOf('initialize'));
  });

  it('and forgets while nothing is asked is found out by the standing stream', async () => {
    const before = backend.countOf('initialize');
    backend.front.forgetSessions();
    await until('it is greeted again', () => backend.countOf('initialize') > before);
    expect((await echo('after')).result).toEqual(text('after'));
    expect(backend.countOf('initialize')).toBe(before + 1);
  });

  it('fails calls with -31003 while it is down, and works again when it is up', async () => {
    await backend.closePort();
    const { error } = await echo('down');
    expect(error).toEqual(UNAVAILABLE('s'));
    const before = backend.countOf('initialize');
    await backend.openPort();
    await until('it works again', async () => (await echo('up')).result !== undefined);
    expect(backend.countOf('initialize')).toBe(before + 1);
  });

  it('is listed anew: what it offers now replaces what it offered before', async () => {
    await backend.closePort();
    backend.withoutTool('echo').tool('other', () => text('other'));
    await backend.openPort();
    await session.namesUntil('tools', ['s__other']);
    expect((await session.callTool('s__other')).result).toEqual(text('other'));
  });

  it.each(['streamableHttp', 'sse'] as const)(
    'is found again where it is a real one, also when nobody called it meanwhile (%s)',
    async (transport) => {
      const first = await startEverything(transport);
      const type = transport === 'sse' ? { type: 'sse' } : {};
      const own = await startGateway({ mcpServers: { real: { url: first.url, ...type } } });
      await own.listed({ tools: ['real'] });
      const client = await RawSession.open(own.url);
      expect((await client.callTool('real__echo', { message: '1' })).result).toEqual(text('Echo: 1'));
      await first.kill();
      await startEverything(transport, Number(new URL(first.url).port));
      let last: Answer | undefined;
      await until('it answers again', async () => {
        last = await client.callTool('real__echo', { message: '2' });
        if (last.error) expect(last.error).toEqual(UNAVAILABLE('real'));
        return last.result !== undefined;
      });
      expect(last?.result).toEqual(text('Echo: 2'));
    },
  );
});
