import { describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { FakeTransport, LINK_OPTIONS, type Sent } from '../../../test/kit/fake-transport.js';
import { flushPromises, outcomeOf } from '../../../test/kit/promises.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { EraRecord } from './era-record.js';
import { INBOUND_LIMITS } from './inbound-limiter.js';
import { JsonRpcLink } from './json-rpc-link.js';
import type { LinkOptions } from './link-options.js';

const connect = (transport: FakeTransport, options: Partial<LinkOptions>): Promise<JsonRpcLink> =>
  JsonRpcLink.connect(transport, { ...LINK_OPTIONS, ...options }, new AbortController().signal);

/** A link to a server of 2025, which does not know the method of the probe. */
async function probeLegacy(options: Partial<LinkOptions>) {
  const initializedWith: unknown[] = [];
  const transport: FakeTransport = new FakeTransport({
    onSend: ({ id, method }: Sent) => {
      if (method === 'server/discover') transport.refuse(id, { code: -32601, message: 'unknown method' });
      if (method === 'initialize') initializedWith.push(transport.protocolVersion);
    },
  });
  const link = await connect(transport, { opening: 'probe', ...options });
  return { transport, link, initializedWith };
}

/** A link to a server of 2026 with these capabilities. */
async function discover(capabilities: object) {
  const result = { supportedVersions: [MODERN_VERSION], capabilities };
  const transport: FakeTransport = new FakeTransport({
    onSend: ({ id, method }: Sent) => {
      if (method === 'server/discover') transport.answer(id, result);
    },
  });
  return { transport, link: await connect(transport, { opening: 'discover' }) };
}

describe('the handshake with a server that fails the probe', () => {
  it.each([
    ['is not preceded by a probe for the link of a session', new FakeClient('a'), []],
    ['is preceded by a probe for a link that clients share', undefined, ['server/discover']],
  ])('%s after a recent verdict of 2025', async (_what, owner, probes) => {
    const eraRecord = new EraRecord();
    eraRecord.set('2025');
    const { transport, link } = await probeLegacy({ eraRecord, owner });
    expect([link.era.name, transport.sent.map(({ method }) => method)]).toEqual(['2025', probes]);
  });

  it('sends nothing of the 2026 era after the probe', async () => {
    const { transport, link, initializedWith } = await probeLegacy({});
    expect(initializedWith).toEqual([undefined]);
    void link.request({ method: 'tools/call', params: '{"name":"a"}', timeoutMs: 1000 }).catch(() => {});
    expect(transport.only('tools/call').params).toEqual({ name: 'a' });
  });
});

describe('the handshake with a server of 2025', () => {
  it('finds the notification stream open if the transport has one stream for everything', async () => {
    const link = await connect(new FakeTransport({ hasOneStream: true }), {});
    expect(link.notificationStream).toBe('open');
    await link.notificationsReady;
  });
});

describe('a notification stream that the server does not open', () => {
  useFakeTime();

  it.each([
    ['2025', (): Promise<JsonRpcLink> => connect(new FakeTransport(), {})],
    ['2026', async () => (await discover({ tools: { listChanged: true } })).link],
  ])('is waited for at most a second (%s)', async (_era, open) => {
    const link = await open();
    const ready = outcomeOf(link.notificationsReady.then(() => 'ready'));
    await advanceTime(999);
    expect(ready).toEqual({});
    await advanceTime(1);
    expect([ready, link.notificationStream]).toEqual([{ value: 'ready' }, 'opening']);
  });
});

describe('the handshake with a server of 2026', () => {
  it.each([
    ['tools', { toolsListChanged: true }],
    ['prompts', { promptsListChanged: true }],
    ['resources', { resourcesListChanged: true }],
  ])('listens to changes of %s if the server announces them', async (kind, filter) => {
    const lists = { tools: {}, prompts: {}, resources: {} };
    const { transport } = await discover({ ...lists, [kind]: { listChanged: true } });
    expect(transport.only('subscriptions/listen').params).toMatchObject({ notifications: filter });
    expect(Object.keys(transport.only('subscriptions/listen').params!['notifications'] as object)).toEqual(
      Object.keys(filter),
    );
  });

  it('does not listen yet to a server that announces only updates', async () => {
    const { transport, link } = await discover({ resources: { subscribe: true } });
    await link.notificationsReady;
    expect([link.notificationStream, link.refusesSubscriptions]).toEqual(['open', false]);
    expect(transport.all('subscriptions/listen')).toEqual([]);
  });

  it('recognises the acknowledgement although the server is beyond its rate', async () => {
    const { transport, link } = await discover({ tools: { listChanged: true } });
    const { id, params } = transport.only('subscriptions/listen');
    // Tokens are added while the messages arrive.
    for (let n = 0; n < 2 * INBOUND_LIMITS.burst; n++) transport.notify('notifications/x');
    expect(link.notificationStream).toBe('opening');
    const meta = { 'io.modelcontextprotocol/subscriptionId': id };
    transport.notify('notifications/subscriptions/acknowledged', { ...params, _meta: meta });
    await flushPromises();
    expect(link.notificationStream).toBe('open');
    await link.close();
  });

  it('pings the server when the listen stream ends', async () => {
    const { transport, link } = await discover({ tools: { listChanged: true } });
    const { id, params } = transport.only('subscriptions/listen');
    const meta = { 'io.modelcontextprotocol/subscriptionId': id };
    transport.notify('notifications/subscriptions/acknowledged', { ...params, _meta: meta });
    await flushPromises();
    transport.sent.length = 0;
    transport.answer(id, {});
    await flushPromises();
    expect(link.notificationStream).toBe('lost');
    expect(transport.all('server/discover')).toHaveLength(1);
    await link.close();
  });
});
