import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import {
  untilRequested,
  SubscribedClient,
  startSubscribableServer,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';

describe('after a gap in the notifications of a server, the gateway', () => {
  let docs: ScriptedServer;
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({ admin: { token: ADMIN_TOKEN, allowStdio: true } });
  });

  /** Replaces the server of the previous test. */
  async function open(config: object): Promise<void> {
    const admin = new AdminClient(gateway);
    await admin.delete('servers/docs');
    expect((await admin.put('servers/docs', config)).status).toBe(201);
    await gateway.listed({ resources: ['docs'] });
  }
  beforeEach(async () => {
    docs = await startSubscribableServer('x://a', 'x://b');
  });

  /** The updates of a client after a final one has arrived, without the final one. */
  async function allUpdates(listener: SubscribedClient, uri: string): Promise<unknown[]> {
    sendUpdate(docs, uri.slice('resource://docs/'.length), { last: true });
    await until('the final update arrived', () =>
      listener.updates.some((params) => params['last'] === true && params['uri'] === uri),
    );
    return listener.updates.filter(({ last }) => last !== true);
  }

  it('subscribes again and sends every subscriber one update when the server was killed', async () => {
    await open(docs.stdio());
    const [one, two] = [
      await SubscribedClient.of(gateway.url, A),
      await SubscribedClient.of(gateway.url, A, B),
    ];
    process.kill(docs.link.pid!, 'SIGKILL');
    await Promise.all([one.untilUpdated(A), two.untilUpdated(A), two.untilUpdated(B)]);
    expect(subscriptionRequests(docs).slice(2).toSorted()).toEqual(['+x://a', '+x://b']);
    expect(await allUpdates(one, A)).toEqual([{ uri: A }]);
    expect(new Set(await allUpdates(two, B))).toEqual(new Set([{ uri: A }, { uri: B }]));
    expect(two.updates).toHaveLength(4);
  });

  it('subscribes again and sends one update when only the notification stream broke', async () => {
    await open(docs.http);
    const [one, unsubscribed] = [
      await SubscribedClient.of(gateway.url, A),
      await SubscribedClient.open(gateway.url),
    ];
    docs.httpEndpoint.stream.dropUnsentMessages().breakStream();
    sendUpdate(docs, 'x://a', { lost: true });
    await one.untilUpdated(A);
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);
    expect(docs.countOf('initialize')).toBe(1);
    expect(await allUpdates(one, A)).toEqual([{ uri: A }]);
    expect(unsubscribed.updates).toEqual([]);
  });

  it('subscribes again and sends one update when a server without sessions was restarted', async () => {
    docs.httpEndpoint.isStateless = true;
    await open(docs.http);
    const one = await SubscribedClient.of(gateway.url, A);
    docs.httpEndpoint.breakConnections();
    await one.untilUpdated(A);
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);
    expect(docs.countOf('initialize')).toBe(1);
    expect(await allUpdates(one, A)).toEqual([{ uri: A }]);
  });

  it('sends no extra update for the first stream, which opens before the first subscription', async () => {
    await open(docs.http);
    const one = await SubscribedClient.open(gateway.url);
    docs.on('resources/subscribe', () => {
      expect(docs.httpEndpoint.stream.hasOpenStream).toBe(true);
      sendUpdate(docs, 'x://a', { early: true });
      return {};
    });
    await one.subscribed(A);
    // A later update could replace one that is still queued.
    await one.untilUpdated(A);
    expect(await allUpdates(one, A)).toEqual([{ uri: A, early: true }]);
    expect(subscriptionRequests(docs)).toEqual(['+x://a']);
  });

  it('sends one update of a resource whose update is the first event, with a late head, of the stream', async () => {
    docs.httpEndpoint.sendsStreamHeadAtOnce = false;
    await open(docs.http);
    const one = await SubscribedClient.of(gateway.url, A, B);
    sendUpdate(docs, 'x://a', { version: 2 });
    await Promise.all([one.untilUpdated(A), one.untilUpdated(B)]);
    const updates = await allUpdates(one, A);
    expect(updates.filter((params) => (params as { uri: string }).uri === A)).toEqual([
      { uri: A, version: 2 },
    ]);
  });

  it('completes a subscribe request that found the session of the server expired', async () => {
    await open(docs.http);
    const one = await SubscribedClient.of(gateway.url, A);
    docs.httpEndpoint.expireSessions();
    expect((await one.subscribe(B)).error).toBeUndefined();
    await one.untilUpdated(A);
    expect(docs.countOf('initialize')).toBe(2);
    sendUpdate(docs, 'x://b', { version: 2 });
    await until('an update of B arrives', () => one.updates.some(({ version }) => version === 2));
  });

  it('fetches the lists again', async () => {
    await open(docs.http);
    const { session } = await SubscribedClient.open(gateway.url);
    docs.resource('x://new');
    docs.httpEndpoint.stream.dropUnsentMessages().breakStream();
    await until('the new resource is listed', async () =>
      (await session.list('resources')).some(({ uri }) => uri === 'resource://docs/x://new'),
    );
    expect(docs.countOf('initialize')).toBe(1);
  });

  it('unsubscribes at the server when the connection broke during a subscribe request', async () => {
    docs.on('resources/subscribe', () => docs.httpEndpoint.breakConnections());
    await open(docs.http);
    const one = await SubscribedClient.open(gateway.url);
    expect((await one.subscribe(A)).error).toMatchObject({ code: -31003 });
    await untilRequested(docs, '-x://a');
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '-x://a']);
  });
});
