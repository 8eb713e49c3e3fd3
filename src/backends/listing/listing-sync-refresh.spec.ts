import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, type Answers } from '../../../test/kit/fake-link.js';
import {
  listAnswers,
  ListingSyncHarness,
  listOf,
  REFRESH_MS,
} from '../../../test/kit/listing-sync-harness.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { RemoteError } from '../../core/errors.js';

async function advance(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  await flushPromises();
}

let warnings: jest.SpiedFunction<Logger['warn']>;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

async function attachWithStream(
  answers: Answers,
  stream: FakeLink['notificationStream'] = 'none',
  facts?: Parameters<ListingSyncHarness['attach']>[1],
) {
  const harness = new ListingSyncHarness();
  const link = await harness.attach(answers, facts);
  link.notificationStream = stream;
  return { harness, link };
}

const errorOf = (code: number): RemoteError => new RemoteError(code, 'no', '{}');

describe('ListingSync, a list that fails for an hour', () => {
  it('is fetched with backoff, logged at the first failure and at the end, and named meanwhile', async () => {
    const harness = new ListingSyncHarness();
    const recovered = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => {});
    let fails = true;
    const link = await harness.attach({
      'tools/list': () => (fails ? new RemoteError(-32603, 'fetch failed', '{}') : listOf('tools', 't')),
      'prompts/list': () => listOf('prompts', 'p'),
    });
    await advance(3_600_000);
    expect(harness.sync.failures.reason).toBe('tools/list failed: fetch failed');
    expect([warnings.mock.calls.length, harness.failureChanges]).toEqual([1, 1]);
    expect(link.count('tools/list')).toBeGreaterThan(60);
    expect(link.count('tools/list')).toBeLessThan(125);
    fails = false;
    await advance(60_000);
    expect([harness.names, harness.sync.failures.reason]).toEqual(['t/p', undefined]);
    expect([recovered.mock.calls.length, harness.failureChanges]).toEqual([1, 2]);
  });

  it('is logged once although each failure has another text, and named with the last text', async () => {
    const harness = new ListingSyncHarness();
    let failures = 0;
    await harness.attach({ 'tools/list': () => new RemoteError(-32603, `request ${++failures}`, '{}') });
    await advance(600_000);
    expect(failures).toBeGreaterThan(10);
    expect(warnings).toHaveBeenCalledTimes(1);
    expect(harness.sync.failures.reason).toBe(`tools/list failed: request ${failures}`);
    expect(harness.failureChanges).toBe(failures);
  });

  it('has a message of 200 characters at most', async () => {
    const harness = new ListingSyncHarness();
    await harness.attach({ 'tools/list': () => new RemoteError(-32603, 'x'.repeat(9999), '{}') });
    expect(harness.sync.failures.reason).toHaveLength('tools/list failed: '.length + 200);
  });
});

