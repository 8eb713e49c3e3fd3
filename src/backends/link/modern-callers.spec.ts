import { describe, expect, it } from '@jest/globals';
import { modernCaller } from '../../../test/kit/fake-client.js';
import { FakeTransport, LINK_OPTIONS, type Sent } from '../../../test/kit/fake-transport.js';
import { refusalOf } from '../../../test/kit/promises.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { JsonRpcLink } from './json-rpc-link.js';
import type { LinkOptions } from './link-options.js';

const DISCOVERED = { supportedVersions: [MODERN_VERSION], capabilities: { tools: {} } };
const KEY = 'io.modelcontextprotocol/';
const ENVELOPE = { [`${KEY}protocolVersion`]: MODERN_VERSION, [`${KEY}clientCapabilities`]: { tasks: {} } };

const toPublicParams = ({ text }: JsonText): JsonText => new JsonText(text.replace('own:1', 'public:1'));

async function open(opening: 'initialize' | 'discover', options: Partial<LinkOptions> = {}) {
  const outcomes: string[] = [];
  const transport: FakeTransport = new FakeTransport({
    onSend: ({ id, method }: Sent) => {
      if (method === 'server/discover') transport.answer(id, DISCOVERED);
    },
  });
  const all = {
    ...LINK_OPTIONS,
    opening,
    onInput: (outcome: string) => void outcomes.push(outcome),
    ...options,
  };
  const link = await JsonRpcLink.connect(transport, all, new AbortController().signal);
  const send = (method: string, params: object, capabilities = {}) => {
    const caller = modernCaller(capabilities);
    const outcome = link.request({ method, params: JSON.stringify(params), caller, timeoutMs: 1000 });
    return { caller, outcome, sent: transport.only(method) };
  };
  return { transport, link, send, outcomes };
}

describe('a request of a client of 2026', () => {
  const retry = { inputResponses: { q: { action: 'accept' } }, requestState: ' s\u2028' };
  const params = { name: 'a', ...retry, _meta: { ...ENVELOPE, progressToken: 'own', trace: 1 } };

  it('reaches a server of 2025 without anything of its own era', async () => {
    const { send, transport } = await open('initialize');
    const { sent, outcome } = send('tools/call', params);
    expect(sent.params).toEqual({ name: 'a', _meta: { progressToken: sent.id, trace: 1 } });
    transport.answer(sent.id, { resultType: 'input_required', ttlMs: 1, isError: false });
    expect((await outcome).text).toBe('{"isError":false}');
  });

  it('gets the progress of a server of 2025 under its own token', async () => {
    const { send, transport } = await open('initialize');
    const { sent, caller } = send('tools/call', params);
    transport.notify('notifications/progress', { progressToken: sent.id, progress: 1 });
    expect(caller.notifications).toEqual([
      { method: 'notifications/progress', params: { progressToken: 'own', progress: 1 } },
    ]);
  });

  it('reaches a server of 2026 with its answers, and with its capabilities as far as they are forwarded', async () => {
    const { send } = await open('discover');
    const { sent } = send('tools/call', params, { elicitation: { form: {} }, tasks: {} });
    expect(sent.params).toEqual({
      name: 'a',
      ...retry,
      _meta: {
        [`${KEY}protocolVersion`]: MODERN_VERSION,
        [`${KEY}clientInfo`]: { name: 'gatehouse', version: '9.9' },
        [`${KEY}clientCapabilities`]: { elicitation: { form: {} } },
        progressToken: sent.id,
        trace: 1,
      },
    });
  });

  it('gets input requests of a server of 2026 as they are, with public URIs', async () => {
    const { send, transport, outcomes } = await open('discover', { toPublicParams });
    const { sent, outcome } = send('tools/call', { name: 'a' });
    const inputRequests = { q: { method: 'sampling/createMessage', params: { uri: 'own:1' } } };
    transport.answer(sent.id, { resultType: 'input_required', inputRequests, requestState: ' "é\u2028' });
    expect((await outcome).toJSON()).toEqual({
      resultType: 'input_required',
      inputRequests: { q: { method: 'sampling/createMessage', params: { uri: 'public:1' } } },
      requestState: ' "é\u2028',
    });
    expect(transport.all('tools/call')).toHaveLength(1);
    expect(outcomes).toEqual(['forwarded']);
  });

  it.each([
    ['resources/read', { code: -32602, message: 'no', data: { uri: 'a:1' } }],
    ['tools/call', { code: -32021, message: 'needs sampling' }],
  ])('gets the error of a server of 2026 to %s as it is', async (method, error) => {
    const { send, transport } = await open('discover');
    const { sent, outcome } = send(method, { name: 'a', uri: 'a:1' });
    transport.refuse(sent.id, error);
    expect(await refusalOf(outcome)).toMatchObject({ code: error.code, text: JSON.stringify(error) });
  });

  it('gets no result of a type that it does not know', async () => {
    const { send, transport } = await open('discover');
    const { sent, outcome } = send('tools/call', { name: 'a' });
    transport.answer(sent.id, { resultType: 'task' });
    expect((await outcome).toJSON()).toMatchObject({ isError: true });
  });
});
