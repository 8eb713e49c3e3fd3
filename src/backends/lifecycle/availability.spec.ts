import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, settled } from '../../../test/kit/fake-link.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { Availability } from './availability.js';
import type { Link } from '../link/link.js';
import type { ConnectionState } from './supervisor.js';

const TIMEOUT = new GatewayError('timeout', 'late');
const REFUSAL = new RemoteError(1, 'no', '{}');

describe('the availability of a server', () => {
  let link: FakeLink;
  let supervisor: {
    link: Link | undefined;
    state: ConnectionState;
    reason: Error | undefined;
    isReinitializing: boolean;
  };
  let changes: number;
  let availability: Availability;
  let lines: string[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    lines = recordLog();
    link = new FakeLink();
    supervisor = { link, state: 'ready', reason: undefined, isReinitializing: false };
    changes = 0;
    availability = new Availability('db', supervisor, () => changes++);
  });
  afterEach(() => void jest.useRealTimers());

  const why = (): string | undefined => availability.refusal()?.message;

  async function follow(over: Link, ...outcomes: readonly (Error | 'answered')[]): Promise<void> {
    for (const outcome of outcomes) {
      const answer = outcome === 'answered' ? Promise.resolve() : Promise.reject(outcome);
      availability.follow(over, answer);
      // Whoever called hears of it.
      await answer.catch(() => {});
      await settled();
    }
  }

  it('is refused by nothing while the link is up and the server answers', async () => {
    await follow(link, 'answered');
    expect(why()).toBeUndefined();
  });

  it.each<[string, Error | undefined, string]>([
    ['why there is no link', new Error('no route'), 'no route'],
    ['what is being done, where nothing went wrong yet', undefined, 'connecting'],
  ])('is refused with %s', (_what, reason, words) => {
    Object.assign(supervisor, { link: undefined, state: 'connecting', reason });
    expect(why()).toBe(`SERVER_UNAVAILABLE: server db is not available: ${words}`);
    expect(availability.refusal()?.cause).toBe(reason);
  });

  it('is not lost while a server that has only forgotten us is greeted again, unless it is disabled', () => {
    Object.assign(supervisor, { link: undefined, state: 'connecting', isReinitializing: true });
    expect(why()).toBeUndefined();
    availability.retired = true;
    expect(why()).toMatch(/it was disabled$/);
  });

  it('ends with the decision to disable it, whatever the link does', () => {
    availability.retired = true;
    expect(why()).toMatch(/it was disabled$/);
    supervisor.link = undefined;
    expect(why()).toMatch(/it was disabled$/);
  });

  it('is lost after three timeouts in a row, and back with the next answer, which is told and logged', async () => {
    await follow(link, TIMEOUT, TIMEOUT, TIMEOUT);
    expect([why(), availability.hangs, changes]).toEqual([
      expect.stringMatching(/it does not answer$/),
      true,
      1,
    ]);
    await follow(link, 'answered');
    expect([why(), availability.hangs, changes]).toEqual([undefined, false, 2]);
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'server does not answer',
      'server answers again',
    ]);
  });

  it.each<[string, Error]>([
    ['a refusal, which is an answer', REFUSAL],
    ['a cancellation, which says nothing', new GatewayError('cancelled', 'x')],
  ])('is not lost by %s', async (_what, error) => {
    await follow(link, TIMEOUT, TIMEOUT, error, error, error);
    expect(why()).toBeUndefined();
  });

  it('is not judged by the link that one client has to itself', async () => {
    await follow(new FakeLink(), TIMEOUT, TIMEOUT, TIMEOUT);
    expect(why()).toBeUndefined();
  });

  it('is judged anew over the next link', async () => {
    await follow(link, TIMEOUT, TIMEOUT, TIMEOUT);
    availability.lost();
    expect([why(), changes]).toEqual([undefined, 1]);
  });
});
