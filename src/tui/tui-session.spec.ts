import { describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { FakeAdminApi } from '../../test/kit/fake-admin-api.js';
import { resource, server, tool } from '../../test/kit/tui-model.js';
import { until } from '../../test/kit/until.js';
import { selectedRow } from './model/model.js';
import { knownLength } from './model/paged-list.js';
import { TuiSession } from './tui-session.js';

async function startSession(api: FakeAdminApi, project?: string): Promise<TuiSession> {
  const session = new TuiSession({
    api: api.api,
    project,
    preview: (uri) => Promise.resolve([`contents of ${uri}`]),
    size: { columns: 80, rows: 24 },
  });
  onCleanup(() => session.stop());
  session.start();
  await until('servers are loaded', () => session.model.servers.length > 0);
  return session;
}

const press = (session: TuiSession, ...keys: string[]): void => {
  for (const key of keys) session.dispatch({ type: 'key', key });
};

const fakeApi = () =>
  new FakeAdminApi({
    servers: [server('files')],
    resources: [resource('a.txt'), resource('b.txt')],
    tools: [tool('read')],
  });

describe('TuiSession', () => {
  it('requests only what the screen shows', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    press(session, '4');
    await until('resources are loaded', () => knownLength(session.model.lists.resources.paged) === 2);
    expect(api.requests).not.toContain('tools');
    expect(api.requests).not.toContain('prompts');
  });

  it('reloads a list once for many events', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    press(session, '2');
    await until('tools are loaded', () => knownLength(session.model.lists.tools.paged) === 1);
    api.requests.length = 0;
    api.gateway = { ...api.gateway, tools: [tool('read'), tool('write')] };
    for (let times = 0; times < 100; times++) api.emit('catalog', { kind: 'tools', servers: ['files'] });
    await until('the new tool is loaded', () => knownLength(session.model.lists.tools.paged) === 2);
    expect(api.requests.filter((what) => what === 'tools')).toHaveLength(1);
  });

  it('shows a change within a second', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    press(session, '2');
    await until('tools are loaded', () => knownLength(session.model.lists.tools.paged) === 1);
    jest.useFakeTimers();
    onCleanup(() => void jest.useRealTimers());
    api.gateway = { ...api.gateway, tools: [tool('read'), tool('write')] };
    api.emit('catalog', { kind: 'tools', servers: ['files'] });
    await jest.advanceTimersByTimeAsync(1000);
    expect(knownLength(session.model.lists.tools.paged)).toBe(2);
  });

  it('keeps its lists while the connection is lost and reloads them afterwards', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    press(session, '4');
    await until('resources are loaded', () => knownLength(session.model.lists.resources.paged) === 2);
    api.problem = 'connection refused';
    api.breakFeeds();
    await until('the connection is lost', () => session.model.connection.state === 'lost');
    expect(knownLength(session.model.lists.resources.paged)).toBe(2);
    api.problem = undefined;
    api.gateway = { ...api.gateway, resources: [resource('c.txt')] };
    press(session, 'R');
    await until('the connection is live', () => session.model.connection.state === 'live');
    await until('the list is reloaded', () => selectedRow(session.model)?.key.endsWith('c.txt'));
  });

  it('runs a confirmed action and shows its result', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    press(session, 'd', 'y');
    await until('the action is done', () => session.model.notice?.text === 'files is disabled');
    expect(api.requests).toContain('disable files');
    api.problem = 'no space left';
    press(session, 'd', 'y');
    await until('the action has failed', () => session.model.notice?.text === 'no space left');
    expect(session.model).toMatchObject({ runningAction: undefined, notice: { tone: 'bad' } });
  });

  it('shows why a list cannot be loaded and retries with R', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    api.problem = 'oops';
    press(session, '3');
    await until('the problem is shown', () => session.model.lists.prompts.problem === 'oops');
    const requestsBefore = api.requests.filter((what) => what === 'prompts').length;
    press(session, 'j', 'k');
    expect(api.requests.filter((what) => what === 'prompts')).toHaveLength(requestsBefore);
    api.problem = undefined;
    press(session, 'R');
    await until('the list is loaded', () => session.model.lists.prompts.paged.pages.length === 1);
    expect(session.model.lists.prompts.problem).toBeUndefined();
  });

  it('shows the result of the last of several searches', async () => {
    const api = fakeApi();
    const session = await startSession(api);
    press(session, '4', '/', 'b', '.', 't', 'x', 't');
    await until('the search result is loaded', () => knownLength(session.model.lists.resources.paged) === 1);
    expect(selectedRow(session.model)?.key).toContain('b.txt');
  });

  it('shows only servers of its project and follows changes of the project', async () => {
    const api = fakeApi();
    const session = await startSession(api, 'logs');
    expect(session.model.gateway).toBe('127.0.0.1:3000 project logs');
    api.emit('server', server('other'));
    api.emit('server', server('files', { calls: 7 }));
    await until('the event of its own server is applied', () => session.model.servers[0]?.calls === 7);
    expect(session.model.servers).toHaveLength(1);
    api.gateway = { ...api.gateway, servers: [server('files'), server('other')] };
    api.emit('project', { id: 'logs', servers: ['files', 'other'] });
    await until('the other server is loaded', () => session.model.servers.length === 2);
  });

  it('shows a preview of a resource', async () => {
    const session = await startSession(fakeApi());
    press(session, '4');
    await until('resources are loaded', () => selectedRow(session.model));
    press(session, 'p');
    await until('the preview is loaded', () => session.model.details.preview?.lines);
    expect(session.model.details.preview?.lines).toEqual([`contents of ${resource('a.txt').uri}`]);
  });
});
