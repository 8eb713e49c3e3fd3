import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { matching, search } from './search.js';
import { SearchIndex } from './search-index.js';
import { tokenize, termsOf } from './tokenizer.js';

const SCHEMA = [
  { name: 'name', boost: 4, usualLength: 3 },
  { name: 'title', boost: 3, usualLength: 4 },
  { name: 'uri', boost: 1.5, usualLength: 8, isUri: true },
  { name: 'description', boost: 1, usualLength: 16 },
  { name: 'mimeType', boost: 1, usualLength: 2 },
];

interface Fields {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly uri?: string | undefined;
  readonly mimeType?: string | undefined;
}

interface Item extends Fields {
  readonly key: string;
}

const byKey = (a: Item, b: Item): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

function indexOf(items: Iterable<Item>): SearchIndex<Item> {
  const index = new SearchIndex(SCHEMA, byKey);
  for (const item of items) index.add(item, { ...item });
  return index;
}

const keysOf = (items: Iterable<Item>): string[] => Array.from(items, ({ key }) => key);

const found = (items: readonly Item[], query: string): string[] =>
  keysOf(search([indexOf(items)], query, { limit: 10 }));

const matched = (items: readonly Item[], query: string): string[] =>
  keysOf(matching([indexOf(items)], query)).toSorted();

