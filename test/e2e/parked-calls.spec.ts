import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { exchange } from '../kit/http.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawModernClient, type ModernAnswer } from '../kit/raw-modern-client.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedError, ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import type { ScriptedCall } from '../kit/scripted-server/scripted-call.js';
import { deferred, until } from '../kit/until.js';

const textOf = ({ content }: { readonly content?: unknown }): string =>
  (content as readonly { readonly text: string }[])[0]!.text;
const stateOf = ({ result }: ModernAnswer): string => String(result?.['requestState']);
const keysOf = ({ result }: ModernAnswer): string[] => Object.keys(result?.['inputRequests'] as object);

const elicit = async (call: ScriptedCall, message = 'name?'): Promise<string> =>
  JSON.stringify(((m) => m.result ?? m.error)(await call.sendRequest('elicitation/create', { message })));

const accept = (key = 'q1', content: object = { name: 'Ada' }): object => ({
  [key]: { action: 'accept', content },
});

describe('a client of revision 2026-07-28 and a server of 2025 that asks it', () => {
  let scripted: ScriptedServer;
  let gateway: Gateway;
  let admin: AdminClient;
  let client: RawModernClient;
  let waiting = deferred();

  beforeAll(async () => {
    scripted = await ScriptedServer.start();
    scripted
      .tool('echo', ({ args }) => text(String(args['text'])))
      .tool('ask', async (call) => text(await elicit(call)))
      .tool('ask-and-fail', async (call) => {
        throw new ScriptedError(JSON.stringify({ code: -5, message: await elicit(call) }));
      })
      .tool('ask-thrice', async (call) => {
        const answers = [];
        for (const n of [1, 2, 3]) {
          call.progress(n * 10);
          answers.push(await elicit(call, `question ${n}`));
        }
        call.progress(40);
        return text(answers.join());
      })
      .tool('ask-then-wait', async (call) => {
        const answer = await elicit(call);
        await Promise.race([waiting.promise, call.ended]);
        return text(answer);
      })
      .tool('ask-once', async (call) => {
        await Promise.race([elicit(call), waiting.promise]);
        return text('answered without an answer');
      })
      .tool('needs-urls', () => {
        const elicitations = [{ mode: 'url', elicitationId: 'e', url: 'https://u', message: 'm' }];
        throw new ScriptedError(JSON.stringify({ code: -32042, message: 'urls', data: { elicitations } }));
      })
      .prompt('ask', async (call) => ({
        messages: [{ role: 'user', content: { type: 'text', text: await elicit(call) } }],
      }))
      .resource('test://ask', async (call) => ({
        contents: [{ uri: 'test://ask', text: await elicit(call) }],
      }));
    gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      limits: { parkedMs: 4000 },
      log: { calls: 'all' },
      mcpServers: {
        http: { ...scripted.http, concurrency: 8, timeoutMs: 1500 },
        stdio: { ...scripted.stdio(), isolation: 'exclusive' },
      },
    });
    await gateway.listed({ tools: ['http', 'stdio'], prompts: ['http'], resources: ['http'] });
    admin = new AdminClient(gateway);
    client = new RawModernClient(gateway.url);
  });
  beforeEach(() => void (waiting = deferred()));
  afterEach(async () => {
    waiting.resolve();
    await until('no call is parked', async () => (await parkedCalls()) === 0);
  });

  const metrics = async (): Promise<Scrape> => new Scrape((await exchange(gateway.urlOf('/metrics'))).text);
  const parkedCalls = async (): Promise<number> =>
    (await metrics()).samples
      .filter(({ name }) => name === 'gatehouse_parked_calls')
      .reduce((sum, { value }) => sum + value, 0);

  it.each([
    ['http', 'tools/call', { name: 'http__ask', arguments: {} }],
    ['stdio', 'tools/call', { name: 'stdio__ask', arguments: {} }],
    ['http', 'prompts/get', { name: 'http__ask' }],
    ['http', 'resources/read', { uri: 'resource://http/test://ask' }],
  ])('answers with its repeated request (%s, %s)', async (_, method, params) => {
    const first = await client.send(method, { params }).answer;
    expect(first).toMatchObject({
      status: 200,
      result: {
        resultType: 'input_required',
        inputRequests: { q1: { method: 'elicitation/create', params: { message: 'name?' } } },
      },
    });
    const retry = { ...params, inputResponses: accept(), requestState: stateOf(first) };
    const second = await client.send(method, { params: retry }).answer;
    expect(second.result).toMatchObject({ resultType: 'complete' });
    expect(JSON.stringify(second.result).replaceAll('\\', '')).toContain(
      '{"action":"accept","content":{"name":"Ada"}}',
    );
  });

  /** Repeats the call with answers. */
  const retry = (
    name: string,
    first: ModernAnswer,
    inputResponses: object,
    by = client,
  ): Promise<ModernAnswer> => by.callTool(name, {}, { inputResponses, requestState: stateOf(first) });

  it('is asked one question after the other, with progress that rises under the token of each request', async () => {
    const progress: unknown[] = [];
    let params: Record<string, unknown> = { name: 'http__ask-thrice', arguments: {} };
    const asked: string[] = [];
    let result: ModernAnswer['result'];
    for (let round = 1; round <= 4; round++) {
      const answer = await client.send('tools/call', { params, meta: { progressToken: `t${round}` } }).answer;
      for (const { params: own } of answer.notifications)
        progress.push([own?.['progressToken'], own?.['progress']]);
      result = answer.result;
      if (result?.['resultType'] === 'complete') break;
      asked.push(...keysOf(answer));
      const inputResponses = accept(`q${round}`, { name: `Ada ${round}` });
      params = { ...params, inputResponses, requestState: stateOf(answer) };
    }
    expect(asked).toEqual(['q1', 'q2', 'q3']);
    expect(textOf(result!)).toContain('"Ada 1"');
    expect(textOf(result!)).toContain('"Ada 3"');
    expect(progress).toEqual([
      ['t1', 10],
      ['t2', 20],
      ['t3', 30],
      ['t4', 40],
    ]);
  });

  it('is asked again as long as an answer is missing', async () => {
    const first = await client.callTool('http__ask');
    const second = await retry('http__ask', first, { other: {} });
    expect(keysOf(second)).toEqual(['q1']);
    expect(stateOf(second)).not.toBe(stateOf(first));
    expect(textOf((await retry('http__ask', second, accept())).result!)).toContain('Ada');
  });

  describe('gets an error that says what to do for a state that', () => {
    const REPEAT = 'Repeat the request without requestState and inputResponses';

    it.each([
      ['was changed', (state: string) => `${state.slice(0, -3)}AAA`, /was changed/],
      [
        'is of another process of the gateway',
        () => 'gatehouse.AAAAAAAA.AAAA',
        /another process of the gateway/,
      ],
      ['is of no gateway', () => 'opaque', /neither this gateway nor the server/],
      ['is no text', () => 7, /neither this gateway nor the server/],
    ])('%s', async (_, change, message) => {
      const first = await client.callTool('http__ask');
      const { status, error } = await client.callTool(
        'http__ask',
        {},
        {
          inputResponses: accept(),
          requestState: change(stateOf(first)),
        },
      );
      expect([status, error?.code]).toEqual([200, -32602]);
      expect(error?.message).toMatch(message);
      expect(error?.message).toContain(REPEAT);
      expect((await retry('http__ask', first, accept())).result).toBeDefined();
    });

    it('is of another tool, or of other arguments', async () => {
      const first = await client.callTool('http__ask');
      const requestState = stateOf(first);
      for (const [name, args] of [
        ['http__echo', {}],
        ['http__ask', { text: 'other' }],
      ] as const)
        expect((await client.callTool(name, args, { requestState })).error?.message).toMatch(
          /another request/,
        );
      await retry('http__ask', first, accept());
    });

    it('was used', async () => {
      const first = await client.callTool('http__ask-then-wait');
      const second = retry('http__ask-then-wait', first, accept());
      await until('the call is resumed', async () => (await parkedCalls()) === 0);
      const again = await retry('http__ask-then-wait', first, accept());
      expect(again.error).toMatchObject({ code: -32602, message: expect.stringMatching(/answered already/) });
      waiting.resolve();
      expect((await second).result).toBeDefined();
      expect((await retry('http__ask-then-wait', first, accept())).error?.message).toMatch(/call has ended/);
    });

    it('has expired: the server got an error for its question, and the call was cancelled', async () => {
      const first = await client.callTool('http__ask-then-wait');
      const { message } = scripted.messages('tools/call').at(-1)!;
      await until('it expires', async () => (await parkedCalls()) === 0);
      await scripted.untilReceived(
        'notifications/cancelled',
        ({ params }) => params?.['requestId'] === message.id,
      );
      const expired = await retry('http__ask-then-wait', first, accept());
      expect(expired.error).toMatchObject({ code: -32602, message: expect.stringContaining(REPEAT) });
      expect(scripted.received.at(-1)!.text).toContain('the client did not answer the question');
      const tool = 'http__ask-then-wait';
      expect(await gateway.logged({ message: 'request failed', kind: 'timeout', tool })).toMatchObject({
        code: -31008,
      });
      expect(
        (await metrics()).value('gatehouse_client_questions_total', { outcome: 'expired' }),
      ).toBeGreaterThan(0);
    });
  });

  it('has the whole timeout of the server after its answer, and none while it is parked', async () => {
    const first = await client.callTool('http__ask-then-wait');
    const since = performance.now();
    await until('longer than the timeout has passed', () => performance.now() - since > 2000);
    const second = retry('http__ask-then-wait', first, accept());
    const answeredAt = performance.now();
    await until('most of the timeout has passed', () => performance.now() - answeredAt > 1000);
    waiting.resolve();
    expect(textOf((await second).result!)).toContain('Ada');
  });

  it('gets the missing capability when its call fails because it cannot be asked, and not otherwise', async () => {
    const mute = new RawModernClient(gateway.url, { sampling: {} });
    expect(await mute.callTool('http__ask-and-fail')).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
    expect(textOf((await mute.callTool('http__ask')).result!)).toContain('-32601');
    expect((await client.callTool('http__ask-and-fail')).result).toMatchObject({
      resultType: 'input_required',
    });
  });

  it('is asked to open URLs instead of an error, or gets the missing capability; nothing is parked', async () => {
    const first = await client.callTool('http__needs-urls');
    expect(first.result).toEqual({
      resultType: 'input_required',
      inputRequests: {
        url1: { method: 'elicitation/create', params: { mode: 'url', url: 'https://u', message: 'm' } },
      },
    });
    expect(await parkedCalls()).toBe(0);
    const before = scripted.countOf('tools/call');
    await client.callTool('http__needs-urls', {}, { inputResponses: { url1: { action: 'accept' } } });
    expect(scripted.countOf('tools/call')).toBe(before + 1);
    expect(scripted.messages('tools/call').at(-1)!.text).not.toContain('inputResponses');
    const withoutUrl = new RawModernClient(gateway.url, { elicitation: {} });
    expect(await withoutUrl.callTool('http__needs-urls')).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    });
  });

  it('leaves a server with eight places usable when it abandons questions', async () => {
    const parked = await Promise.all(Array.from({ length: 4 }, () => client.callTool('http__ask')));
    expect(parked.map(({ result }) => result?.['resultType'])).toEqual(Array(4).fill('input_required'));
    const refused = await client.callTool('http__ask');
    expect(refused).toMatchObject({
      status: 200,
      error: { code: -31029, data: { code: 'LimitExceeded', limit: 4 } },
    });
    const started = performance.now();
    const echoes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => client.callTool('http__echo', { text: `${n}` })),
    );
    expect(echoes.map(({ result }) => textOf(result!))).toEqual(echoes.map((_, n) => `${n}`));
    expect(performance.now() - started).toBeLessThan(3000);
    expect((await metrics()).value('gatehouse_limit_refusals_total', { limit: 'parkedPerServer' })).toBe(1);
    expect((await metrics()).value('mcp_backend_in_flight', { server_id: 'http' })).toBe(4);
  });

  it('keeps its parked call when it closes the connection, and cancels the call when it closes it later', async () => {
    const first = await client.callTool('http__ask-then-wait');
    const { message } = scripted.messages('tools/call').at(-1)!;
    expect(await parkedCalls()).toBe(1);
    const params = {
      name: 'http__ask-then-wait',
      arguments: {},
      inputResponses: accept(),
      requestState: stateOf(first),
    };
    const open = client.send('tools/call', { params });
    await until('the call is resumed', async () => (await parkedCalls()) === 0);
    open.close();
    await scripted.untilReceived(
      'notifications/cancelled',
      ({ params: own }) => own?.['requestId'] === message.id,
    );
  });

  it('gets the result that came while the call was parked', async () => {
    const first = await client.callTool('http__ask-once');
    waiting.resolve();
    await until('the server has answered', async () => {
      const inFlight = (await metrics()).value('mcp_backend_in_flight', { server_id: 'http' });
      return inFlight === 0;
    });
    expect(await parkedCalls()).toBe(1);
    const second = await retry('http__ask-once', first, accept());
    expect(textOf(second.result!)).toBe('answered without an answer');
  });

  it('learns from its repeated request that the server was killed', async () => {
    const first = await client.callTool('stdio__ask');
    process.kill(scripted.links.find(({ pid, isOpen }) => pid !== undefined && isOpen)!.pid!, 'SIGKILL');
    await gateway.logged({ message: 'request failed', server: 'stdio', kind: 'server-unavailable' });
    const second = await retry('stdio__ask', first, accept());
    expect(second.error).toMatchObject({ code: -31003, data: { server: 'stdio' } });
    await until('the server is back', async () => {
      const { result } = await client.callTool('stdio__echo', { text: 'back' });
      return result && textOf(result) === 'back';
    });
  });

  it('loses its parked call when the server is disabled', async () => {
    const first = await client.callTool('http__ask');
    await admin.post('servers/http/disable');
    expect(await parkedCalls()).toBe(0);
    expect((await retry('http__ask', first, accept())).error).toMatchObject({ code: -32602 });
    await admin.post('servers/http/enable');
    await gateway.listed({ tools: ['http'] });
  });

  it('counts, times and logs all requests of one call once, when it ends', async () => {
    const labels = { server_id: 'http', outcome: 'ok' };
    const counts = async (): Promise<(number | undefined)[]> => {
      const scraped = await metrics();
      return [
        scraped.value('mcp_tool_calls_total', labels),
        scraped.value('mcp_request_duration_seconds_count', { method: 'tools/call', outcome: 'ok' }),
        gateway.logs.filter(({ message, tool }) => message === 'request' && tool === 'http__ask').length,
      ];
    };
    const before = await counts();
    const first = await client.callTool('http__ask');
    expect(await counts()).toEqual(before);
    await retry('http__ask', first, accept());
    const expected = before.map((count) => count! + 1);
    expect(await until('the call is counted', async () => (await counts()).join() === expected.join())).toBe(
      true,
    );
  });
});
