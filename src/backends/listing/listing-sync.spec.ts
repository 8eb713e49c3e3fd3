import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, type Answers } from '../../../test/kit/fake-link.js';
import { flushPromises } from '../../../test/kit/promises.js';
import type { Listing } from '../../core/catalog/catalog.js';
import { ListingSync } from './listing-sync.js';
import { TransportError } from '../link/transport.js';

const BOTH = { capabilities: { tools: {}, prompts: {} } };
const TOOLS_CHANGED = 'notifications/tools/list_changed';
const PROMPTS_CHANGED = 'notifications/prompts/list_changed';

class Synced {
  readonly listings: Listing[] = [];
  readonly sync = new ListingSync('db', async (listing) => void this.listings.push(listing));

  /** The names that were published last, tools and prompts. */
  get names(): string {
    const listing = this.listings.at(-1);
    const of = (kind: 'tools' | 'prompts'): string => listing?.[kind].map(({ name }) => name).join() ?? '';
    return `${of('tools')}/${of('prompts')}`;
  }

  async attach(answers: Answers, facts: object = BOTH): Promise<FakeLink> {
    const link = new FakeLink(answers, facts);
    this.sync.attach(link);
    await flushPromises();
    return link;
  }
}

const list = (kind: 'tools' | 'prompts', ...names: string[]): object => ({
  [kind]: names.map((name) => ({ name, ...(kind === 'tools' && { inputSchema: { type: 'object' } }) })),
});

const offering = (tools: string, prompts: string): Answers => ({
  'tools/list': () => list('tools', tools),
  'prompts/list': () => list('prompts', prompts),
});

const endless = (name: string): Answers => ({
  'tools/list': () => ({ ...list('tools', name), nextCursor: 'again' }),
});

async function pass(ms: number): Promise<void> {
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
    const synced = new Synced();
    await synced.attach(offering('t', 'p'), { ...BOTH, instructions: 'be kind' });
    expect(synced.names).toBe('t/p');
    expect(synced.listings.at(-1)?.instructions).toBe('be kind');
  });

  it('fetches no list without its capability', async () => {
    const synced = new Synced();
    const link = await synced.attach(offering('t', 'p'), { capabilities: { prompts: {} } });
    expect(synced.names).toBe('/p');
    expect(link.count('tools/list')).toBe(0);
  });

  it('fetches only the changed list again', async () => {
    const synced = new Synced();
    const link = await synced.attach(offering('t', 'p'));
    expect(synced.sync.listChanged(TOOLS_CHANGED)).toBe(true);
    await pass(2000);
    expect([link.count('tools/list'), link.count('prompts/list')]).toEqual([2, 1]);
  });

  it('does not take other notifications', () => {
    const synced = new Synced();
    expect(synced.sync.listChanged('notifications/message')).toBe(false);
    expect(synced.sync.listChanged('notifications/resources/updated')).toBe(false);
  });

  it('fetches at most once a second during a storm of list changes, and ends with the last state', async () => {
    const synced = new Synced();
    let version = 0;
    const link = await synced.attach({
      'tools/list': () => list('tools', `v${version}`),
      'prompts/list': () => list('prompts'),
    });
    for (let n = 0; n < 300; n++) {
      version = n;
      synced.sync.listChanged(TOOLS_CHANGED);
      await pass(10);
    }
    await pass(2000);
    expect(link.count('tools/list')).toBeLessThanOrEqual(5);
    expect(synced.names).toBe('v299/');
  });
});

describe('ListingSync, a list that is not answered', () => {
  it('does not delay the other list', async () => {
    const synced = new Synced();
    await synced.attach({ 'prompts/list': () => list('prompts', 'p') });
    expect(synced.names).toBe('/p');
  });

  it('does not delay a later change of the other list', async () => {
    const synced = new Synced();
    let prompt = 'old';
    await synced.attach({ 'prompts/list': () => list('prompts', prompt) });
    prompt = 'new';
    synced.sync.listChanged(PROMPTS_CHANGED);
    await pass(2000);
    expect(synced.names).toBe('/new');
  });

  it('stays as last known and is fetched again', async () => {
    const synced = new Synced();
    let fails = false;
    const link = await synced.attach({
      'tools/list': () => (fails ? new Error('busy') : list('tools', 't')),
      'prompts/list': () => list('prompts', 'p'),
    });
    fails = true;
    synced.sync.listChanged(TOOLS_CHANGED);
    await pass(2000);
    expect(synced.names).toBe('t/p');
    expect(warnings).toHaveBeenCalledTimes(1);
    fails = false;
    await pass(5000);
    expect(link.count('tools/list')).toBe(3);
    expect(link.count('prompts/list')).toBe(1);
    await pass(60_000);
    expect(link.count('tools/list')).toBe(3);
  });

  it('stays as last known when the new one is truncated, unless none was known', async () => {
    const synced = new Synced();
    await synced.attach(endless('part'), { capabilities: { tools: {} } });
    expect(synced.names).toBe('part/');
    await synced.attach(offering('whole', ''), { capabilities: { tools: {} } });
    expect(synced.names).toBe('whole/');
    await synced.attach(endless('part'), { capabilities: { tools: {} } });
    await pass(2000);
    expect(synced.names).toBe('whole/');
  });
});

describe('ListingSync, a replaced link', () => {
  it('does not publish its list, even if it arrives later', async () => {
    const synced = new Synced();
    const stale = await synced.attach({}, { capabilities: { tools: {} } });
    await synced.attach(offering('new', ''), { capabilities: { tools: {} } });
    stale.asked('tools/list').answer(list('tools', 'stale'));
    await flushPromises();
    await pass(2000);
    expect(synced.listings.map(({ tools }) => tools[0]?.name)).not.toContain('stale');
    expect(synced.names).toBe('new/');
  });

  it('does not delay the list of the next link', async () => {
    const synced = new Synced();
    const stale = await synced.attach({}, { capabilities: { tools: {} } });
    await synced.attach(offering('new', ''), { capabilities: { tools: {} } });
    stale.disconnect();
    await flushPromises();
    expect(synced.names).toBe('new/');
  });

  it('is not used, and nothing is logged, while there is no link', async () => {
    const synced = new Synced();
    const link = await synced.attach({}, BOTH);
    synced.sync.detach();
    link.disconnect(new TransportError('broken', 'crashed'));
    await pass(60_000);
    expect(link.requests).toHaveLength(2);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('leaves the known lists unchanged', async () => {
    const synced = new Synced();
    const link = await synced.attach(offering('t', 'p'));
    synced.sync.detach();
    link.disconnect();
    await synced.attach({});
    expect(synced.names).toBe('t/p');
  });
});

describe('ListingSync.stop', () => {
  it('ends publishing, scheduling and warnings', async () => {
    const synced = new Synced();
    const link = await synced.attach({}, BOTH);
    synced.sync.listChanged(TOOLS_CHANGED);
    const before = synced.listings.length;
    synced.sync.stop();
    link.asked('prompts/list').answer(list('prompts', 'p'));
    link.disconnect();
    await pass(60_000);
    expect(synced.listings).toHaveLength(before);
    expect(warnings).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });
});
