import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../test/kit/fake-client.js';
import { FakeLink } from '../../test/kit/fake-link.js';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { until } from '../../test/kit/until.js';
import { StdioServerConfig } from '../config/stdio-server-config.js';
import { RemoteError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { Backend } from './backend.js';
import type { ServerNotification } from './link/link.js';

const LOGGING = { capabilities: { logging: {}, tools: {} } };
const MESSAGE = 'notifications/message';

/** A backend whose links have the logging capability, and the events that it reports. */
class Harness {
  /** All links with the id of their session; the shared link has no owner. */
  readonly links: { owner: string | undefined; link: FakeLink }[] = [];
  readonly notified: ServerNotification[] = [];
  /** Notifications over session links. */
  readonly sessionNotified: ServerNotification[] = [];
  readonly sessionLinks: [string, unknown][] = [];
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
        sessionLinkOpened: (link, owner) => this.sessionLinks.push([owner.id, link]),
        stateChanged: () => {},
        sessionListed: async () => {},
        sessionListOverLimit: () => {},
      },
    );
  }

  static async ready(isolation: 'shared' | 'session' = 'shared'): Promise<Harness> {
    const harness = new Harness({ isolation });
    harness.backend.start();
    await flushPromises();
    return harness;
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
  it('of a list change cause a sync and are not passed on', async () => {
    const harness = await Harness.ready();
    harness.linkOf().asked('tools/list').answer({ tools: [] });
    harness.linkOf().emit('notifications/tools/list_changed');
    await until('it is fetched again', () => harness.linkOf().count('tools/list') === 2);
    expect(harness.notified).toEqual([]);
  });

  it('are passed on when they concern no list and no log', async () => {
    const harness = await Harness.ready();
    harness.linkOf().emit('notifications/resources/updated', { uri: 'x' });
    expect(harness.notified).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'x' } },
    ]);
  });
});

describe('Backend log messages', () => {
  it('go only to the client whose call they belong to', async () => {
    const harness = await Harness.ready();
    const caller = new FakeClient('a').call();
    harness.linkOf().emit(MESSAGE, { level: 'info', data: 'x' }, { channel: caller });
    expect(caller.notifications).toEqual([{ method: MESSAGE, params: { level: 'info', data: 'x' } }]);
    expect(harness.notified).toEqual([]);
  });

  it('are passed on when they belong to no call', async () => {
    const harness = await Harness.ready();
    harness.linkOf().emit(MESSAGE, { level: 'info' });
    expect(harness.notified).toMatchObject([{ method: MESSAGE, paramsText: '{"level":"info"}' }]);
  });

  it('are dropped without params', async () => {
    const harness = await Harness.ready();
    harness.linkOf().emit(MESSAGE, {}, { paramsText: undefined });
    expect(harness.notified).toEqual([]);
  });

  it('over a session link go to its session, as do resource updates; a list change causes a sync of that link', async () => {
    const harness = await Harness.ready('session');
    const client = new FakeClient('a');
    outcomeOf(harness.call(client.call()));
    await flushPromises();
    harness.linkOf('a').emit(MESSAGE, { level: 'info' }, { channel: client });
    harness.linkOf('a').emit('notifications/resources/updated', { uri: 'x' });
    harness.linkOf('a').asked('tools/list').answer({ tools: [] });
    harness.linkOf('a').emit('notifications/tools/list_changed');
    await until('it is fetched again', () => harness.linkOf('a').count('tools/list') === 2);
    expect(client.notifications).toMatchObject([{ method: MESSAGE }]);
    expect(harness.notified).toEqual([]);
    expect(harness.sessionNotified).toMatchObject([{ params: { uri: 'x' } }]);
    expect(harness.sessionLinks).toEqual([['a', harness.linkOf('a')]]);
  });
});

describe('Backend.setLogLevel', () => {
  it('sends the level to the server once', async () => {
    const harness = await Harness.ready();
    harness.backend.setLogLevel('debug');
    harness.backend.setLogLevel('debug');
    harness.backend.setLogLevel('error');
    expect(levels(harness.linkOf())).toEqual(['debug', 'error']);
  });

  it('sends the level again after every reconnect', async () => {
    const harness = await Harness.ready();
    harness.backend.setLogLevel('debug');
    harness.backend.reconnect();
    await flushPromises();
    expect(harness.links).toHaveLength(2);
    expect(levels(harness.linkOf())).toEqual(['debug']);
  });

  it('sends a level that was set before the link was opened', async () => {
    const harness = new Harness({});
    harness.backend.setLogLevel('notice');
    harness.backend.start();
    await flushPromises();
    expect(levels(harness.linkOf())).toEqual(['notice']);
  });

  it('does not send the level to a server without the logging capability', async () => {
    const harness = new Harness({});
    harness.connect = () => Promise.resolve(new FakeLink());
    harness.backend.start();
    await flushPromises();
    harness.backend.setLogLevel('debug');
    expect(levels(harness.linkOf())).toEqual([]);
  });

  it('ignores an error of the server', async () => {
    const harness = await Harness.ready();
    harness.backend.setLogLevel('debug');
    harness.linkOf().asked('logging/setLevel').fail(new Error('no'));
    await flushPromises();
    expect(harness.backend.status().state).toBe('ready');
  });

  it('sends the level over session links, also over those opened later', async () => {
    const harness = await Harness.ready('session');
    outcomeOf(harness.call(new FakeClient('a').call()));
    await flushPromises();
    harness.backend.setLogLevel('debug');
    outcomeOf(harness.call(new FakeClient('b').call()));
    await flushPromises();
    for (const owner of [undefined, 'a', 'b']) expect(levels(harness.linkOf(owner))).toEqual(['debug']);
  });
});

