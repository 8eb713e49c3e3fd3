import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  FakeClient,
  FakeLink,
  outcomeOf,
  refusalOf,
  settled,
  type FakeCaller,
} from '../../test/kit/fake-link.js';
import { until } from '../../test/kit/until.js';
import { StdioServerConfig } from '../config/stdio-server-config.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { Backend } from './backend.js';
import type { ServerNotification } from './link/link.js';

const LOGGING = { capabilities: { logging: {}, tools: {} } };
const MESSAGE = 'notifications/message';

/** A backend whose links all log, and what the rest of the house hears of it. */
class Served {
  /** Links by the client they belong to; the one that clients share belongs to nobody. */
  readonly links: { owner: string | undefined; link: FakeLink }[] = [];
  readonly heard: ServerNotification[] = [];
  /** The same on links that one client has to itself. */
  readonly ownHeard: ServerNotification[] = [];
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
        listed: () => {},
        notified: (notification, owner) => (owner ? this.ownHeard : this.heard).push(notification),
        linkChanged: () => {},
        sessionLinkOpened: (link, owner) => this.owners.push([owner.id, link]),
        stateChanged: () => {},
      },
    );
  }

  static async ready(isolation: 'shared' | 'session' = 'shared'): Promise<Served> {
    const served = new Served({ isolation });
    served.backend.start();
    await settled();
    return served;
  }

  linkOf(owner?: string): FakeLink {
    return this.links.findLast((entry) => entry.owner === owner)!.link;
  }

  call(caller: FakeCaller): Promise<JsonText> {
    return this.backend.call({ method: 'tools/call', params: undefined, caller });
  }
}

/** The log levels a server was told, in order. */
const levels = (link: FakeLink): unknown[] =>
  link.requests
    .filter(({ method }) => method === 'logging/setLevel')
    .map(({ params }) => (JSON.parse(params!) as { level: unknown }).level);

beforeEach(() => Logger.overrideLogger(false));

describe('a notification of the server', () => {
  it('that a list has changed makes the list be fetched, and goes no further', async () => {
    const served = await Served.ready();
    served.linkOf().asked('tools/list').answer({ tools: [] });
    served.linkOf().say('notifications/tools/list_changed');
    await until('it is fetched again', () => served.linkOf().count('tools/list') === 2);
    expect(served.heard).toEqual([]);
  });

  it('that concerns no list and no log is handed on', async () => {
    const served = await Served.ready();
    served.linkOf().say('notifications/resources/updated', { uri: 'x' });
    expect(served.heard).toMatchObject([{ method: 'notifications/resources/updated', params: { uri: 'x' } }]);
  });
});

describe('a log message', () => {
  it('goes to the client whose call it belongs to, and to nobody else', async () => {
    const served = await Served.ready();
    const caller = new FakeClient('a').call();
    served.linkOf().say(MESSAGE, { level: 'info', data: 'x' }, { channel: caller });
    expect(caller.notices).toEqual([{ method: MESSAGE, params: { level: 'info', data: 'x' } }]);
    expect(served.heard).toEqual([]);
  });

  it('of a call that cannot be told is dropped', async () => {
    const served = await Served.ready();
    served.linkOf().say(MESSAGE, { level: 'info' }, { ambiguous: true });
    expect(served.heard).toEqual([]);
  });

  it('of no call is for everybody', async () => {
    const served = await Served.ready();
    served.linkOf().say(MESSAGE, { level: 'info' });
    expect(served.heard).toMatchObject([{ method: MESSAGE, paramsText: '{"level":"info"}' }]);
  });

  it('without params is nothing', async () => {
    const served = await Served.ready();
    served.linkOf().say(MESSAGE, {}, { paramsText: undefined });
    expect(served.heard).toEqual([]);
  });

  it("on a client's own link goes to that client, as does word of a resource; all else is for nobody", async () => {
    const served = await Served.ready('session');
    const client = new FakeClient('a');
    outcomeOf(served.call(client.call()));
    await settled();
    served.linkOf('a').say(MESSAGE, { level: 'info' }, { channel: client });
    served.linkOf('a').say('notifications/resources/updated', { uri: 'x' });
    served.linkOf('a').say('notifications/tools/list_changed');
    expect(client.notices).toMatchObject([{ method: MESSAGE }]);
    expect(served.heard).toEqual([]);
    expect(served.ownHeard).toMatchObject([{ params: { uri: 'x' } }]);
    expect(served.owners).toEqual([['a', served.linkOf('a')]]);
  });
});

