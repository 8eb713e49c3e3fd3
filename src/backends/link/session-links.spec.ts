import { describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { deferred } from '../../../test/kit/until.js';
import type { LinkOwner } from '../../mcp/mcp-context.js';
import { MemoryQuotas } from '../../state/memory-quotas.js';
import { PrincipalQuota } from '../../state/principal-quota.js';
import type { Link } from './link.js';
import { SessionLinks } from './session-links.js';

/** Session links that are fakes. */
class Harness {
  readonly owners: LinkOwner[] = [];
  readonly links: FakeLink[] = [];
  readonly signals: AbortSignal[] = [];
  readonly reported: Link[] = [];
  connect: () => Promise<FakeLink> = () => Promise.resolve(new FakeLink());
  readonly sessionLinks = new SessionLinks(
    'db',
    async (owner, signal) => {
      this.owners.push(owner);
      this.signals.push(signal);
      const link = await this.connect();
      this.links.push(link);
      return link;
    },
    { opened: (link) => this.reported.push(link) },
    new PrincipalQuota(new MemoryQuotas(), { name: 'processes', limit: 2, noun: 'child processes' }),
  );
}

describe('SessionLinks', () => {
  it('opens one link per session at its first call', async () => {
    const { sessionLinks, links, owners, reported } = new Harness();
    const [a, b] = [new FakeClient('a'), new FakeClient('b')];
    const opened = await Promise.all([sessionLinks.get(a), sessionLinks.get(a), sessionLinks.get(b)]);
    expect(links).toHaveLength(2);
    expect(opened).toEqual([links[0], links[0], links[1]]);
    expect(owners).toEqual([a, b]);
    expect(reported).toEqual(links);
    expect(sessionLinks.size).toBe(2);
  });

  it('closes the link when its session ends, and no other', async () => {
    const { sessionLinks, links } = new Harness();
    const [a, b] = [new FakeClient('a'), new FakeClient('b')];
    await Promise.all([sessionLinks.get(a), sessionLinks.get(b)]);
    a.close();
    await flushPromises();
    expect(links.map(({ closes }) => closes)).toEqual([1, 0]);
    expect(sessionLinks.size).toBe(1);
    expect(a.closeListeners.size).toBe(0);
  });

  it('opens as many links for the sessions of one principal as it may have processes', async () => {
    const { sessionLinks, links } = new Harness();
    const sessions = ['a1', 'a2', 'a3', 'b1'].map((id) => new FakeClient(id, {}, id.charAt(0)));
    const [a1, a2, a3, b1] = sessions as [FakeClient, FakeClient, FakeClient, FakeClient];
    await Promise.all([a1, a2, b1].map((session) => sessionLinks.get(session)));
    expect(await refusalOf(sessionLinks.get(a3))).toMatchObject({
      kind: 'limit-exceeded',
      data: { code: 'LimitExceeded', limit: 2 },
    });
    const closing = deferred();
    links[0]!.close = () => closing.promise;
    a1.close();
    await flushPromises();
    expect(await refusalOf(sessionLinks.get(a3))).toMatchObject({ kind: 'limit-exceeded' });
    closing.resolve();
    await flushPromises();
    await sessionLinks.get(a3);
    expect(sessionLinks.size).toBe(3);
  });

  it('releases the place of a link that could not be opened or was lost', async () => {
    const harness = new Harness();
    const client = new FakeClient('a');
    for (let n = 0; n < 3; n++) {
      harness.connect = () => Promise.reject(new Error('no'));
      await refusalOf(harness.sessionLinks.get(client));
      harness.connect = () => Promise.resolve(new FakeLink());
      await harness.sessionLinks.get(client);
      harness.links.at(-1)!.disconnect();
      await flushPromises();
    }
    expect(harness.sessionLinks.size).toBe(0);
  });

  it('aborts opening a link when its session ends', async () => {
    const harness = new Harness();
    const nextLink = deferred<FakeLink>();
    harness.connect = () => nextLink.promise;
    const client = new FakeClient('a');
    const outcome = outcomeOf(harness.sessionLinks.get(client));
    client.close();
    expect(harness.signals[0]?.aborted).toBe(true);
    nextLink.resolve(new FakeLink());
    await flushPromises();
    expect(outcome.value).toBeDefined();
    expect(harness.links[0]?.closes).toBe(1);
    expect(harness.sessionLinks.size).toBe(0);
  });

  it('opens no link for a session that has ended', async () => {
    const harness = new Harness();
    const client = new FakeClient('a');
    client.close();
    expect(await refusalOf(harness.sessionLinks.get(client))).toMatchObject({
      kind: 'server-unavailable',
      cause: { message: 'the session of the client has ended' },
    });
    expect(harness.links).toHaveLength(0);
    expect(harness.sessionLinks.size).toBe(0);
    expect(client.closeListeners.size).toBe(0);
  });

  it('opens a new link after the first is lost, and keeps the new link open', async () => {
    const { sessionLinks, links } = new Harness();
    const client = new FakeClient('a');
    await sessionLinks.get(client);
    links[0]!.disconnect();
    await flushPromises();
    expect(sessionLinks.size).toBe(0);
    const second = await sessionLinks.get(client);
    await flushPromises();
    expect(second).toBe(links[1]);
    expect(links[1]!.closes).toBe(0);
    expect(client.closeListeners.size).toBe(1);
  });

  it('leaves no entry and no listener behind when opening fails', async () => {
    const harness = new Harness();
    harness.connect = () => Promise.reject(new Error('no'));
    const client = new FakeClient('a');
    expect(await refusalOf(harness.sessionLinks.get(client))).toMatchObject({
      kind: 'server-unavailable',
      cause: { message: 'no' },
    });
    await flushPromises();
    expect(harness.sessionLinks.size).toBe(0);
    expect(client.closeListeners.size).toBe(0);
    harness.connect = () => Promise.resolve(new FakeLink());
    await expect(harness.sessionLinks.get(client)).resolves.toBeInstanceOf(FakeLink);
  });

  it('sends a notification only over an existing link', async () => {
    const { sessionLinks, links, owners } = new Harness();
    const [a, b] = [new FakeClient('a'), new FakeClient('b')];
    await sessionLinks.get(a);
    sessionLinks.notify(a, 'notifications/roots/list_changed');
    sessionLinks.notify(b, 'notifications/roots/list_changed');
    await flushPromises();
    expect(links[0]!.notified).toEqual(['notifications/roots/list_changed']);
    expect(owners).toEqual([a]);
  });

  it('calls the forEach callback for every link that could be opened', async () => {
    const harness = new Harness();
    await harness.sessionLinks.get(new FakeClient('a'));
    harness.connect = () => Promise.reject(new Error('no'));
    outcomeOf(harness.sessionLinks.get(new FakeClient('b')));
    const seen: Link[] = [];
    harness.sessionLinks.forEach((link) => seen.push(link));
    await flushPromises();
    expect(seen).toEqual(harness.links);
  });

  it('closes all links, and opens no more', async () => {
    const { sessionLinks, links, signals } = new Harness();
    const clients = [new FakeClient('a'), new FakeClient('b')];
    await Promise.all(clients.map((client) => sessionLinks.get(client)));
    await sessionLinks.closeAll();
    expect(links.map(({ closes }) => closes)).toEqual([1, 1]);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(clients.map(({ closeListeners }) => closeListeners.size)).toEqual([0, 0]);
    expect(await refusalOf(sessionLinks.get(clients[0]!))).toMatchObject({
      kind: 'server-unavailable',
    });
    expect(links).toHaveLength(2);
  });
});