describe('Backend with session isolation', () => {
  it('opens a link for each session beside the one for listings', async () => {
    const harness = await Harness.ready('session');
    const [a, b] = [new FakeClient('a'), new FakeClient('b')];
    const calls = [harness.call(a.call()), harness.call(a.call()), harness.call(b.call())];
    await flushPromises();
    expect(harness.links.map(({ owner }) => owner)).toEqual([undefined, 'a', 'b']);
    for (const { link } of harness.links)
      for (const pending of link.inFlight) if (pending.method === 'tools/call') pending.answer({});
    await Promise.all(calls);
    expect(harness.linkOf('a').count('tools/call')).toBe(2);
    expect(harness.linkOf().count('tools/call')).toBe(0);
  });

  it('closes the link when its session ends', async () => {
    const harness = await Harness.ready('session');
    const client = new FakeClient('a');
    const outcome = outcomeOf(harness.call(client.call()));
    await flushPromises();
    client.close();
    await flushPromises();
    expect(harness.linkOf('a').closes).toBeGreaterThan(0);
    expect(harness.linkOf().closes).toBe(0);
    expect(outcome.error).toMatchObject({ kind: 'server-unavailable' });
  });

  it('rejects calls of a session whose link cannot be opened', async () => {
    const harness = await Harness.ready('session');
    harness.connect = () => Promise.reject(new Error('spawn failed'));
    const error = await refusalOf(harness.call(new FakeClient('a').call()));
    expect(error).toMatchObject({ kind: 'server-unavailable', data: { server: 'db' } });
    expect(error.cause).toMatchObject({ message: 'spawn failed' });
  });

  it('rejects a cancelled call while its link is being opened', async () => {
    const harness = await Harness.ready('session');
    harness.linkOf().asked('tools/list').answer({ tools: [] });
    harness.connect = () => new Promise(() => {});
    const caller = new FakeClient('a').call();
    const refusal = refusalOf(harness.call(caller));
    await flushPromises();
    caller.cancel();
    expect(await refusal).toMatchObject({ kind: 'cancelled' });
    expect(harness.backend.status().inFlight).toBe(0);
  });

  it('fetches the list of a session again when a call over its link is refused as unknown', async () => {
    const harness = await Harness.ready('session');
    const refusal = refusalOf(harness.call(new FakeClient('a').call()));
    await flushPromises();
    const link = harness.linkOf('a');
    link.notificationStream = 'none';
    link.asked('tools/list').answer({ tools: [] });
    link.asked('tools/call').fail(new RemoteError(-32602, 'Unknown tool', '{}'));
    expect(await refusal).toMatchObject({ code: -32602 });
    await until('the list is fetched again', () => link.count('tools/list') === 2);
    expect(harness.linkOf().count('tools/list')).toBe(1);
  });

  it('sends notifications of a session over its link', async () => {
    const harness = await Harness.ready('session');
    const client = new FakeClient('a');
    outcomeOf(harness.call(client.call()));
    await flushPromises();
    harness.backend.isolatedLinks?.notify(client, 'notifications/roots/list_changed');
    await flushPromises();
    expect(harness.linkOf('a').notified).toEqual(['notifications/roots/list_changed']);
    expect(harness.linkOf().notified).toEqual([]);
  });

  it('closes all links when it is stopped', async () => {
    const harness = await Harness.ready('session');
    outcomeOf(harness.call(new FakeClient('a').call()));
    outcomeOf(harness.call(new FakeClient('b').call()));
    await flushPromises();
    await harness.backend.stop();
    expect(harness.links.every(({ link }) => link.closes > 0)).toBe(true);
  });

  it('opens no session link when sessions share one link', async () => {
    const harness = await Harness.ready('shared');
    outcomeOf(harness.call(new FakeClient('a').call()));
    await flushPromises();
    expect(harness.links).toHaveLength(1);
    harness.backend.isolatedLinks?.notify(new FakeClient('a'), 'notifications/roots/list_changed');
    expect(harness.linkOf().notified).toEqual([]);
  });
});