describe('the log level', () => {
  it('is told to the server now, and not twice', async () => {
    const served = await Served.ready();
    served.backend.setLogLevel('debug');
    served.backend.setLogLevel('debug');
    served.backend.setLogLevel('error');
    expect(levels(served.linkOf())).toEqual(['debug', 'error']);
  });

  it('is told again after every reconnect', async () => {
    const served = await Served.ready();
    served.backend.setLogLevel('debug');
    served.backend.reconnect();
    await settled();
    expect(served.links).toHaveLength(2);
    expect(levels(served.linkOf())).toEqual(['debug']);
  });

  it('that was wanted before there was a link is told when there is one', async () => {
    const served = new Served({});
    served.backend.setLogLevel('notice');
    served.backend.start();
    await settled();
    expect(levels(served.linkOf())).toEqual(['notice']);
  });

  it('is not told to a server that does not log', async () => {
    const served = new Served({});
    served.connect = () => Promise.resolve(new FakeLink());
    served.backend.start();
    await settled();
    served.backend.setLogLevel('debug');
    expect(levels(served.linkOf())).toEqual([]);
  });

  it('that a server refuses does no harm', async () => {
    const served = await Served.ready();
    served.backend.setLogLevel('debug');
    served.linkOf().asked('logging/setLevel').fail(new Error('no'));
    await settled();
    expect(served.backend.status().state).toBe('ready');
  });

  it('is told over every link that a client has to itself, also those opened later', async () => {
    const served = await Served.ready('session');
    outcomeOf(served.call(new FakeClient('a').call()));
    await settled();
    served.backend.setLogLevel('debug');
    outcomeOf(served.call(new FakeClient('b').call()));
    await settled();
    for (const owner of [undefined, 'a', 'b']) expect(levels(served.linkOf(owner))).toEqual(['debug']);
  });
});

describe('a server that keeps its clients apart', () => {
  it('has a link for each client beside the one that lists', async () => {
    const served = await Served.ready('session');
    const [a, b] = [new FakeClient('a'), new FakeClient('b')];
    const calls = [served.call(a.call()), served.call(a.call()), served.call(b.call())];
    await settled();
    expect(served.links.map(({ owner }) => owner)).toEqual([undefined, 'a', 'b']);
    for (const { link } of served.links)
      for (const asked of link.open) if (asked.method === 'tools/call') asked.answer({});
    await Promise.all(calls);
    expect(served.linkOf('a').count('tools/call')).toBe(2);
    expect(served.linkOf().count('tools/call')).toBe(0);
  });

  it('closes the link with the client', async () => {
    const served = await Served.ready('session');
    const client = new FakeClient('a');
    const outcome = outcomeOf(served.call(client.call()));
    await settled();
    client.close();
    await settled();
    expect(served.linkOf('a').closes).toBeGreaterThan(0);
    expect(served.linkOf().closes).toBe(0);
    expect(outcome.error).toMatchObject({ kind: 'server-unavailable' });
  });

  it('is unavailable to a client whose link does not come up, whatever the reason', async () => {
    const served = await Served.ready('session');
    served.connect = () => Promise.reject(new Error('spawn failed'));
    const error = await refusalOf(served.call(new FakeClient('a').call()));
    expect(error).toMatchObject({ kind: 'server-unavailable', data: { server: 'db' } });
    expect(error.message).toContain('spawn failed');
  });

  it('does not keep a client waiting for its link that has cancelled', async () => {
    const served = await Served.ready('session');
    served.connect = () => new Promise(() => {});
    const caller = new FakeClient('a').call();
    const refusal = refusalOf(served.call(caller));
    await settled();
    caller.cancel();
    expect(await refusal).toMatchObject({ kind: 'cancelled' });
    expect(served.backend.status().inFlight).toBe(0);
  });

  it('tells it what only that client can say', async () => {
    const served = await Served.ready('session');
    const client = new FakeClient('a');
    outcomeOf(served.call(client.call()));
    await settled();
    served.backend.notifySessionLink(client, 'notifications/roots/list_changed');
    await settled();
    expect(served.linkOf('a').notified).toEqual(['notifications/roots/list_changed']);
    expect(served.linkOf().notified).toEqual([]);
  });

  it('closes every link when it is stopped', async () => {
    const served = await Served.ready('session');
    outcomeOf(served.call(new FakeClient('a').call()));
    outcomeOf(served.call(new FakeClient('b').call()));
    await settled();
    await served.backend.stop();
    expect(served.links.every(({ link }) => link.closes > 0)).toBe(true);
  });

  it('is never shared with a client when it is not meant to be', async () => {
    const served = await Served.ready('shared');
    outcomeOf(served.call(new FakeClient('a').call()));
    await settled();
    expect(served.links).toHaveLength(1);
    served.backend.notifySessionLink(new FakeClient('a'), 'notifications/roots/list_changed');
    expect(served.linkOf().notified).toEqual([]);
  });
});
