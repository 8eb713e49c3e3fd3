import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Answers } from '../../../test/kit/fake-link.js';
import { listAnswers, ListingSyncHarness, listOf } from '../../../test/kit/listing-sync-harness.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { TransportError } from '../link/transport.js';

const TOOLS_AND_PROMPTS = { capabilities: { tools: {}, prompts: {} } };
const TOOLS_CHANGED = 'notifications/tools/list_changed';
const PROMPTS_CHANGED = 'notifications/prompts/list_changed';

const answersEndlessly = (name: string): Answers => {
  let page = 0;
  return { 'tools/list': () => ({ ...listOf('tools', name), nextCursor: String(page++) }) };
};

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

describe('ListingSync', () => {
  it('fetches all lists over a new link at once', async () => {
    const harness = new ListingSyncHarness();
    await harness.attach(listAnswers('t', 'p'), { ...TOOLS_AND_PROMPTS, instructions: 'be kind' });
    expect(harness.names).toBe('t/p');
    expect(harness.listings.at(-1)?.instructions).toBe('be kind');
  });

  it('fetches no list without its capability', async () => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach(listAnswers('t', 'p'), { capabilities: { prompts: {} } });
    expect(harness.names).toBe('/p');
    expect(link.count('tools/list')).toBe(0);
  });

  it('fetches only the changed list again', async () => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach(listAnswers('t', 'p'));
    expect(harness.sync.handleListChange(TOOLS_CHANGED)).toBe(true);
    await advance(2000);
    expect([link.count('tools/list'), link.count('prompts/list')]).toEqual([2, 1]);
  });

  it('ignores other notifications', () => {
    const harness = new ListingSyncHarness();
    expect(harness.sync.handleListChange('notifications/message')).toBe(false);
    expect(harness.sync.handleListChange('notifications/resources/updated')).toBe(false);
  });

  it('fetches at most once a second during a burst of list changes, and ends with the last state', async () => {
    const harness = new ListingSyncHarness();
    let version = 0;
    const link = await harness.attach({
      'tools/list': () => listOf('tools', `v${version}`),
      'prompts/list': () => listOf('prompts'),
    });
    for (let n = 0; n < 300; n++) {
      version = n;
      harness.sync.handleListChange(TOOLS_CHANGED);
      await advance(10);
    }
    await advance(2000);
    expect(link.count('tools/list')).toBeLessThanOrEqual(5);
    expect(harness.names).toBe('v299/');
  });
});

describe('ListingSync, a list that cannot be fetched', () => {
  it('does not delay the other list', async () => {
    const harness = new ListingSyncHarness();
    await harness.attach({ 'prompts/list': () => listOf('prompts', 'p') });
    expect(harness.names).toBe('/p');
  });

  it('does not delay a later change of the other list', async () => {
    const harness = new ListingSyncHarness();
    let prompt = 'old';
    await harness.attach({ 'prompts/list': () => listOf('prompts', prompt) });
    prompt = 'new';
    harness.sync.handleListChange(PROMPTS_CHANGED);
    await advance(2000);
    expect(harness.names).toBe('/new');
  });

  it('stays as last known and is fetched again', async () => {
    const harness = new ListingSyncHarness();
    let fails = false;
    const link = await harness.attach({
      'tools/list': () => (fails ? new Error('busy') : listOf('tools', 't')),
      'prompts/list': () => listOf('prompts', 'p'),
    });
    fails = true;
    harness.sync.handleListChange(TOOLS_CHANGED);
    await advance(2000);
    expect(harness.names).toBe('t/p');
    expect(warnings).toHaveBeenCalledTimes(1);
    fails = false;
    await advance(5000);
    expect(link.count('tools/list')).toBe(3);
    expect(link.count('prompts/list')).toBe(1);
    await advance(40_000);
    expect(link.count('tools/list')).toBe(3);
  });

  it('stays as last known when the new one is truncated, unless none was known', async () => {
    const harness = new ListingSyncHarness();
    await harness.attach(answersEndlessly('part'), { capabilities: { tools: {} } });
    expect(harness.names).toBe('part/');
    await harness.attach(listAnswers('whole', ''), { capabilities: { tools: {} } });
    expect(harness.names).toBe('whole/');
    await harness.attach(answersEndlessly('part'), { capabilities: { tools: {} } });
    await advance(2000);
    expect(harness.names).toBe('whole/');
  });
});

describe('ListingSync, a list whose last page carries a cursor', () => {
  it.each(['', 'last'])('follows later changes when the cursor is %j', async (nextCursor) => {
    const harness = new ListingSyncHarness();
    let name = 'old';
    const answers: Answers = {
      'tools/list': () => ({ ...listOf('tools', name), nextCursor }),
      'prompts/list': () => ({ ...listOf('prompts', name), nextCursor }),
    };
    await harness.attach(answers);
    expect(harness.names).toBe('old/old');
    name = 'new';
    harness.sync.handleListChange(TOOLS_CHANGED);
    await advance(2000);
    expect(harness.names).toBe('new/old');
    name = 'reconnected';
    await harness.attach(answers);
    expect(harness.names).toBe('reconnected/reconnected');
    expect(warnings.mock.calls.map(([entry]) => (entry as { message: string }).message)).toEqual([
      'tools/list ended because the server repeats a cursor',
      'prompts/list ended because the server repeats a cursor',
    ]);
  });
});

describe('ListingSync, a replaced link', () => {
  it('does not publish its list, even if it arrives later', async () => {
    const harness = new ListingSyncHarness();
    const stale = await harness.attach({}, { capabilities: { tools: {} } });
    await harness.attach(listAnswers('new', ''), { capabilities: { tools: {} } });
    stale.asked('tools/list').answer(listOf('tools', 'stale'));
    await flushPromises();
    await advance(2000);
    expect(harness.listings.map(({ tools }) => tools[0]?.name)).not.toContain('stale');
    expect(harness.names).toBe('new/');
  });

  it('does not delay the list of the next link', async () => {
    const harness = new ListingSyncHarness();
    const stale = await harness.attach({}, { capabilities: { tools: {} } });
    await harness.attach(listAnswers('new', ''), { capabilities: { tools: {} } });
    stale.disconnect();
    await flushPromises();
    expect(harness.names).toBe('new/');
  });

  it('is not used, and nothing is logged, while there is no link', async () => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach({}, TOOLS_AND_PROMPTS);
    harness.sync.detach();
    link.disconnect(new TransportError('broken', 'crashed'));
    await advance(60_000);
    expect(link.requests).toHaveLength(2);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('leaves the known lists unchanged', async () => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach(listAnswers('t', 'p'));
    harness.sync.detach();
    link.disconnect();
    await harness.attach({});
    expect(harness.names).toBe('t/p');
  });
});

describe('ListingSync.stop', () => {
  it('ends publishing, scheduling and warnings', async () => {
    const harness = new ListingSyncHarness();
    const link = await harness.attach({}, TOOLS_AND_PROMPTS);
    harness.sync.handleListChange(TOOLS_CHANGED);
    const before = harness.listings.length;
    harness.sync.stop();
    link.asked('prompts/list').answer(listOf('prompts', 'p'));
    link.disconnect();
    await advance(60_000);
    expect(harness.listings).toHaveLength(before);
    expect(warnings).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });
});
