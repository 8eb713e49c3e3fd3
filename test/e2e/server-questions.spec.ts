import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { isAlive, untilGone } from '../kit/processes.js';
import { RawSession, textIn, type Answer } from '../kit/raw-session.js';
import { ScriptedBackend, text } from '../kit/scripted-backend.js';
import type { ScriptedCall } from '../kit/scripted-call.js';
import { deferred, until } from '../kit/until.js';

const ALL = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

/** What the client answered, or the error it was answered with. */
const outcome = ({ result, error }: Message): object => text(JSON.stringify(result ?? error));

const said = (answer: Answer): Record<string, unknown> =>
  JSON.parse(textIn(answer) ?? 'null') as Record<string, unknown>;

const questionOf = ({ args }: ScriptedCall): object => ({ ...(args['params'] as object) });

const ask = (server: string, method: string, from: string): [string, object] => [
  `${server}__ask`,
  { method, params: { from } },
];

const pidOf = async (client: RawSession): Promise<number> =>
  Number(said(await client.callTool('session__whoami'))['pid']);

describe('what a server asks', () => {
  let backend: ScriptedBackend;
  let gateway: Gateway;
  /** Calls of `wait` last until a test says so. */
  let waiting = deferred();

  beforeAll(async () => {
    backend = await ScriptedBackend.start();
    backend
      .tool('ask', async (call) => outcome(await call.ask(String(call.args['method']), questionOf(call))))
      .tool('wait', async (call) => {
        await Promise.race([waiting.promise, call.over]);
        return text(`pid ${call.link.pid}`);
      })
      .tool('whoami', (call) => text(JSON.stringify({ pid: call.link.pid })));
    gateway = await startGateway({
      mcpServers: {
        http: backend.http,
        shared: { ...backend.stdio(), tools: { exclusive: [] } },
        'exclusive-tool': { ...backend.stdio(), tools: { exclusive: ['ask'] } },
        exclusive: { ...backend.stdio(), isolation: 'exclusive' },
        sse: { ...backend.sse, isolation: 'exclusive' },
        session: { ...backend.stdio(), isolation: 'session' },
      },
    });
    await gateway.listed({ tools: ['http', 'sse', 'shared', 'exclusive-tool', 'exclusive', 'session'] });
  }, 30_000);

  /** A client that answers every question with its own name. */
  async function named(name: string, capabilities: object = ALL): Promise<RawSession> {
    const session = await RawSession.open(gateway.url, { capabilities });
    session.onQuestion = ({ params }) => ({ answeredBy: name, to: params?.['from'] });
    return session;
  }

  async function rooted(uri: string): Promise<RawSession> {
    const client = await named(uri);
    client.onQuestion = () => ({ roots: [{ uri }] });
    return client;
  }

  describe.each(['http', 'sse', 'exclusive-tool', 'exclusive', 'session'])(
    'in a call at the server "%s"',
    (server) => {
      it.each(['sampling/createMessage', 'elicitation/create'])(
        'reaches the client whose call caused it and nobody else, with many at once (%s)',
        async (method) => {
          const names = Array.from({ length: 8 }, (_, index) => `client ${index}`);
          const clients = await Promise.all(names.map((name) => named(name)));
          const bystander = await named('bystander');
          const standing = await bystander.listen();
          const answers = await Promise.all(
            clients.flatMap((client, index) => [
              client.callTool(...ask(server, method, `${names[index]} first`)),
              client.callTool(...ask(server, method, `${names[index]} second`)),
            ]),
          );
          const expected = names.flatMap((name) => [
            { answeredBy: name, to: `${name} first` },
            { answeredBy: name, to: `${name} second` },
          ]);
          expect(answers.map(said)).toEqual(expected);
          expect(clients.map(({ asked }) => asked.length)).toEqual(names.map(() => 2));
          expect(bystander.asked).toEqual([]);
          expect(standing.messages).toEqual([]);
        },
      );

      it('is refused when the client never said that it can be asked', async () => {
        const client = await named('mute', {});
        const answer = await client.callTool(...ask(server, 'sampling/createMessage', 'nobody'));
        expect(said(answer)).toMatchObject({ code: -32601 });
        expect(client.asked).toEqual([]);
      });
    },
  );

  it('goes to nobody when calls of several clients are in flight on a shared link that cannot tell', async () => {
    waiting = deferred();
    const [one, two] = await Promise.all([named('one'), named('two')]);
    const before = backend.inFlight;
    const pending = one.callTool('shared__wait');
    await until('the first call is in flight', () => backend.inFlight > before);
    const answer = await two.callTool(...ask('shared', 'sampling/createMessage', 'two'));
    expect(said(answer)).toMatchObject({ code: -32603, message: expect.stringContaining('isolation') });
    expect([one.asked, two.asked]).toEqual([[], []]);
    waiting.resolve();
    await pending;
  });

  it('reaches the client on a shared link while all calls in flight are its own', async () => {
    waiting = deferred();
    const one = await named('one');
    const before = backend.inFlight;
    const pending = one.callTool('shared__wait');
    await until('the first call is in flight', () => backend.inFlight > before);
    const answer = await one.callTool(...ask('shared', 'sampling/createMessage', 'one'));
    expect(said(answer)).toEqual({ answeredBy: 'one', to: 'one' });
    waiting.resolve();
    await pending;
  });

  it('is withdrawn when the call behind it is cancelled', async () => {
    const client = await named('slow');
    client.onQuestion = () => undefined;
    const [name, args] = ask('http', 'sampling/createMessage', 'slow');
    const stream = await client.stream('tools/call', { name, arguments: args }, 'the call');
    const question = await stream.message(
      'the question',
      ({ method }) => method === 'sampling/createMessage',
    );
    await client.notify('notifications/cancelled', { requestId: 'the call' });
    const withdrawal = await stream.message(
      'the end of it',
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(withdrawal.params).toMatchObject({ requestId: question.id });
  });

  it('brings back the error of a client that declines, as the client wrote it', async () => {
    const client = await named('unwilling');
    client.onQuestion = ({ id }) => {
      void client.post({
        jsonrpc: '2.0',
        id,
        error: { code: -1, message: 'User rejected', data: { by: 'me' } },
      });
      return undefined;
    };
    const answer = await client.callTool(...ask('http', 'sampling/createMessage', 'me'));
    expect(said(answer)).toEqual({ code: -1, message: 'User rejected', data: { by: 'me' } });
  });

  it('names resources as the client knows them', async () => {
    const client = await RawSession.open(gateway.url, { capabilities: ALL });
    client.onQuestion = ({ params }) => ({ heard: params?.['messages'] });
    const link = { type: 'resource_link', uri: 'made:1', name: 'made' };
    const messages = [{ role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [link] }] }];
    const args = { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } };
    const { heard } = said(await client.callTool('http__ask', args));
    expect(JSON.stringify(heard)).toContain('"uri":"resource://http/made:1"');
  });

  it('carries progress on the answer back to the server, under the token the server gave', async () => {
    const client = await named('busy');
    client.onQuestion = async ({ params = {} }) => {
      const { progressToken } = params['_meta'] as { progressToken: unknown };
      expect(progressToken).not.toBe('of the server');
      await client.notify('notifications/progress', { progressToken, progress: 1, message: 'thinking' });
      return { done: true };
    };
    const params = { _meta: { progressToken: 'of the server' } };
    const answer = await client.callTool('http__ask', { method: 'sampling/createMessage', params });
    expect(said(answer)).toEqual({ done: true });
    const progress = await backend.heard('notifications/progress');
    expect(progress.message.params).toEqual({
      progressToken: 'of the server',
      progress: 1,
      message: 'thinking',
    });
  });

  it('is answered by the gateway itself where it is a ping, and refused where nobody knows it', async () => {
    const link = backend.links.find(({ isOpen }) => isOpen)!;
    expect((await link.ask('ping', {})).result).toEqual({});
    expect((await link.ask('nope', {})).error?.code).toBe(-32601);
  });

  describe('with isolation: session', () => {
    it('gives every client a process of its own, and keeps it for the next call', async () => {
      const [one, two] = await Promise.all([named('one'), named('two')]);
      const [pidOfOne, pidOfTwo] = await Promise.all([pidOf(one), pidOf(two)]);
      expect(pidOfOne).not.toBe(pidOfTwo);
      expect(await pidOf(one)).toBe(pidOfOne);
    });

    it('ends the process when its client goes', async () => {
      const client = await named('passer-by');
      const pid = await pidOf(client);
      expect(isAlive(pid)).toBe(true);
      await client.end();
      await untilGone([pid]);
    });

    it('lets the server ask each client for its roots, also after its call', async () => {
      const clients = await Promise.all(['file:///one', 'file:///two'].map((uri) => rooted(uri)));
      const answers = await Promise.all(
        clients.map((client) => client.callTool(...ask('session', 'roots/list', ''))),
      );
      expect(answers.map(said)).toEqual([
        { roots: [{ uri: 'file:///one' }] },
        { roots: [{ uri: 'file:///two' }] },
      ]);

      const [one, two] = clients as [RawSession, RawSession];
      const pid = await pidOf(one);
      await one.listen();
      const link = backend.links.find((candidate) => candidate.pid === pid)!;
      const { result } = await link.ask('roots/list', {});
      expect(result).toEqual({ roots: [{ uri: 'file:///one' }] });
      expect(two.asked).toHaveLength(1);
    });

    it('tells a client’s own server, and no other, that its roots changed', async () => {
      const [one, two] = await Promise.all([named('one'), named('two')]);
      const [pidOfOne] = await Promise.all([pidOf(one), pidOf(two)]);
      await one.notify('notifications/roots/list_changed');
      await backend.heard('notifications/roots/list_changed');
      const told = backend.messages('notifications/roots/list_changed').map(({ link }) => link.pid);
      expect(told).toEqual([pidOfOne]);
    });
  });

  it.each([
    ['exclusive', 'exclusive__wait'],
    ['exclusive-tool', 'exclusive-tool__ask'],
  ])('runs one call at a time where the config says so (%s)', async (server, tool) => {
    waiting = deferred();
    const [one, two] = await Promise.all([named('one'), named('two')]);
    one.onQuestion = () => waiting.promise.then(() => ({}));
    const before = backend.inFlight;
    const first = one.callTool(tool, { method: 'sampling/createMessage' });
    await until('the first call is in flight', () => backend.inFlight > before);
    const second = two.callTool(`${server}__whoami`);
    // Another server is not held up by it.
    await two.callTool('http__whoami');
    expect(backend.inFlight).toBe(before + 1);
    waiting.resolve();
    await Promise.all([first, second]);
  });
});
