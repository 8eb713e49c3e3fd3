import { describe, expect, it, jest } from '@jest/globals';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { flushPromises, outcomeOf } from '../../../test/kit/promises.js';
import { HttpSettings } from '../../config/http-settings.js';
import { Limits } from '../../config/limits.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Channel } from '../../mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import { Metrics } from '../../metrics/metrics.js';
import { MemoryQuotas } from '../../state/memory-quotas.js';
import type { Sessions } from '../sessions.service.js';
import type { SessionlessLinkOwner } from './sessionless-link-owner.js';
import { LinkOwners } from './link-owners.js';

useFakeTime();

const ALICE: Principal = { id: 'alice', grants: '*' };
const BOB: Principal = { id: 'bob', grants: '*' };

class Harness {
  readonly metrics = new Metrics();
  readonly owners: LinkOwners;
  passInterval: () => void = () => {};

  constructor(limits: Partial<Limits> = {}, host = '127.0.0.1') {
    const sessions = { onInterval: (listener: () => void) => (this.passInterval = listener) };
    this.owners = new LinkOwners(
      Object.assign(new Limits(), limits),
      Object.assign(new HttpSettings(), { host }),
      sessions as unknown as Sessions,
      this.metrics,
      new MemoryQuotas(),
    );
    this.owners.onModuleInit();
  }

  of(
    principal: Principal,
    sessionHandle?: unknown,
    quotaKey = principal.id,
  ): SessionlessLinkOwner | undefined {
    return this.owners.of({ principal, quotaKey, sessionHandle });
  }
}

/** A request of a client that answers every question with its name. */
class Request implements Channel {
  readonly notified: string[] = [];
  isParked = false;

  constructor(
    readonly name: string,
    readonly method = 'tools/call',
  ) {}

  notify = (method: string): void => void this.notified.push(method);
  sendRequest = (): Promise<JsonText> => Promise.resolve(JsonText.of(this.name));
}

describe('LinkOwners', () => {
  it('has one owner for each principal and handle', () => {
    const harness = new Harness();
    const keys = [
      [ALICE, undefined],
      [ALICE, 'a'],
      [ALICE, 'b'],
      [BOB, undefined],
      [BOB, 'a'],
      [ANONYMOUS, undefined],
    ] as const;
    const owners = keys.map(([principal, handle]) => harness.of(principal, handle));
    expect(new Set(owners.map((owner) => owner?.id)).size).toBe(keys.length);
    for (const [n, [principal, handle]] of keys.entries())
      expect(harness.of(principal, handle)).toBe(owners[n]);
  });

  it('lets all anonymous clients of this machine share one owner, and has none for others', () => {
    const local = new Harness();
    expect(local.of(ANONYMOUS, undefined, '127.0.0.1')).toBe(local.of(ANONYMOUS, undefined, '::1'));
    const remote = new Harness({}, '0.0.0.0');
    expect(remote.of(ANONYMOUS)).toBeUndefined();
    expect(remote.of(ALICE)).toBeDefined();
  });

  it.each(['', 'x'.repeat(129), 7, null, {}, ['a']])('refuses the handle %j', (handle) => {
    expect(() => new Harness().of(ALICE, handle)).toThrow(
      expect.objectContaining({
        kind: 'invalid-params',
        message: expect.stringContaining('io.gatehouse/session'),
      }),
    );
  });

  it('limits the handles of a principal like its processes, until they are closed', async () => {
    const harness = new Harness({ processesPerPrincipal: 2 });
    const first = harness.of(ALICE, 'a');
    harness.of(ALICE, 'b');
    expect(() => harness.of(ALICE, 'c')).toThrow(expect.objectContaining({ kind: 'limit-exceeded' }));
    expect(harness.of(ALICE, 'a')).toBe(first);
    expect(harness.of(BOB, 'c')).toBeDefined();
    expect(await harness.metrics.text()).toContain(
      'gatehouse_limit_refusals_total{limit="processesPerPrincipal"} 1',
    );
    first!.close();
    expect(harness.of(ALICE, 'c')).toBeDefined();
  });

  it('closes an owner that has had no request for the idle time, and none that runs one', async () => {
    const harness = new Harness({ sessionIdleMs: 1000 });
    const [idle, busy] = [harness.of(ALICE)!, harness.of(BOB)!];
    const request = new Request('r');
    busy.begin(request);
    await advanceTime(1000);
    harness.passInterval();
    expect([idle.isClosed, busy.isClosed]).toEqual([true, false]);
    expect(harness.of(ALICE)).not.toBe(idle);
    busy.end(request);
    await advanceTime(999);
    harness.passInterval();
    expect(busy.isClosed).toBe(false);
    await advanceTime(1);
    harness.passInterval();
    expect(busy.isClosed).toBe(true);
    expect(harness.owners.size).toBe(0);
  });

  it('keeps an owner whose links a stream needs, and closes it after the idle time', async () => {
    const harness = new Harness({ sessionIdleMs: 1000 });
    const owner = harness.of(ALICE)!;
    for (let streams = 0; streams < 2; streams++) owner.hold();
    owner.release();
    await advanceTime(5000);
    harness.passInterval();
    expect(owner.isClosed).toBe(false);
    owner.release();
    await advanceTime(999);
    harness.passInterval();
    expect(owner.isClosed).toBe(false);
    await advanceTime(1);
    harness.passInterval();
    expect(owner.isClosed).toBe(true);
  });

  it('closes the owners of revoked principals', () => {
    const harness = new Harness();
    const owners = [harness.of(ALICE), harness.of(ALICE, 'h'), harness.of(BOB)];
    harness.owners.closeRevoked(({ id }) => id !== 'alice');
    expect(owners.map((owner) => owner?.isClosed)).toEqual([true, true, false]);
  });
});

