import { beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import type { ScriptedBackend } from '../kit/scripted-backend.js';
import {
  untilRequested,
  SubscribedClient,
  startSubscribableBackend,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';

describe('what may have been missed is told', () => {
  let docs: ScriptedBackend;
  let gateway: Gateway;

  async function open(config: object): Promise<void> {
    gateway = await startGateway({ mcpServers: { docs: config } });
    await gateway.listed({ resources: ['docs'] });
  }
  beforeEach(async () => {
    docs = await startSubscribableBackend('x://a', 'x://b');
  });

  /** After this, nothing that came before is on its way. */
  async function settled(listener: SubscribedClient, uri: string): Promise<unknown[]> {
    sendUpdate(docs, uri.slice('resource://docs/'.length), { last: true });
    await until('the last update has come', () =>
      listener.updates.some((params) => params['last'] === true && params['uri'] === uri),
    );
    return listener.updates.filter(({ last }) => last !== true);
  }

  it('once to everybody, when a server was killed: what is wanted is asked for again', async () => {
    await open(docs.stdio());
    const [one, two] = [
      await SubscribedClient.of(gateway.url, A),
      await SubscribedClient.of(gateway.url, A, B),
    ];
    process.kill(docs.link.pid!, 'SIGKILL');
    await Promise.all([one.untilUpdated(A), two.untilUpdated(A), two.untilUpdated(B)]);
    expect(subscriptionRequests(docs).slice(2).toSorted()).toEqual(['+x://a', '+x://b']);
    expect(await settled(one, A)).toEqual([{ uri: A }]);
    expect(new Set(await settled(two, B))).toEqual(new Set([{ uri: A }, { uri: B }]));
    expect(two.updates).toHaveLength(4);
  });

  it('when only the stream of a server broke, and its session lives on', async () => {
    await open(docs.http);
    const [one, nobody] = [
      await SubscribedClient.of(gateway.url, A),
      await SubscribedClient.open(gateway.url),
    ];
    docs.front.stream.forgetful().cut();
    sendUpdate(docs, 'x://a', { lost: true });
    await one.untilUpdated(A);
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);
    expect(docs.countOf('initialize')).toBe(1);
    expect(await settled(one, A)).toEqual([{ uri: A }]);
    expect(nobody.updates).toEqual([]);
  });

  it('when a server without sessions was started anew and knows nothing any more', async () => {
    docs.front.isStateless = true;
    await open(docs.http);
    const one = await SubscribedClient.of(gateway.url, A);
    docs.front.breakConnections();
    await one.untilUpdated(A);
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);
    expect(docs.countOf('initialize')).toBe(1);
    expect(await settled(one, A)).toEqual([{ uri: A }]);
  });

  it('and nothing is told where nothing was missed: the first stream is there before the first subscription', async () => {
    await open(docs.http);
    const one = await SubscribedClient.open(gateway.url);
    docs.on('resources/subscribe', () => {
      expect(docs.front.stream.isListened).toBe(true);
      sendUpdate(docs, 'x://a', { early: true });
      return {};
    });
    await one.subscribed(A);
    // A later one would take the place of what is still on its way.
    await one.untilUpdated(A);
    expect(await settled(one, A)).toEqual([{ uri: A, early: true }]);
    expect(subscriptionRequests(docs)).toEqual(['+x://a']);
  });

  it('and a client that subscribes while its server has forgotten the session does not notice', async () => {
    await open(docs.http);
    const one = await SubscribedClient.of(gateway.url, A);
    docs.front.forgetSessions();
    expect((await one.subscribe(B)).error).toBeUndefined();
    await one.untilUpdated(A);
    expect(docs.countOf('initialize')).toBe(2);
    sendUpdate(docs, 'x://b', { version: 2 });
    await until('it is subscribed', () => one.updates.some(({ version }) => version === 2));
  });

  it('and lists whose changes may have been missed are fetched again', async () => {
    await open(docs.http);
    const { session } = await SubscribedClient.open(gateway.url);
    docs.resource('x://new');
    docs.front.stream.forgetful().cut();
    await until('it is listed', async () =>
      (await session.list('resources')).some(({ uri }) => uri === 'resource://docs/x://new'),
    );
    expect(docs.countOf('initialize')).toBe(1);
  });

  it('and a subscription that broke off on its way is taken back, for the server may have it', async () => {
    docs.on('resources/subscribe', () => docs.front.breakConnections());
    await open(docs.http);
    const one = await SubscribedClient.open(gateway.url);
    expect((await one.subscribe(A)).error).toMatchObject({ code: -31003 });
    await untilRequested(docs, '-x://a');
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '-x://a']);
  });
});