describe('search', () => {
  it.each<[string, string, Item[]]>([
    [
      'a term over its completions',
      'log',
      [
        { key: '2', name: 'logs' },
        { key: '1', name: 'log' },
      ],
    ],
    [
      'a term over its completions, even if those are rarer',
      'log',
      [{ key: 'last', name: 'logs' }, ...Array.from('abcdefghi', (key): Item => ({ key, name: 'log' }))],
    ],
    [
      'a short completion over a long one',
      'log',
      [
        { key: '2', name: 'logistics' },
        { key: '1', name: 'logs' },
      ],
    ],
    [
      'the name over the title',
      'log',
      [
        { key: '2', title: 'log' },
        { key: '1', name: 'log' },
      ],
    ],
    [
      'the name over the description',
      'log',
      [
        { key: '2', description: 'log' },
        { key: '1', name: 'log' },
      ],
    ],
    [
      'the title over the URI',
      'log',
      [
        { key: '2', uri: 'log' },
        { key: '1', title: 'log' },
      ],
    ],
    [
      'more matched terms over fewer',
      'app log',
      [
        { key: '2', name: 'app' },
        { key: '3', name: 'log' },
        { key: '1', description: 'the log of an app' },
      ],
    ],
    [
      'a rare term over a common one',
      'common rare',
      [
        { key: '2', name: 'common' },
        { key: '3', name: 'common' },
        { key: '4', name: 'common' },
        { key: '1', name: 'rare' },
      ],
    ],
    [
      'a short name over a long one',
      'log',
      [
        { key: '2', name: 'log_of_everything' },
        { key: '1', name: 'log' },
      ],
    ],
    [
      'the whole over its parts',
      'getUser',
      [
        { key: '2', name: 'user_get' },
        { key: '1', name: 'getUser' },
      ],
    ],
    [
      'a word in the name over two that are lost in a long description',
      'scrape website',
      [
        { key: '2', name: 'map', description: `${'word '.repeat(200)} scrape website` },
        { key: '1', name: 'scrape' },
      ],
    ],
    [
      'items of equal score by their order',
      'log',
      [
        { key: '2', name: 'log' },
        { key: '1', name: 'log' },
      ],
    ],
  ])('ranks %s', (_rule, query, items) => {
    expect(found(items, query)).toEqual(keysOf(items).toSorted());
  });

  it('ranks an item higher whose index has more of the query, if it gets a boost for that', () => {
    const mail = indexOf([
      { key: '1', name: 'open' },
      { key: '2', name: 'send' },
      { key: '3', name: 'list', description: 'in a browser' },
    ]);
    const browser = indexOf([
      { key: '4', name: 'open' },
      { key: '5', name: 'browser_click' },
      { key: '6', name: 'browser_type' },
    ]);
    const first = (contextBoost?: number) =>
      keysOf(search([mail, browser], 'open', { limit: 1, contextBoost })).concat(
        keysOf(search([mail, browser], 'open browser', { limit: 10, contextBoost })).filter((key) =>
          '14'.includes(key),
        ),
      );
    expect(first()).toEqual(['1', '1', '4']);
    expect(first(1)).toEqual(['1', '4', '1']);
  });

  const profile: Item = { key: 'profile', name: 'getUserProfile' };
  const flat: Item = { key: 'flat', name: 'getuserprofile' };
  const log: Item = { key: 'log', name: 'app_server.log', mimeType: 'text/plain' };
  const report: Item = { key: 'report', name: 'report2024', uri: 'file:///R%C3%A9sum%C3%A9' };

  it.each([
    ['profile', ['profile']],
    ['prof', ['profile']],
    ['getuserprofile', ['flat', 'profile']],
    ['getUserProfile', ['profile', 'flat']],
    ['getUserPro', ['profile', 'flat']],
    ['user profile', ['profile']],
    ['server', ['log']],
    ['app_server.log', ['log']],
    ['LOG', ['log']],
    ['text/plain', ['log']],
    ['2024', ['report']],
    ['report2024', ['report']],
    ['report', ['report']],
    ['résumé', ['report']],
    ['serv missing', ['log']],
    ['se missing', []],
    ['missing', []],
    ['', []],
    ['?!', []],
  ])('finds by %j', (query, keys) => {
    expect(found([profile, flat, log, report], query)).toEqual(keys);
  });

  it.each([
    ['a typo where nothing else is found', 'porfile', ['profile']],
    ['a typo in one of two words', 'porfile user', ['profile']],
    ['no typo in short words', 'usre', []],
    ['no typo where the word is found as it is written', 'server', ['server']],
    ['no typo where the word is the start of one', 'serve', ['server']],
  ])('matches fuzzily: %s', (_what, query, keys) => {
    const items = [profile, { key: 'server', name: 'server' }, { key: 'serva', name: 'serva' }];
    expect(found(items, query)).toEqual(keys);
  });

  it('returns at most the limit, and of items with equal scores the first', () => {
    const index = indexOf(['c', 'a', 'd', 'b'].map((key) => ({ key, name: 'log' })));
    expect(keysOf(search([index], 'log', { limit: 2 }))).toEqual(['a', 'b']);
    expect(search([index], 'log', { limit: 0 })).toEqual([]);
    expect(search([], 'log', { limit: 2 })).toEqual([]);
  });

  it('fills the limit with items whose kind passes, also after segments were merged', () => {
    const index = new SearchIndex<Item>(SCHEMA, byKey);
    const items = Array.from({ length: 9000 }, (_, n) => ({ key: String(n).padStart(4, '0'), name: 'log' }));
    for (const [n, item] of items.entries()) index.add(item, { ...item }, `kind ${n % 3}`);
    const ofKind = (name: string): string[] =>
      keysOf(search([index], 'log', { limit: 2, isKind: (kind) => kind === name }));
    expect(ofKind('kind 1')).toEqual(['0001', '0004']);
    // Enough that segments are merged.
    for (const item of items.slice(0, 6001)) index.remove(item);
    expect(ofKind('kind 1')).toEqual(['6001', '6004']);
    expect(ofKind('kind 2')).toEqual(['6002', '6005']);
    expect(ofKind('kind 3')).toEqual([]);
    expect(keysOf(search([index], 'log', { limit: 2 }))).toEqual(['6001', '6002']);
  });

  it('answers hostile queries in bounded time', () => {
    const index = indexOf(
      Array.from({ length: 2000 }, (_, i) => ({ key: `${i}`, name: `aB${i}`.repeat(5) })),
    );
    const started = performance.now();
    for (const query of [
      'aB'.repeat(50_000),
      'a '.repeat(100_000),
      '(a+)+$',
      '\u0301'.repeat(10_000),
      'ﷺ'.repeat(9999),
    ])
      search([index], query, { limit: 10 });
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('matching', () => {
  const items: Item[] = [
    { key: 'profile', name: 'getUserProfile' },
    { key: 'flat', name: 'getuserprofile' },
    { key: 'log', name: 'app server log' },
    { key: 'logs', name: 'app server logs', description: 'of user' },
  ];

  it.each([
    ['all terms, the last as a prefix', 'app log', ['log', 'logs']],
    ['no other term than the last as a prefix', 'ap log', []],
    ['terms in any order and field', 'user app', ['logs']],
    ['a whole, or all its parts', 'getUserProfile', ['flat', 'profile']],
    ['an incomplete whole', 'getUserPro', ['flat', 'profile']],
    ['no typos', 'porfile', []],
    ['every item by a query without terms', ' ', ['flat', 'log', 'logs', 'profile']],
  ])('matches %s', (_rule, query, keys) => {
    expect(matched(items, query)).toEqual(keys);
  });
});

const word = fc.constantFrom(
  'app',
  'apps',
  'log',
  'logs',
  'getUser',
  'getuser',
  'v2',
  'été',
  '报告',
  'server',
  'sever',
);
const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));
const fields = fc.record({ name: text, title: text, description: text, uri: text, mimeType: text });
/** Adds a document, or removes one that is in the index. */
const steps = fc.array(fc.oneof(fields, fc.nat(100)), { maxLength: 60 });

/** Returns the index and its items after all steps. */
function applySteps(taken: readonly (Fields | number)[]): { index: SearchIndex<Item>; live: Item[] } {
  const index = new SearchIndex(SCHEMA, byKey);
  let live: Item[] = [];
  for (const [number, step] of taken.entries()) {
    // A search between two changes must not influence later searches.
    search([index], 'app', { limit: 1 });
    if (typeof step === 'number') {
      const removed = live[step % (live.length || 1)];
      if (!removed) continue;
      index.remove(removed);
      live = live.filter((item) => item !== removed);
    } else {
      const item = { key: `${(number * 37) % 101}`, ...step };
      index.add(item, { ...item });
      live.push(item);
    }
  }
  return { index, live };
}

/** Whether an item matches all terms of the query, by a linear scan. */
function matchesAll(item: Item, query: string): boolean {
  const words = [item.name, item.title, item.description, item.uri, item.mimeType].flatMap((each) =>
    termsOf(each ?? ''),
  );
  const has = (part: string, isPrefix: boolean): boolean =>
    words.some((each) => (isPrefix ? each.startsWith(part) : each === part));
  const chunks = tokenize(query);
  return chunks.every(({ whole, parts }, index) => {
    const isLast = index === chunks.length - 1;
    return (
      has(whole, isLast) || parts.every((part, place) => has(part, isLast && place === parts.length - 1))
    );
  });
}

describe('SearchIndex after changes', () => {
  it('matches the same items as a filter', () => {
    fc.assert(
      fc.property(steps, text, (taken, query) => {
        const { index, live } = applySteps(taken);
        const expected = live.filter((item) => matchesAll(item, query));
        expect(index.size).toBe(live.length);
        expect(new Set(matching([index], query))).toEqual(new Set(expected));
        expect([...matching([index], query)]).toHaveLength(expected.length);
      }),
    );
  });

  it('ranks like an index built from the remaining items', () => {
    fc.assert(
      fc.property(steps, text, fc.nat(20), (taken, query, limit) => {
        const { index, live } = applySteps(taken);
        const results = search([index], query, { limit });
        expect(results.length).toBeLessThanOrEqual(limit);
        expect(live).toEqual(expect.arrayContaining(results));
        expect(keysOf(results)).toEqual(keysOf(search([indexOf(live)], query, { limit })));
      }),
    );
  });

  it('scores equal documents equally, to the last bit, in different indexes', () => {
    const equal = { name: 'app log', description: 'of a server' };
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 20 }), (others) => {
        const plain = indexOf(['1', '4'].map((key) => ({ key, ...equal })));
        const mixed = indexOf([
          ...['2', '3'].map((key) => ({ key, ...equal })),
          { key: '5', description: 'apps logs ofs servers' },
          ...others.map((each, i) => ({ key: `other ${i}`, ...each })),
        ]);
        const keys = keysOf(search([plain, mixed], 'server of app log', { limit: 30 }));
        expect(keys.filter((key) => '1234'.includes(key))).toEqual(['1', '2', '3', '4']);
      }),
    );
  });

  it('ranks independently of the division of documents over indexes and of other indexes', () => {
    fc.assert(
      fc.property(
        fc.array(fields, { maxLength: 20 }),
        fc.array(fields, { maxLength: 20 }),
        text,
        (a, b, query) => {
          const mine = a.map((each, i): Item => ({ key: `a${i}`, ...each }));
          const theirs = b.map((each, i): Item => ({ key: `b${i}`, ...each }));
          const [indexA, indexB] = [indexOf(mine), indexOf(theirs)];
          const before = keysOf(search([indexA], query, { limit: 50 }));
          const both = keysOf(search([indexA, indexB], query, { limit: 50 }));
          expect(both).toEqual(keysOf(search([indexOf([...theirs, ...mine])], query, { limit: 50 })));
          expect(keysOf(search([indexA], query, { limit: 50 }))).toEqual(before);
          expect(before).toEqual(keysOf(search([indexOf(mine)], query, { limit: 50 })));
        },
      ),
    );
  });
});