describe('ListingSync of a server that sends no list changes', () => {
  it.each([
    ['none', [4, 4]],
    ['opening', [4, 4]],
    // Only tools/list announces changes.
    ['open', [1, 4]],
  ] as const)(
    'with the stream %s fetches tools and prompts %j times in 3.5 intervals',
    async (stream, counts) => {
      jest.spyOn(Math, 'random').mockReturnValue(0.5);
      const facts = { capabilities: { tools: { listChanged: true }, prompts: {} } };
      const { link } = await attachWithStream(listAnswers('t', 'p'), stream, facts);
      await advance(3.5 * REFRESH_MS);
      expect([link.count('tools/list'), link.count('prompts/list')]).toEqual(counts);
      expect(link.count('resources/list')).toBe(0);
    },
  );

  it.each([
    [0, 54_000],
    [1, 66_000],
  ])('waits with jitter %d for %i ms', async (random, ms) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const { link } = await attachWithStream(listAnswers('t', 'p'));
    await advance(ms - 1);
    expect(link.count('tools/list')).toBe(1);
    await advance(102);
    expect(link.count('tools/list')).toBe(2);
  });

  it('publishes what a deploy added or removed', async () => {
    const tools = ['a', 'b'];
    const { harness } = await attachWithStream({ 'tools/list': () => listOf('tools', ...tools) });
    for (const change of [() => tools.push('c'), () => tools.shift()]) {
      change();
      await advance(70_000);
      expect(harness.names).toBe(`${tools.join()}/`);
    }
  });

  it('publishes the same list again while the server sends the same pages, and does not read them', async () => {
    const { harness, link } = await attachWithStream(listAnswers('t', 'p'));
    const [{ tools }] = [harness.listings.at(-1)!];
    const parse = jest.spyOn(JSON, 'parse');
    await advance(3 * REFRESH_MS);
    expect(link.count('tools/list')).toBeGreaterThanOrEqual(3);
    expect(harness.listings.every((listing) => listing.tools === tools || listing.tools.length === 0)).toBe(
      true,
    );
    expect(parse.mock.calls.filter(([text]) => text.includes('inputSchema'))).toEqual([]);
  });

  it('follows a list that alternates between two states, at most once per interval', async () => {
    let fetches = 0;
    const { harness, link } = await attachWithStream({
      'tools/list': () => listOf('tools', `state${fetches++ % 2}`),
    });
    await advance(10 * REFRESH_MS);
    expect(link.count('tools/list')).toBeLessThanOrEqual(13);
    expect(harness.names).toBe(`state${(fetches - 1) % 2}/`);
  });

  it('does not take a list for unchanged that was fetched over an earlier link and not published', async () => {
    const harness = new ListingSyncHarness();
    const first = await harness.attach({});
    harness.sync.detach();
    first.asked('tools/list').answer(listOf('tools', 'new'));
    await flushPromises();
    first.disconnect();
    await harness.attach(listAnswers('new', 'p'));
    expect(harness.names).toBe('new/p');
  });

  it('lists a kind again after its capability was missing for a while', async () => {
    const harness = new ListingSyncHarness();
    await harness.attach(listAnswers('t', 'p'));
    await harness.attach(listAnswers('t', 'p'), { capabilities: { prompts: {} } });
    expect(harness.names).toBe('/p');
    await harness.attach(listAnswers('t', 'p'));
    expect(harness.names).toBe('t/p');
  });
});

describe('ListingSync after an error of the server', () => {
  const call = { method: 'tools/call', params: '{"name":"t"}', timeoutMs: 1000 };

  it.each([
    [-32601, 2],
    [-32602, 2],
    [-32002, 2],
    [-32603, 1],
    [-32000, 1],
  ])('with code %i has fetched the list %i times', async (code, count) => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach(listAnswers('t', 'p'));
    harness.sync.refresh.handleErrorAnswer(call, errorOf(code));
    await advance(2000);
    expect([link.count('tools/list'), link.count('prompts/list')]).toEqual([count, 1]);
  });

  it('fetches the list at most once in 10 s', async () => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach(listAnswers('t', 'p'));
    for (let n = 0; n < 300; n++) {
      harness.sync.refresh.handleErrorAnswer(call, errorOf(-32602));
      await advance(100);
    }
    expect(link.count('tools/list')).toBe(1 + 3);
  });

  it('fetches no list of a server that announces its changes, nor for other methods', async () => {
    const harness = new ListingSyncHarness();
    const facts = { capabilities: { tools: { listChanged: true }, prompts: {} } };
    const link = await harness.attach(listAnswers('t', 'p'), facts);
    harness.sync.refresh.handleErrorAnswer(call, errorOf(-32602));
    harness.sync.refresh.handleErrorAnswer({ ...call, method: 'completion/complete' }, errorOf(-32602));
    await advance(2000);
    expect([link.count('tools/list'), link.count('prompts/list')]).toEqual([1, 1]);
  });
});
