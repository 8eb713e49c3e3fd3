import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import type { Events } from '../kit/events.js';
import { launchGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

type Data = Record<string, unknown>;

describe('the event feed', () => {
  let config: string;
  let gateway: Gateway;
  let admin: AdminClient;
  let feed: Events;

  beforeAll(async () => {
    const server = (await ScriptedServer.start()).tool('one', () => text('1'));
    config = writeConfig({ admin: { token: ADMIN_TOKEN }, mcpServers: { one: server.http } });
    gateway = launchGateway(['--config', config]);
    await gateway.listening();
    await gateway.listed({ tools: ['one'] });
    admin = new AdminClient(gateway);
    feed = await admin.events();
  });

  const published = (what: string, matches: (data: Data) => boolean, from = 0): Promise<Data> =>
    until(`the feed publishes ${what}`, () => (feed.messages as Data[]).slice(from).find(matches));

  it('starts with the revision of the decisions', async () => {
    const first = await published('the snapshot', () => true);
    expect(first).toEqual({ revision: 0, at: expect.any(String) });
  });

  it('answers a HEAD without opening a stream', async () => {
    expect(await admin.send('HEAD', 'events')).toMatchObject({ status: 200, text: '' });
  });

  it('publishes servers, catalog changes and decisions', async () => {
    await admin.post('servers/one/disable');
    await published('the server', ({ id, state }) => id === 'one' && state === 'disabled');
    await published('the list', ({ kind, servers }) => kind === 'tools' && String(servers) === 'one');
    await published('the decision', ({ revision, at }) => revision === 1 && at === undefined);
    const from = feed.all.length;
    await admin.post('servers/one/enable');
    const ready = await published('the server', ({ id, state }) => id === 'one' && state === 'ready', from);
    expect(ready).toMatchObject({ enabled: true, transport: 'http' });
  });

  it('publishes sessions', async () => {
    const session = await RawSession.open(gateway.url);
    const { id } = await published('the session', ({ principal }) => principal === 'anonymous');
    const changed = (what: string, members: Data): Promise<Data> =>
      published(what, (data) =>
        Object.entries({ id, ...members }).every(([name, value]) => data[name] === value),
      );
    const stream = await session.listen();
    await changed('its stream', { hasStream: true, streams: 1 });
    await session.callTool('one__one');
    await changed('its call', { calls: 1, inFlight: 0 });
    const from = feed.all.length;
    stream.disconnect();
    await published(
      'the end of its stream',
      (data) => data['id'] === id && data['hasStream'] === false,
      from,
    );
    await session.end();
    await published('its end', (data) => data['id'] === id && data['closed'] === true);
    expect(JSON.stringify(feed.all)).not.toContain(session.id);
  });

  it('publishes projects', async () => {
    await admin.put('projects/p', { servers: ['one'] });
    await published('the project', ({ id, servers }) => id === 'p' && String(servers) === 'one');
    await admin.delete('projects/p');
    const removal = await published('its end', ({ id, removed }) => id === 'p' && removed === true);
    expect(removal).toEqual({ id: 'p', removed: true });
  });

  it('publishes successful and failed reloads', async () => {
    await admin.post('config/reload');
    await published('the reload', ({ ok }) => ok === true);
    const good = readFileSync(config, 'utf8');
    writeFileSync(config, '{ "unknownKey": 1 }');
    expect(await admin.post('config/reload')).toMatchObject({
      status: 422,
      json: { type: 'urn:gatehouse:problem:invalid-config', detail: expect.stringContaining('unknownKey') },
    });
    await published(
      'the failure',
      ({ ok, problem }) => ok === false && String(problem).includes('unknownKey'),
    );
    expect((await admin.get('config')).json).toMatchObject({ ok: false });
    expect((await admin.get('servers')).json).toMatchObject({ servers: [{ id: 'one', enabled: true }] });
    writeFileSync(config, good);
  });

  it('names its events, and ends at shutdown with draining, which does not wait for readers', async () => {
    const { port } = new URL(gateway.url);
    const idle = connect(Number(port), '127.0.0.1');
    await once(idle, 'connect');
    idle.on('error', () => {});
    const head = ['GET /admin/v1/events HTTP/1.1', 'host: 127.0.0.1', `authorization: Bearer ${ADMIN_TOKEN}`];
    idle.pause().write(`${head.join('\r\n')}\r\n\r\n`);
    const started = Date.now();
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    expect(Date.now() - started).toBeLessThan(15_000);
    await feed.untilEnded();
    const names = feed.all.map(({ name }) => name);
    expect(names[0]).toBe('snapshot');
    expect(new Set(names.slice(1, -1))).toEqual(
      new Set(['server', 'catalog', 'decisions', 'session', 'project', 'config']),
    );
    expect(feed.all.at(-1)).toMatchObject({ name: 'draining' });
    expect(feed.messages.at(-1)).toEqual({ at: expect.stringMatching(/^20\S+Z$/) });
    expect(gateway.logs.filter((line) => JSON.stringify(line).includes('"stack"'))).toEqual([]);
    idle.destroy();
  });
});
