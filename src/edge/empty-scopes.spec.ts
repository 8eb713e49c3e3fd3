import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { only } from '../../test/kit/offers.js';
import { recordLog } from '../../test/kit/log-lines.js';
import type { DesiredServers } from '../backends/desired-servers.js';
import { Limits } from '../config/limits.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { Metrics } from '../metrics/metrics.js';
import { EmptyScopes } from './empty-scopes.js';
import { Sessions } from './sessions.service.js';

const grants = new Set(['gone']);

describe('EmptyScopes', () => {
  let metrics: Metrics;
  let sessions: Sessions;
  let log: ReturnType<typeof recordLog>;

  beforeEach(() => {
    log = recordLog();
    metrics = new Metrics(new Registry());
    sessions = new Sessions(new Limits(), metrics);
    const desired = { current: new Map([['files', {}]]) } as unknown as DesiredServers;
    new EmptyScopes(sessions, desired, metrics).onModuleInit();
  });

  function open(scope: Scope, principal = 'ci', project?: string) {
    const session = sessions.create({ id: principal, grants });
    session.bindProject(project, scope);
    sessions.add(session);
    return session;
  }

  const count = async (): Promise<number> =>
    Number(/^gatehouse_empty_scopes_total (\d+)$/m.exec(await metrics.text())?.[1]);
  const logged = (): unknown[] =>
    log
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ message }) => String(message).startsWith('a client sees no server'))
      .map(({ principal, projects }) => [principal, projects]);

  it('counts every session without servers and logs its principal once', async () => {
    open(only());
    open(only('removed'));
    open(only(), 'other');
    expect(await count()).toBe(3);
    expect(logged()).toEqual([
      ['ci', ['gone']],
      ['other', ['gone']],
    ]);
  });

  it('ignores sessions with a server, and those without any limit', async () => {
    open(only('files'));
    open(EVERYTHING);
    expect([await count(), logged()]).toEqual([0, []]);
  });

  it('counts a session that loses its last server, and logs again after it had one', async () => {
    const session = open(only());
    session.scope = only('files');
    session.scope = only();
    expect(await count()).toBe(2);
    expect(logged()).toHaveLength(2);
  });

  it('logs a project once also while the principal sees servers in another', () => {
    for (let times = 0; times < 2; times++) {
      open(only('files'), 'ci', 'full');
      open(only(), 'ci', 'empty');
    }
    expect(logged()).toEqual([['ci', ['empty']]]);
  });

  it('forgets the principal that was logged first when 1000 others are logged', () => {
    for (let at = 0; at <= 1000; at++) open(only(), `p${at}`);
    open(only(), 'p1000');
    expect(logged()).toHaveLength(1001);
    open(only(), 'p0');
    expect(logged()).toHaveLength(1002);
  });
});
