import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { isAlive, untilExited } from '../kit/processes.js';
import { RawSession, textIn, type Answer } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import type { ScriptedCall } from '../kit/scripted-server/scripted-call.js';
import { deferred, until } from '../kit/until.js';

const ALL = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

/** The result or error of the client as a tool result. */
const outcome = ({ result, error }: Message): object => text(JSON.stringify(result ?? error));

const parsed = (answer: Answer): Record<string, unknown> =>
  JSON.parse(textIn(answer) ?? 'null') as Record<string, unknown>;

const paramsOf = ({ args }: ScriptedCall): object => ({ ...(args['params'] as object) });

const ask = (server: string, method: string, from: string): [string, object] => [
  `${server}__ask`,
  { method, params: { from } },
];

const pidOf = async (client: RawSession): Promise<number> =>
  Number(parsed(await client.callTool('session__whoami'))['pid']);

describe('a request of a server', () => {
  let scripted: ScriptedServer;
  let gateway: Gateway;
  /** Calls of `wait` last until a test resolves this. */
  let waiting = deferred();

  beforeAll(async () => {
    scripted = await ScriptedServer.start();
    scripted
      .tool('ask', async (call) =>
        outcome(await call.sendRequest(String(call.args['method']), paramsOf(call))),
      )
      .tool('wait', async (call) => {
        await Promise.race([waiting.promise, call.ended]);
        return text(`pid ${call.link.pid}`);
      })
      .tool('whoami', (call) => text(JSON.stringify({ pid: call.link.pid })));
    gateway = await startGateway({
      mcpServers: {
        http: scripted.http,
        shared: { ...scripted.stdio(), tools: { exclusive: [] } },
        'exclusive-tool': { ...scripted.stdio(), tools: { exclusive: ['ask'] } },
        exclusive: { ...scripted.stdio(), isolation: 'exclusive' },
        sse: { ...scripted.sse, isolation: 'exclusive' },
        session: { ...scripted.stdio(), isolation: 'session' },
      },
    });
    await gateway.listed({ tools: ['http', 'sse', 'shared', 'exclusive-tool', 'exclusive', 'session'] });
  });

  /** A client that answers every request of a server with its own name. */
  async function openNamed(name: string, capabilities: object = ALL): Promise<RawSession> {
    const session = await RawSession.open(gateway.url, { capabilities });
    session.onServerRequest = ({ params }) => ({ answeredBy: name, to: params?.['from'] });
    return session;
  }

  /** A client that answers `roots/list` with this root. */
  async function openWithRoot(uri: string): Promise<RawSession> {
    const client = await openNamed(uri);
    client.onServerRequest = () => ({ roots: [{ uri }] });
    return client;
  }

  describe.each(['http', 'sse', 'exclusive-tool', 'exclusive', 'session'])(
    'in a call at the server "%s"',
    (server) => {
      it.each(['sampling/createMessage', 'elicitation/create'])(
        'reaches only the client whose call caused it, also with concurrent calls (%s)',
        async (method) => {
          const names = Array.from({ length: 8 }, (_, index) => `client ${index}`);
          const clients = await Promise.all(names.map((name) => openNamed(name)));
          const bystander = await openNamed('bystander');
          const stream = await bystander.listen();
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
          expect(answers.map(parsed)).toEqual(expected);
          expect(clients.map(({ serverRequests }) => serverRequests.length)).toEqual(names.map(() => 2));
          expect(bystander.serverRequests).toEqual([]);
          expect(stream.messages).toEqual([]);
        },
      );

      it('is refused when the client lacks the capability', async () => {
        const client = await openNamed('incapable', {});
        const answer = await client.callTool(...ask(server, 'sampling/createMessage', 'incapable'));
        expect(parsed(answer)).toMatchObject({ code: -32601 });
        expect(client.serverRequests).toEqual([]);
      });
    },
  );

  it('is refused on a shared link while calls of several clients are in flight', async () => {
    waiting = deferred();
    const [one, two] = await Promise.all([openNamed('one'), openNamed('two')]);
    const before = scripted.inFlight;
    const pending = one.callTool('shared__wait');
    await until('the first call is in flight', () => scripted.inFlight > before);
    const answer = await two.callTool(...ask('shared', 'sampling/createMessage', 'two'));
    expect(parsed(answer)).toMatchObject({ code: -32603, message: expect.stringContaining('isolation') });
    expect([one.serverRequests, two.serverRequests]).toEqual([[], []]);
    waiting.resolve();
    await pending;
  });

  it('reaches the client on a shared link while all calls in flight are its own', async () => {
    waiting = deferred();
    const one = await openNamed('one');
    const before = scripted.inFlight;
    const pending = one.callTool('shared__wait');
    await until('the first call is in flight', () => scripted.inFlight > before);
    const answer = await one.callTool(...ask('shared', 'sampling/createMessage', 'one'));
    expect(parsed(answer)).toEqual({ answeredBy: 'one', to: 'one' });
    waiting.resolve();
    await pending;
  });

  it('is cancelled when the call that caused it is cancelled', async () => {
    const client = await openNamed('slow');
    client.onServerRequest = () => undefined;
    const [name, args] = ask('http', 'sampling/createMessage', 'slow');
    const stream = await client.stream('tools/call', { name, arguments: args }, 'the call');
    const request = await stream.message('the request', ({ method }) => method === 'sampling/createMessage');
    await client.notify('notifications/cancelled', { requestId: 'the call' });
    const cancellation = await stream.message(
      'the cancellation',
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(cancellation.params).toMatchObject({ requestId: request.id });
  });

  it('gets the error of the client unchanged', async () => {
    const client = await openNamed('unwilling');
    client.onServerRequest = ({ id }) => {
      void client.post({
        jsonrpc: '2.0',
        id,
        error: { code: -1, message: 'User rejected', data: { by: 'me' } },
      });
      return undefined;
    };
    const answer = await client.callTool(...ask('http', 'sampling/createMessage', 'me'));
    expect(parsed(answer)).toEqual({ code: -1, message: 'User rejected', data: { by: 'me' } });
  });

  it('arrives with public resource URIs', async () => {
    const client = await RawSession.open(gateway.url, { capabilities: ALL });
    client.onServerRequest = ({ params }) => ({ received: params?.['messages'] });
    const link = { type: 'resource_link', uri: 'made:1', name: 'made' };
    const messages = [{ role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [link] }] }];
    const args = { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } };
    const { received } = parsed(await client.callTool('http__ask', args));
    expect(JSON.stringify(received)).toContain('"uri":"resource://http/made:1"');
  });

  it('gets the progress of the client under the token of the server', async () => {
    const client = await openNamed('busy');
    client.onServerRequest = async ({ params = {} }) => {
      const { progressToken } = params['_meta'] as { progressToken: unknown };
      expect(progressToken).not.toBe('of the server');
      await client.notify('notifications/progress', { progressToken, progress: 1, message: 'thinking' });
      return { done: true };
    };
    const params = { _meta: { progressToken: 'of the server' } };
    const answer = await client.callTool('http__ask', { method: 'sampling/createMessage', params });
    expect(parsed(answer)).toEqual({ done: true });
    const progress = await scripted.untilReceived('notifications/progress');
    expect(progress.message.params).toEqual({
      progressToken: 'of the server',
      progress: 1,
      message: 'thinking',
    });
  });

  it('is answered by the gateway if it is a ping and refused if its method is unknown', async () => {
    const link = scripted.links.find(({ isOpen }) => isOpen)!;
    expect((await link.sendRequest('ping', {})).result).toEqual({});
    expect((await link.sendRequest('nope', {})).error?.code).toBe(-32601);
  });

  describe('with isolation: session', () => {
    it('comes from a process per client, which is kept for the next call', async () => {
      const [one, two] = await Promise.all([openNamed('one'), openNamed('two')]);
      const [pidOfOne, pidOfTwo] = await Promise.all([pidOf(one), pidOf(two)]);
      expect(pidOfOne).not.toBe(pidOfTwo);
      expect(await pidOf(one)).toBe(pidOfOne);
    });

    it('is no longer possible after its client ended the session, which stops the process', async () => {
      const client = await openNamed('leaving');
      const pid = await pidOf(client);
      expect(isAlive(pid)).toBe(true);
      await client.end();
      await untilExited([pid]);
    });

    it('reaches the client of the process, also after its call: roots/list', async () => {
      const clients = await Promise.all(['file:///one', 'file:///two'].map((uri) => openWithRoot(uri)));
      const answers = await Promise.all(
        clients.map((client) => client.callTool(...ask('session', 'roots/list', ''))),
      );
      expect(answers.map(parsed)).toEqual([
        { roots: [{ uri: 'file:///one' }] },
        { roots: [{ uri: 'file:///two' }] },
      ]);

      const [one, two] = clients as [RawSession, RawSession];
      const pid = await pidOf(one);
      await one.listen();
      const link = scripted.links.find((candidate) => candidate.pid === pid)!;
      const { result } = await link.sendRequest('roots/list', {});
      expect(result).toEqual({ roots: [{ uri: 'file:///one' }] });
      expect(two.serverRequests).toHaveLength(1);
    });

    it('can follow notifications/roots/list_changed, which only the process of the client gets', async () => {
      const [one, two] = await Promise.all([openNamed('one'), openNamed('two')]);
      const [pidOfOne] = await Promise.all([pidOf(one), pidOf(two)]);
      await one.notify('notifications/roots/list_changed');
      await scripted.untilReceived('notifications/roots/list_changed');
      const pids = scripted.messages('notifications/roots/list_changed').map(({ link }) => link.pid);
      expect(pids).toEqual([pidOfOne]);
    });
  });

  it.each([
    ['exclusive', 'exclusive__wait'],
    ['exclusive-tool', 'exclusive-tool__ask'],
  ])(
    'is attributable because calls run one at a time under exclusive isolation (%s)',
    async (server, tool) => {
      waiting = deferred();
      const [one, two] = await Promise.all([openNamed('one'), openNamed('two')]);
      one.onServerRequest = () => waiting.promise.then(() => ({}));
      const before = scripted.inFlight;
      const first = one.callTool(tool, { method: 'sampling/createMessage' });
      await until('the first call is in flight', () => scripted.inFlight > before);
      const second = two.callTool(`${server}__whoami`);
      // Calls to other servers do not wait.
      await two.callTool('http__whoami');
      expect(scripted.inFlight).toBe(before + 1);
      waiting.resolve();
      await Promise.all([first, second]);
    },
  );
});