const ask = (owner: SessionlessLinkOwner, signal = new AbortController().signal) =>
  outcomeOf(owner.sendRequest('roots/list', undefined, { signal }));

describe('SessionlessLinkOwner', () => {
  it('asks in the only call that runs', async () => {
    const owner = new Harness().of(ALICE)!;
    owner.begin(new Request('list', 'tools/list'));
    owner.begin(new Request('call'));
    const answer = ask(owner);
    await flushPromises();
    expect(answer.value?.value).toBe('call');
  });

  it('asks in none of several calls, which may be of several clients, unless they have a handle', async () => {
    const harness = new Harness();
    const [plain, handled] = [harness.of(ALICE)!, harness.of(ALICE, 'h')!];
    for (const owner of [plain, handled])
      for (const name of ['first', 'second']) owner.begin(new Request(name));
    const answers = [ask(plain), ask(handled)];
    await flushPromises();
    expect(answers[0]!.error?.message).toContain('not known in which call');
    expect(answers[1]!.value?.value).toBe('second');
  });

  it('asks in the only call that is not parked, and in a parked call only if no other runs', async () => {
    const owner = new Harness().of(ALICE)!;
    const [abandoned, running] = [new Request('abandoned'), new Request('running')];
    for (const request of [abandoned, running]) owner.begin(request);
    abandoned.isParked = true;
    const first = ask(owner);
    await flushPromises();
    expect(first.value?.value).toBe('running');
    owner.end(running);
    const second = ask(owner);
    await flushPromises();
    expect(second.value?.value).toBe('abandoned');
  });

  it('waits for the next call, within limits', async () => {
    const owner = new Harness().of(ALICE)!;
    const answer = ask(owner);
    owner.begin(new Request('list', 'tools/list'));
    await flushPromises();
    expect(answer).toEqual({});
    owner.begin(new Request('call'));
    await flushPromises();
    expect(answer.value?.value).toBe('call');
  });

  it.each([
    ['no call comes', () => jest.advanceTimersByTime(30_000)],
    ['it is closed', (owner: SessionlessLinkOwner) => owner.close()],
    ['the question is cancelled', (_: SessionlessLinkOwner, abort: AbortController) => abort.abort()],
  ])('gives up when %s', async (_, act) => {
    const owner = new Harness().of(ALICE)!;
    const abort = new AbortController();
    const answer = ask(owner, abort.signal);
    act(owner, abort);
    await flushPromises();
    expect(answer.error).toMatchObject({ kind: 'internal' });
    owner.begin(new Request('late'));
    await flushPromises();
    expect(answer.value).toBeUndefined();
  });

  it('limits the questions that wait', async () => {
    const owner = new Harness().of(ALICE)!;
    const answers = Array.from({ length: 17 }, () => ask(owner));
    await flushPromises();
    expect(answers.filter(({ error }) => error)).toHaveLength(1);
  });

  it('notifies the only request that runs', () => {
    const owner = new Harness().of(ALICE)!;
    const [first, second] = [new Request('a'), new Request('b')];
    owner.begin(first);
    owner.notify('one', undefined);
    owner.begin(second);
    owner.notify('two', undefined);
    owner.end(first);
    owner.notify('three', undefined);
    expect([first.notified, second.notified]).toEqual([['one'], ['three']]);
  });
});
