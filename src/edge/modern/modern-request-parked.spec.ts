import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EdgeHarness } from '../../../test/kit/edge-harness.js';
import { RawModernClient, type ModernAnswer } from '../../../test/kit/raw-modern-client.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { deferred, until } from '../../../test/kit/until.js';
import type { Limits } from '../../config/limits.js';
import { GatewayError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Params } from '../../mcp/json-rpc.js';
import type { McpContext } from '../../mcp/mcp-context.js';

let edge: EdgeHarness;
let client: RawModernClient;

/** Serves `tools/call` with this handler, in which a server may ask the client. */
async function serve(
  handler: (context: McpContext) => Promise<unknown>,
  limits: Partial<Limits> = {},
): Promise<void> {
  edge = new EdgeHarness(limits);
  edge.handlers.set('tools/call', (_params: Params | undefined, context: McpContext) => {
    context.server = 'server';
    return handler(context);
  });
  await edge.listen();
  client = new RawModernClient(edge.url);
}

const ask = (context: McpContext, signal = new AbortController().signal): Promise<JsonText> =>
  context.sendRequest('elicitation/create', JsonText.of({ message: 'm' }), { signal });

const retry = (first: ModernAnswer): Promise<ModernAnswer> =>
  client.callTool(
    't',
    {},
    { requestState: first.result?.['requestState'], inputResponses: { q1: { a: 1 } } },
  );

beforeEach(() => void (edge = new EdgeHarness()));
afterEach(() => edge.close());

describe('a request of revision 2026-07-28 that is asked something', () => {
  it('fails in the moment in which it is parked, and its response stays as it is', async () => {
    await serve(async (context) => {
      ask(context).catch(() => {});
      setImmediate(() => edge.parking.parked.cancelAll());
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', resolve));
      throw new GatewayError('missing-capability', 'has an HTTP status of its own');
    });
    const first = await client.callTool('t');
    expect(first.status).toBe(200);
    expect(first.result).toMatchObject({ resultType: 'input_required' });
    expect((await retry(first)).error).toMatchObject({ code: -32602 });
  });

  it('is in flight only while it has a response', async () => {
    const finished = deferred();
    await serve(
      async (context) => {
        const answer = await ask(context);
        await finished.promise;
        return answer;
      },
      { requestsPerPrincipal: 1 },
    );
    const first = await client.callTool('t');
    expect(edge.runner.inFlight.size).toBe(0);
    const second = await client.callTool('t');
    const resumed = retry(first);
    await until('the call is resumed', () => edge.runner.inFlight.size === 1);
    expect((await retry(second)).error).toMatchObject({ code: -31029 });
    finished.resolve();
    expect((await resumed).result).toMatchObject({ a: 1, resultType: 'complete' });
    expect((await retry(second)).result).toMatchObject({ a: 1, resultType: 'complete' });
    await until('no request is in flight', () => edge.runner.inFlight.size === 0);
    expect(edge.modernRequests.size).toBe(0);
  });

  it('stays parked when the request that repeats it is refused for its progress token', async () => {
    await serve((context) => ask(context), { requestsPerPrincipal: 1 });
    const first = await client.callTool('t');
    const params = {
      name: 't',
      arguments: {},
      requestState: first.result?.['requestState'],
      inputResponses: { q1: { a: 1 } },
    };
    const meta = { progressToken: 'x'.repeat(2000) };
    expect((await client.send('tools/call', { params, meta }).answer).error).toMatchObject({ code: -32602 });
    expect(edge.runner.inFlight.size).toBe(0);
    expect((await retry(first)).result).toMatchObject({ a: 1 });
  });

  it.each([
    [1000, { resultType: 'complete' }, undefined],
    [1_100_000, undefined, { code: -31009 }],
  ])(
    'gets a result of %s characters that came while it was parked, unless that is too long',
    async (length, result, error) => {
      const finished = deferred();
      await serve(async (context) => {
        ask(context).catch(() => {});
        await finished.promise;
        return JsonText.of({ text: 'x'.repeat(length) });
      });
      const first = await client.callTool('t');
      finished.resolve();
      await flushPromises();
      expect(edge.parking.parked.size).toBe(1);
      const second = await retry(first);
      expect(second).toMatchObject({ ...(result && { result }), ...(error && { error }) });
      expect(edge.parking.parked.size).toBe(0);
      expect(edge.runner.inFlight.size).toBe(0);
    },
  );

  it('is not asked in a request that cannot be repeated with answers', async () => {
    await serve((context) => ask(context));
    edge.handlers.set('completion/complete', (_params, context) => ask(context));
    const { error } = await client.send('completion/complete').answer;
    expect(error).toMatchObject({ code: -32601 });
  });
});
