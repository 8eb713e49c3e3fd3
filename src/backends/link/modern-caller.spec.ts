import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { requestForModernCaller } from './modern-caller.js';

const URLS = { elicitations: [{ mode: 'url', elicitationId: 'e', url: 'u', message: 'm' }] };

const remoteError = (code: number, data?: object): RemoteError =>
  new RemoteError(code, 'failed', JSON.stringify({ code, message: 'failed', data }));

interface Given {
  readonly params?: string;
  readonly capabilities?: ClientCapabilities;
  readonly missingCapabilities?: ClientCapabilities;
}

/** The outcome of a call that the server answers with this result, or fails with this error. */
async function call(answer: string | Error, { params = '{}', ...client }: Given = {}): Promise<unknown> {
  const caller = Object.assign(Object.create(new FakeClient('a').call()) as object, client);
  const send = (): Promise<JsonText> =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(new JsonText(answer));
  const request = { method: 'tools/call', params, timeoutMs: 1000 };
  return requestForModernCaller(request, caller as never, send).then(
    ({ text }) => text,
    (error: unknown) => error,
  );
}

describe('a request of a client of 2026 to a server of 2025', () => {
  it.each([
    ['{"content":[]}', '{"content":[]}'],
    ['{"resultType":"input_required","content":[]}', '{"content":[]}'],
  ])('resolves with the result: %s', async (answer, expected) => {
    expect(await call(answer)).toBe(expected);
  });

  it.each([
    '{"requestState":"s"}',
    '{"request\\u0053tate":"s"}',
    '{"requestState":null}',
    '{"requestState":7}',
  ])('is refused with a state that this gateway has not issued: %s', async (params) => {
    expect(await call('{}', { params })).toMatchObject({
      kind: 'invalid-params',
      message: expect.stringMatching(/^Invalid requestState/),
    });
  });

  it.each(['{"arguments":{"requestState":"s"}}', '{"inputResponses":{}}', '{"name":"\\u0053"}'])(
    'is sent with %s',
    async (params) => {
      expect(await call('{}', { params })).toBe('{}');
    },
  );

  it('asks the client to open URLs if it can', async () => {
    const result = await call(remoteError(-32042, URLS), { capabilities: { elicitation: { url: {} } } });
    expect(JSON.parse(String(result))).toMatchObject({
      resultType: 'input_required',
      inputRequests: { url1: { params: { mode: 'url', url: 'u' } } },
    });
  });

  it.each([
    ['URLs are required', remoteError(-32042, URLS), { capabilities: {} }, { elicitation: { url: {} } }],
    [
      'it could not be asked before',
      remoteError(-5),
      { missingCapabilities: { sampling: {} } },
      { sampling: {} },
    ],
  ])('fails with the missing capability when %s', async (_, error, given, requiredCapabilities) => {
    expect(await call(error, given)).toMatchObject({
      kind: 'missing-capability',
      data: { requiredCapabilities },
    });
  });

  it('fails when the user has declined to open a URL, instead of asking again', async () => {
    const given = {
      capabilities: { elicitation: { url: {} } },
      params: '{"inputResponses":{"url1":{"action":"accept"},"url2":{"action":"decline"}}}',
    };
    expect(await call(remoteError(-32042, URLS), given)).toMatchObject({ kind: 'cancelled' });
  });

  it.each([
    ['an error of the server', remoteError(-5), {}],
    ['an error of the gateway', new GatewayError('timeout', 'late'), { missingCapabilities: { roots: {} } }],
    ['URLs that are none', remoteError(-32042), { capabilities: { elicitation: { url: {} } } }],
  ])('fails with %s as it is', async (_, error, given) => {
    expect(await call(error, given)).toBe(error);
  });
});
