import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../test/kit/fake-client.js';
import { FakeLink } from '../../test/kit/fake-link.js';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { until } from '../../test/kit/until.js';
import { StdioServerConfig } from '../config/stdio-server-config.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { Backend } from './backend.js';
import type { ServerNotification } from './link/link.js';

const LOGGING = { capabilities: { logging: {}, tools: {} } };
const MESSAGE = 'notifications/message';

/** A backend whose links have the logging capability, and what it reports. */
class Served {
  /** Links by the client they belong to; the shared one has no owner. */
  readonly links: { owner: string | undefined; link: FakeLink }[] = [];
  readonly notified: ServerNotification[] = [];
  /** Notifications over session links. */
  readonly sessionNotified: ServerNotification[] = [];
  readonly owners: [string, unknown][] = [];
  connect: () => Promise<FakeLink> = () => Promise.resolve(new FakeLink({}, LOGGING));
  readonly backend: Backend;

  constructor(config: Partial<StdioServerConfig>) {
    this.backend = new Backend(
      'db',
      Object.assign(new StdioServerConfig(), config),
      async (_signal, owner) => {
        const link = await this.connect();
        this.links.push({ owner: owner?.id, link });
        return link;
      },
      {
        listed: async () => {},
        notified: (notification, owner) => (owner ? this.sessionNotified : this.notified).push(notification),
        linkChanged: () => {},
        sessionLinkOpened: (link, owner) => this.owners.push([owner.id, link]),
        stateChanged: () => {},
      },
    );
  }

  static async ready(isolation: 'shared' | 'session' = 'shared'): Promise<Served> {
    const served = new Served({ isolation });
    served.backend.start();
    await flushPromises();
    return served;
  }

  linkOf(owner?: string): FakeLink {
    return this.links.findLast((entry) => entry.owner === owner)!.link;
  }

  call(caller: FakeCaller): Promise<JsonText> {
    return this.backend.call({ method: 'tools/call', params: undefined, caller });
  }
}

/** The log levels that were sent to the server, in order. */
const levels = (link: FakeLink): unknown[] =>
  link.requests
    .filter(({ method }) => method === 'logging/setLevel')
    .map(({ params }) => (JSON.parse(params!) as { level: unknown }).level);

beforeEach(() => Logger.overrideLogger(false));

describe('Backend notifications', () => {
  it('fetch the list after a list change and are not passed on', async () => {
    const served = await Served.ready();
    served.linkOf().asked('tools/list').answer({ tools: [] });
    served.linkOf().emit('notifications/tools/list_changed');
    await until('it is fetched again', () => served.linkOf().count('tools/list') === 2);
    expect(served.notified).toEqual([]);
  });

  it('are passed on when they concern no list and no log', async () => {
    const served = await Served.ready();
    served.linkOf().emit('notifications/resources/updated', { uri: 'x' });
    expect(served.notified).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'x' } },
    ]);
  });
});

describe('Backend log messages', () => {
  it('go only to the client whose call they belong to', async () => {
    const served = await Served.ready();
    const caller = new FakeClient('a').call();
    served.linkOf().emit(MESSAGE, { level: 'info', data: 'x' }, { channel: caller });
    expect(caller.notifications).toEqual([{ method: MESSAGE, params: { level: 'info', data: 'x' } }]);
    expect(served.notified).toEqual([]);
  });

  it('are dropped when their call is ambiguous', async () => {
    const served = await Served.ready();
    served.linkOf().emit(MESSAGE, { level: 'info' }, { ambiguous: true });
    expect(served.notified).toEqual([]);
  });

  it('are passed on when they belong to no call', async () => {
    const served = await Served.ready();
    served.linkOf().emit(MESSAGE, { level: 'info' });
    expect(served.notified).toMatchObject([{ method: MESSAGE, paramsText: '{"level":"info"}' }]);
  });

  it('are dropped without params', async () => {
    const served = await Served.ready();
    served.linkOf().emit(MESSAGE, {}, { paramsText: undefined });
    expect(served.notified).toEqual([]);
  });

  it('over a session link go to its session, as do resource updates; other notifications are dropped', async () => {
    const served = await Served.ready('session');
    const client = new FakeClient('a');
    outcomeOf(served.call(client.call()));
    await flushPromises();
    served.linkOf('a').emit(MESSAGE, { level: 'info' }, { channel: client });
    served.linkOf('a').emit('notifications/resources/updated', { uri: 'x' });
    served.linkOf('a').emit('notifications/tools/list_changed');
    expect(client.notifications).toMatchObject([{ method: MESSAGE }]);
    expect(served.notified).toEqual([]);
    expect(served.sessionNotified).toMatchObject([{ params: { uri: 'x' } }]);
    expect(served.owners).toEqual([['a', served.linkOf('a')]]);
  });
});

