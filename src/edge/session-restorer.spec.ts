import { beforeEach, describe, expect, it } from '@jest/globals';
import { recordLog } from '../../test/kit/log-lines.js';
import { MemorySessionRecords, storedSession, storedSubscription } from '../../test/kit/session-records.js';
import type { StoredSession } from '../state/session-records.js';
import { NO_AUTH } from '../config/auth-settings.js';
import { Limits } from '../config/limits.js';
import { EVERYTHING } from '../core/scope.js';
import type { SubscriptionRestorer } from '../subscriptions/subscription-restorer.js';
import { Authenticator } from './auth/authenticator.js';
import type { LogMessages } from './log-messages.js';
import { SessionRestorer } from './session-restorer.js';
import type { SessionScopes } from './session-scopes.js';
import { Sessions } from './sessions.service.js';

const STORED_ANONYMOUS = { principal: { id: 'anonymous', grants: '*', terms: '' } } as const;

describe('SessionRestorer', () => {
  let records: MemorySessionRecords;
  let sessions: Sessions;
  let levels: string[];
  let lines: string[];
  /** URIs whose subscriptions cannot be restored. */
  let lost: string[];

  beforeEach(() => {
    lines = recordLog();
    records = new MemorySessionRecords();
    levels = [];
    lost = [];
  });

  async function restoreAll(limits: Partial<Limits> = {}): Promise<string[]> {
    sessions = new Sessions(Object.assign(new Limits(), limits));
    const restorer = new SessionRestorer(
      records,
      sessions,
      { scopeOf: () => EVERYTHING } as unknown as SessionScopes,
      {
        restore: (_client: unknown, { uri }: { uri: string }) => !lost.includes(uri),
      } as unknown as SubscriptionRestorer,
      new Authenticator(NO_AUTH),
      { setLevel: (_client: unknown, level: string) => levels.push(level) } as unknown as LogMessages,
    );
    return (await restorer.restoreAll()).map(({ id }) => id);
  }

  function store(id: string, more: Partial<StoredSession> = {}, agoMs = 0): void {
    records.put(storedSession(id, { ...STORED_ANONYMOUS, ...more }), Date.now() - agoMs);
    for (const n of [1, 2]) records.addSubscription(id, storedSubscription(`${id}${n}`));
  }
  const storedIds = (): string[] => [...records.stored.all()].map(({ session }) => session.id);

  it('restores all properties of a session', async () => {
    const clientInfo = { name: 'c', version: '1' };
    const profile = JSON.stringify({ capabilities: { roots: {} }, clientInfo });
    store('a', { project: 'one', revision: '2025-03-26', profile, logLevel: 'error', opened: 7 });
    expect(await restoreAll()).toEqual(['a']);
    expect(sessions.find('a')).toMatchObject({
      project: 'one',
      revision: { version: '2025-03-26' },
      capabilities: { roots: {} },
      clientInfo,
      profile: { clientLabel: 'c 1' },
      openedAt: 7,
      isReady: true,
      scope: EVERYTHING,
    });
    expect(levels).toEqual(['error']);
    expect(lines.join()).toContain('"message":"sessions restored"');
  });

  it('logs nothing without records', async () => {
    expect(await restoreAll()).toEqual([]);
    expect(lines).toEqual([]);
  });

  it.each<[string, Partial<StoredSession>, number]>([
    ['of another principal', { principal: { id: 'key:ci', grants: '*', terms: '' } }, 0],
    ['of an unsupported revision', { revision: '2024-01-01' }, 0],
    ['that have expired', {}, 3_600_000],
  ])('drops sessions %s', async (_which, more, agoMs) => {
    store('a', more, agoMs);
    expect(await restoreAll()).toEqual([]);
    expect([storedIds(), sessions.size]).toEqual([[], 0]);
  });

  it('restores a session without subscriptions, and drops subscriptions that are no longer allowed', async () => {
    store('a');
    store('b');
    records.put(storedSession('c', STORED_ANONYMOUS), Date.now());
    lost = ['x://a1', 'x://b1', 'x://b2'];
    expect((await restoreAll()).toSorted()).toEqual(['a', 'b', 'c']);
    expect([...records.stored.all()]).toMatchObject([
      { session: { id: 'a' }, subscriptions: [{ id: 'a2' }] },
      { session: { id: 'b' }, subscriptions: [] },
      { session: { id: 'c' }, subscriptions: [] },
    ]);
  });

  it('restores the most recently active sessions up to the limit', async () => {
    store('long ago', {}, 3000);
    store('now');
    store('a while ago', {}, 2000);
    expect(await restoreAll({ sessions: 2 })).toEqual(['now', 'a while ago']);
    expect(storedIds()).toEqual(['now', 'a while ago']);
  });
});
