import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, type Answers } from '../../../test/kit/fake-link.js';
import { flushPromises } from '../../../test/kit/promises.js';
import type { Listing } from '../../core/catalog/catalog.js';
import { RemoteError } from '../../core/errors.js';
import { ListingSync } from './listing-sync.js';

const RESOURCES = { capabilities: { resources: {} } };
const RESOURCES_CHANGED = 'notifications/resources/list_changed';

class Harness {
  readonly listings: Listing[] = [];
  readonly sync = new ListingSync('db', {
    publish: async (listing) => void this.listings.push(listing),
    failuresChanged: () => {},
    refreshMs: () => 60_000,
  });

  /** What was published last: `<URIs>/<templates>`. */
  get listed(): string {
    const { resources, templates } = this.listings.at(-1)!;
    const uris = resources.byUri.map(({ uri }) => uri);
    return `${uris.join()}/${templates.map(({ uriTemplate }) => uriTemplate).join()}`;
  }

  async attach(answers: Answers, facts: object = RESOURCES): Promise<FakeLink> {
    const link = new FakeLink(answers, facts);
    this.sync.attach(link);
    await flushPromises();
    return link;
  }
}

const answersWith = (uris: () => readonly string[], templates: () => readonly string[]): Answers => ({
  'resources/list': () => ({ resources: uris().map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({
    resourceTemplates: templates().map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  }),
});

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

describe('ListingSync of resources', () => {
  it('fetches every page of resources and templates', async () => {
    const harness = new Harness();
    const link = await harness.attach({
      'resources/list': ({ params }) =>
        params === undefined
          ? { resources: [{ uri: 'x:1' }], nextCursor: 'c' }
          : { resources: [{ uri: 'x:2' }] },
      'resources/templates/list': ({ params }) =>
        params === undefined
          ? { resourceTemplates: [{ uriTemplate: 'b:{x}' }], nextCursor: 'c' }
          : { resourceTemplates: [{ uriTemplate: 'a:{x}' }] },
    });
    await flushPromises();
    expect(harness.listed).toBe('x:1,x:2/a:{x},b:{x}');
    expect([link.count('resources/list'), link.count('resources/templates/list')]).toEqual([2, 2]);
  });

  it('fetches neither list without the resources capability, and drops earlier ones', async () => {
    const harness = new Harness();
    await harness.attach(
      answersWith(
        () => ['x:1'],
        () => ['x:{y}'],
      ),
    );
    const link = await harness.attach({}, { capabilities: {} });
    expect(harness.listed).toBe('/');
    expect(link.requests).toEqual([]);
    const { templates } = harness.listings.at(-1)!;
    await harness.attach({}, { capabilities: {} });
    expect(harness.listings.at(-1)!.templates).toBe(templates);
  });

  it('fetches both lists again after a list change', async () => {
    const harness = new Harness();
    let version = 1;
    const link = await harness.attach(
      answersWith(
        () => [`x:${version}`],
        () => [`y:${version}/{z}`],
      ),
    );
    version = 2;
    expect(harness.sync.handleListChange(RESOURCES_CHANGED)).toBe(true);
    await advance(2000);
    expect(harness.listed).toBe('x:2/y:2/{z}');
    expect([link.count('resources/list'), link.count('resources/templates/list')]).toEqual([2, 2]);
  });

  it('keeps the same list objects when the lists are equal, in any order', async () => {
    const harness = new Harness();
    let [uris, templates] = [
      ['x:1', 'x:2'],
      ['x:{y}', 'y:{y}'],
    ];
    await harness.attach(
      answersWith(
        () => uris,
        () => templates,
      ),
    );
    const before = harness.listings.at(-1)!;
    [uris, templates] = [uris.toReversed(), templates.toReversed()];
    harness.sync.handleListChange(RESOURCES_CHANGED);
    await advance(2000);
    const after = harness.listings.at(-1)!;
    expect(after).not.toBe(before);
    expect(after.resources).toBe(before.resources);
    expect(after.templates).toBe(before.templates);
  });

  it('leaves out invalid and too complex templates, logs them once, and keeps the others', async () => {
    const harness = new Harness();
    const hostile = Array.from({ length: 300 }, (_, n) => `x:${n}${'{a}'.repeat(2000)}`);
    await harness.attach(
      answersWith(
        () => ['x:1'],
        () => ['a:{b}', ...hostile, '{{b}}', 'c:{d}'],
      ),
    );
    expect(harness.listed).toBe('x:1/a:{b},c:{d}');
    expect(warnings).toHaveBeenCalledTimes(1);
    const entry = warnings.mock.calls[0]![0] as { uriTemplates: string[] };
    expect(entry).toMatchObject({ server: 'db', count: 301 });
    expect(JSON.stringify(entry).length).toBeLessThan(2000);
  });

  it('warns about invalid items only when the warning changes', async () => {
    const harness = new Harness();
    let items: object[] = [{ uri: 'x:1' }, { name: 'without uri' }];
    await harness.attach({
      'resources/list': () => ({ resources: items }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: '{{', name: 'n' }] }),
    });
    harness.sync.handleListChange(RESOURCES_CHANGED);
    await advance(2000);
    items = [{ uri: 'x:1', name: 'one', size: 'large' }];
    harness.sync.handleListChange(RESOURCES_CHANGED);
    await advance(2000);
    const entries = warnings.mock.calls.map(([entry]) => entry as Record<string, unknown>);
    const message = 'resources/list: invalid definitions were repaired or left out';
    expect(entries.filter(({ count }) => count !== undefined)).toHaveLength(3);
    expect(entries.filter((entry) => entry['message'] === message)).toEqual([
      { message, server: 'db', count: 2, leftOut: 1, repaired: 1 },
      { message, server: 'db', count: 1, leftOut: 0, repaired: 1 },
    ]);
  });

  it('keeps the last known lists when new ones are truncated or fail', async () => {
    const harness = new Harness();
    const whole = answersWith(
      () => ['x:1'],
      () => ['x:{y}'],
    );
    await harness.attach(whole);
    const tooLong = 'c'.repeat(8193);
    await harness.attach({
      'resources/list': () => ({ resources: [{ uri: 'part:1', name: 'part' }], nextCursor: tooLong }),
      'resources/templates/list': () => new Error('busy'),
    });
    await advance(2000);
    expect(harness.listed).toBe('x:1/x:{y}');
    expect(warnings.mock.calls.map(([entry]) => (entry as { message: string }).message).toSorted()).toEqual([
      'resources/list was cut short',
      'resources/templates/list failed',
    ]);
  });

  it('publishes a truncated list when no earlier one is known', async () => {
    const harness = new Harness();
    await harness.attach({
      'resources/list': () => ({ resources: [{ uri: 'part:1', name: 'part' }], nextCursor: 'again' }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'part:{x}' }],
        nextCursor: 'again',
      }),
    });
    expect(harness.listed).toBe('part:1/part:{x}');
  });

  it('treats an unknown method as an empty list, and does not retry', async () => {
    const harness = new Harness();
    const link = await harness.attach({
      ...answersWith(
        () => ['x:1'],
        () => [],
      ),
      'resources/templates/list': () => new RemoteError(-32601, 'Method not found', '{}'),
    });
    await advance(40_000);
    expect(harness.listed).toBe('x:1/');
    expect(link.count('resources/templates/list')).toBe(1);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('warns with the number of items without a usable URI', async () => {
    const harness = new Harness();
    await harness.attach({
      'resources/templates/list': () => ({}),
      'resources/list': () => ({ resources: [{}, { uri: 'x:1' }, 7] }),
    });
    expect(warnings.mock.calls).toEqual([[expect.objectContaining({ server: 'db', leftOut: 2 })]]);
  });

  it('drops a list that arrives after its link was replaced', async () => {
    const harness = new Harness();
    const stale = await harness.attach({});
    await harness.attach(
      answersWith(
        () => ['new:1'],
        () => [],
      ),
    );
    stale.asked('resources/list').answer({ resources: [{ uri: 'stale:1' }] });
    stale.disconnect();
    await advance(2000);
    expect(harness.listed).toBe('new:1/');
  });
});

describe('ListingSync after an error of a read', () => {
  it.each([
    ['x://a', 2],
    ['x://unlisted', 1],
  ])('of %s has fetched the list of resources %i times', async (uri, count) => {
    const harness = new Harness();
    const link = await harness.attach(
      answersWith(
        () => ['x://a'],
        () => [],
      ),
    );
    const read = { method: 'resources/read', params: JSON.stringify({ uri }), timeoutMs: 1000 };
    harness.sync.refresh.handleErrorAnswer(read, new RemoteError(-32002, 'gone', '{}'));
    await advance(2000);
    expect(link.count('resources/list')).toBe(count);
  });
});