describe('Backend.setLogLevel', () => {
  it('sends the level to the server once', async () => {
    const served = await Served.ready();
    served.backend.setLogLevel('debug');
    served.backend.setLogLevel('debug');
    served.backend.setLogLevel('error');
    expect(levels(served.linkOf())).toEqual(['debug', 'error']);
  });

  it('sends the level again after every reconnect', async () => {
    const served = await Served.ready();
    served.backend.setLogLevel('debug');
    served.backend.reconnect();
    await flushPromises();
    expect(served.links).toHaveLength(2);
    expect(levels(served.linkOf())).toEqual(['debug']);
  });

  it('sends a level that was set before the link was opened', async () => {
    const served = new Served({});
    served.backend.setLogLevel('notice');
    served.backend.start();
    await flushPromises();
    expect(levels(served.linkOf())).toEqual(['notice']);
  });

  it('does not send the level to a server without the logging capability', async () => {
    const served = new Served({});
    served.connect = () => Promise.resolve(new FakeLink());
    served.backend.start();
    await flushPromises();
    served.backend.setLogLevel('debug');
    expect(levels(served.linkOf())).toEqual([]);
  });

  it('ignores an error of the server', async () => {
    const served = await Served.ready();
    served.backend.setLogLevel('debug');
    served.linkOf().asked('logging/setLevel').fail(new Error('no'));
    await flushPromises();
    expect(served.backend.status().state).toBe('ready');
  });

  it('sends the level over session links, also over those opened later', async () => {
    const served = await Served.ready('session');
    outcomeOf(served.call(new FakeClient('a').call()));
    await flushPromises();
    served.backend.setLogLevel('debug');
    outcomeOf(served.call(new FakeClient('b').call()));
    await flushPromises();
    for (const owner of [undefined, 'a', 'b']) expect(levels(served.linkOf(owner))).toEqual(['debug']);
  });
});

describe('Backend with isolation per session', () => {
  it('opens a link for each session beside the one for listings', async () => {
    const served = await Served.ready('session');
    const [a, b] = [new FakeClient('a'), new FakeClient('b')];
    const calls = [served.call(a.call()), served.call(a.call()), served.call(b.call())];
    await flushPromises();
    expect(served.links.map(({ owner }) => owner)).toEqual([undefined, 'a', 'b']);
    for (const { link } of served.links)
      for (const asked of link.inFlight) if (asked.method === 'tools/call') asked.answer({});
    await Promise.all(calls);
    expect(served.linkOf('a').count('tools/call')).toBe(2);
    expect(served.linkOf().count('tools/call')).toBe(0);
  });

  it('closes the link when its session ends', async () => {
    const served = await Served.ready('session');
    const client = new FakeClient('a');
    const outcome = outcomeOf(served.call(client.call()));
    await flushPromises();
    client.close();
    await flushPromises();
    expect(served.linkOf('a').closes).toBeGreaterThan(0);
    expect(served.linkOf().closes).toBe(0);
    expect(outcome.error).toMatchObject({ kind: 'server-unavailable' });
  });

  it('rejects calls of a session whose link cannot be opened', async () => {
    const served = await Served.ready('session');
    served.connect = () => Promise.reject(new Error('spawn failed'));
    const error = await refusalOf(served.call(new FakeClient('a').call()));
    expect(error).toMatchObject({ kind: 'server-unavailable', data: { server: 'db' } });
    expect(error.message).toContain('spawn failed');
  });

  it('rejects a cancelled call while its link is being opened', async () => {
    const served = await Served.ready('session');
    served.connect = () => new Promise(() => {});
    const caller = new FakeClient('a').call();
    const refusal = refusalOf(served.call(caller));
    await flushPromises();
    caller.cancel();
    expect(await refusal).toMatchObject({ kind: 'cancelled' });
    expect(served.backend.status().inFlight).toBe(0);
  });

  it('sends notifications of a session over its link', async () => {
    const served = await Served.ready('session');
    const client = new FakeClient('a');
    outcomeOf(served.call(client.call()));
    await flushPromises();
    served.backend.notifySessionLink(client, 'notifications/roots/list_changed');
    await flushPromises();
    expect(served.linkOf('a').notified).toEqual(['notifications/roots/list_changed']);
    expect(served.linkOf().notified).toEqual([]);
  });

  it('closes all links when it is stopped', async () => {
    const served = await Served.ready('session');
    outcomeOf(served.call(new FakeClient('a').call()));
    outcomeOf(served.call(new FakeClient('b').call()));
    await flushPromises();
    await served.backend.stop();
    expect(served.links.every(({ link }) => link.closes > 0)).toBe(true);
  });

  it('rejects a session link where sessions share one link', async () => {
    const served = await Served.ready('shared');
    outcomeOf(served.call(new FakeClient('a').call()));
    await flushPromises();
    expect(served.links).toHaveLength(1);
    served.backend.notifySessionLink(new FakeClient('a'), 'notifications/roots/list_changed');
    expect(served.linkOf().notified).toEqual([]);
  });
});
