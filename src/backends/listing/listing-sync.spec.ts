import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, type Answers } from '../../../test/kit/fake-link.js';
import { flushPromises } from '../../../test/kit/promises.js';
import type { Listing } from '../../core/catalog/catalog.js';
import { ListingSync } from './listing-sync.js';
import { TransportError } from '../link/transport.js';

const TOOLS_AND_PROMPTS = { capabilities: { tools: {}, prompts: {} } };
const TOOLS_CHANGED = 'notifications/tools/list_changed';
const PROMPTS_CHANGED = 'notifications/prompts/list_changed';

class Harness {
  readonly listings: Listing[] = [];
  readonly sync = new ListingSync('db', {
    publish: async (listing) => void this.listings.push(listing),
    failuresChanged: () => {},
    refreshMs: () => 60_000,
  });

  /** The names that were published last: `<tools>/<prompts>`. */
  get names(): string {
    const listing = this.listings.at(-1);
    const of = (kind: 'tools' | 'prompts'): string => listing?.[kind].map(({ name }) => name).join() ?? '';
    return `${of('tools')}/${of('prompts')}`;
  }

  async attach(answers: Answers, facts: object = TOOLS_AND_PROMPTS): Promise<FakeLink> {
    const link = new FakeLink(answers, facts);
    this.sync.attach(link);
    await flushPromises();
    return link;
  }
}

const list = (kind: 'tools' | 'prompts', ...names: string[]): object => ({
  [kind]: names.map((name) => ({ name, ...(kind === 'tools' && { inputSchema: { type: 'object' } }) })),
});

const answersWith = (tools: string, prompts: string): Answers => ({
  'tools/list': () => list('tools', tools),
  'prompts/list': () => list('prompts', prompts),
});

const answersEndlessly = (name: string): Answers => {
  let page = 0;
  return { 'tools/list': () => ({ ...list('tools', name), nextCursor: String(page++) }) };
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
    const harness = new Harness();
    await harness.attach(answersWith('t', 'p'), { ...TOOLS_AND_PROMPTS, instructions: 'be kind' });
    expect(harness.names).toBe('t/p');
    expect(harness.listings.at(-1)?.instructions).toBe('be kind');
  });

  it('fetches no list without its capability', async () => {
    const harness = new Harness();
    const link = await harness.attach(answersWith('t', 'p'), { capabilities: { prompts: {} } });
    expect(harness.names).toBe('/p');
    expect(link.count('tools/list')).toBe(0);
  });

  it('fetches only the changed list again', async () => {
    const harness = new Harness();
    const link = await harness.attach(answersWith('t', 'p'));
    expect(harness.sync.handleListChange(TOOLS_CHANGED)).toBe(true);
    await advance(2000);
    expect([link.count('tools/list'), link.count('prompts/list')]).toEqual([2, 1]);
  });

  it('ignores other notifications', () => {
    const harness = new Harness();
    expect(harness.sync.handleListChange('notifications/message')).toBe(false);
    expect(harness.sync.handleListChange('notifications/resources/updated')).toBe(false);
  });

  it('fetches at most once a second during a burst of list changes, and ends with the last state', async () => {
    const harness = new Harness();
    let version = 0;
    const link = await harness.attach({
      'tools/list': () => list('tools', `v${version}`),
      'prompts/list': () => list('prompts'),
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
    const harness = new Harness();
    await harness.attach({ 'prompts/list': () => list('prompts', 'p') });
    expect(harness.names).toBe('/p');
  });

  it('does not delay a later change of the other list', async () => {
    const harness = new Harness();
    let prompt = 'old';
    await harness.attach({ 'prompts/list': () => list('prompts', prompt) });
    prompt = 'new';
    harness.sync.handleListChange(PROMPTS_CHANGED);
    await advance(2000);
    expect(harness.names).toBe('/new');
  });

  it('stays as last known and is fetched again', async () => {
    const harness = new Harness();
    let fails = false;
    const link = await harness.attach({
      'tools/list': () => (fails ? new Error('busy') : list('tools', 't')),
      'prompts/list': () => list('prompts', 'p'),
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
    await advance(60_000);
    expect(link.count('tools/list')).toBe(3);
  });

  it('stays as last known when the new one is truncated, unless none was known', async () => {
    const harness = new Harness();
    await harness.attach(answersEndlessly('part'), { capabilities: { tools: {} } });
    expect(harness.names).toBe('part/');
    await harness.attach(answersWith('whole', ''), { capabilities: { tools: {} } });
    expect(harness.names).toBe('whole/');
    await harness.attach(answersEndlessly('part'), { capabilities: { tools: {} } });
    await advance(2000);
    expect(harness.names).toBe('whole/');
  });
});

describe('ListingSync, a list whose last page carries a cursor', () => {
  it.each(['', 'last'])('follows later changes when the cursor is %j', async (nextCursor) => {
    const harness = new Harness();
    let name = 'old';
    const answers: Answers = {
      'tools/list': () => ({ ...list('tools', name), nextCursor }),
      'prompts/list': () => ({ ...list('prompts', name), nextCursor }),
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
    const harness = new Harness();
    const stale = await harness.attach({}, { capabilities: { tools: {} } });
    await harness.attach(answersWith('new', ''), { capabilities: { tools: {} } });
    stale.asked('tools/list').answer(list('tools', 'stale'));
    await flushPromises();
    await advance(2000);
    expect(harness.listings.map(({ tools }) => tools[0]?.name)).not.toContain('stale');
    expect(harness.names).toBe('new/');
  });

  it('does not delay the list of the next link', async () => {
    const harness = new Harness();
    const stale = await harness.attach({}, { capabilities: { tools: {} } });
    await harness.attach(answersWith('new', ''), { capabilities: { tools: {} } });
    stale.disconnect();
    await flushPromises();
    expect(harness.names).toBe('new/');
  });

  it('is not used, and nothing is logged, while there is no link', async () => {
    const harness = new Harness();
    const link = await harness.attach({}, TOOLS_AND_PROMPTS);
    harness.sync.detach();
    link.disconnect(new TransportError('broken', 'crashed'));
    await advance(60_000);
    expect(link.requests).toHaveLength(2);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('leaves the known lists unchanged', async () => {
    const harness = new Harness();
    const link = await harness.attach(answersWith('t', 'p'));
    harness.sync.detach();
    link.disconnect();
    await harness.attach({});
    expect(harness.names).toBe('t/p');
  });
});

describe('ListingSync.stop', () => {
  it('ends publishing, scheduling and warnings', async () => {
    const harness = new Harness();
    const link = await harness.attach({}, TOOLS_AND_PROMPTS);
    harness.sync.handleListChange(TOOLS_CHANGED);
    const before = harness.listings.length;
    harness.sync.stop();
    link.asked('prompts/list').answer(list('prompts', 'p'));
    link.disconnect();
    await advance(60_000);
    expect(harness.listings).toHaveLength(before);
    expect(warnings).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });
});
