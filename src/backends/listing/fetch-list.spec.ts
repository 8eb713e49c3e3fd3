import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { refusalOf } from '../../../test/kit/promises.js';
import type { LinkRequest } from '../link/link.js';
import { DEFAULT_LIST_LIMITS, type ListLimits } from './list-limits.js';
import { fetchList, type ListMethod } from './fetch-list.js';

interface Page {
  readonly tools?: unknown;
  readonly nextCursor?: unknown;
}

const cursorOf = ({ params }: LinkRequest): string | undefined =>
  params === undefined ? undefined : (JSON.parse(params) as { cursor: string }).cursor;

/** A link to a server that responds to each cursor with a page. */
const linkTo = (page: (cursor: string | undefined) => Page): FakeLink =>
  new FakeLink({ 'tools/list': (request) => page(cursorOf(request)) });

const names = async (link: FakeLink, limits = DEFAULT_LIST_LIMITS): Promise<string[]> => {
  const { definitions } = await fetchList(link, 'tools/list', limits);
  return definitions.map(({ name }) => name);
};

const SCHEMA = { type: 'object' };
const tools = (...list: string[]): object[] => list.map((name) => ({ name, inputSchema: SCHEMA }));

const supports = (name: string, taskSupport: unknown): object => ({
  name,
  inputSchema: SCHEMA,
  execution: { taskSupport },
});

describe('fetchList', () => {
  it('requests a single page once, without a cursor', async () => {
    const link = linkTo(() => ({ tools: tools('a', 'b') }));
    expect(await names(link)).toEqual(['a', 'b']);
    expect(link.requests).toEqual([
      { method: 'tools/list', params: undefined, timeoutMs: DEFAULT_LIST_LIMITS.timeoutMs },
    ]);
  });

  it('fetches all pages in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { minLength: 1, maxLength: 30 }), async (sizes) => {
        const pages = sizes.map((size, n) => tools(...Array.from({ length: size }, (_, i) => `${n}-${i}`)));
        const link = linkTo((cursor) => {
          const n = Number(cursor ?? 0);
          return { tools: pages[n], ...(n + 1 < pages.length && { nextCursor: String(n + 1) }) };
        });
        expect(await names(link)).toEqual(pages.flat().map((tool) => (tool as { name: string }).name));
        expect(link.requests).toHaveLength(pages.length);
      }),
      { numRuns: 30 },
    );
  });

  it('wraps an output schema that is no object, and marks the tool', async () => {
    const [first] = tools('a');
    const link = linkTo(() => ({ tools: [{ ...first, outputSchema: { type: 'array' }, title: 'A' }] }));
    const fetched = await fetchList(link, 'tools/list');
    expect(fetched).toEqual({
      definitions: [
        {
          name: 'a',
          title: 'A',
          text: expect.any(String),
          modernText: expect.any(String),
          wrapsOutput: true,
        },
      ],
      digests: [expect.any(String)],
    });
    expect(JSON.parse(fetched.definitions[0]!.text)).toMatchObject({
      outputSchema: { type: 'object', properties: { result: { type: 'array' } }, required: ['result'] },
    });
  });

  it('has a second text of a tool that looks different to clients of the 2026 era', async () => {
    const [first] = tools('a');
    const execution = { taskSupport: 'optional' };
    const list = [first, { ...first, name: 'b', execution }, { ...first, outputSchema: { type: 'array' } }];
    const { definitions } = await fetchList(
      linkTo(() => ({ tools: list })),
      'tools/list',
    );
    const modern = definitions.map(({ modernText }) => modernText && (JSON.parse(modernText) as unknown));
    expect(modern).toEqual([
      undefined,
      { ...first, name: 'b' },
      { ...first, outputSchema: { type: 'array' } },
    ]);
  });

  it('finds the arguments that are repeated in headers', async () => {
    const [first] = tools('a');
    const properties = { region: { type: 'string', 'x-mcp-header': 'Region' } };
    const link = linkTo(() => ({ tools: [{ ...first, inputSchema: { type: 'object', properties } }] }));
    const { definitions } = await fetchList(link, 'tools/list');
    expect(definitions[0]?.paramHeaders).toEqual([{ name: 'Region', path: ['region'] }]);
  });

  it.each([
    [true, ['b'], 1],
    [false, ['a', 'b'], undefined],
  ])(
    'with headers: %s, lists %j of a tool with a forbidden header and another',
    async (sendsParamHeaders, listed, leftOut) => {
      const [first, second] = tools('a', 'b');
      const properties = { region: { type: 'object', 'x-mcp-header': 'Region' } };
      const link = linkTo(() => ({
        tools: [{ ...first, inputSchema: { type: 'object', properties } }, second],
      }));
      const fetched = await fetchList(Object.assign(link, { sendsParamHeaders }), 'tools/list');
      expect([fetched.definitions.map(({ name }) => name), fetched.leftOut]).toEqual([listed, leftOut]);
    },
  );

  it('leaves out and counts tools that can only run as tasks', async () => {
    const link = linkTo(() => ({ tools: [supports('a', 'required'), supports('b', 'optional'), null] }));
    const { definitions, needTasks, leftOut } = await fetchList(link, 'tools/list');
    expect([definitions.map(({ name }) => name), needTasks, leftOut]).toEqual([['b'], 1, 1]);
  });

  it('follows an empty cursor', async () => {
    const link = linkTo((cursor) =>
      cursor === undefined ? { tools: tools('a'), nextCursor: '' } : { tools: tools('b') },
    );
    expect(await names(link)).toEqual(['a', 'b']);
  });

  it.each([[null], [7], [{}]])('ends at the invalid cursor %j', async (nextCursor) => {
    expect(await names(linkTo(() => ({ tools: tools('a'), nextCursor })))).toEqual(['a']);
  });

  it('keeps every definition as it was written', async () => {
    const text = '{ "name":"a", "x":12345678901234567890, "f":1.0 }';
    const link = new FakeLink({ 'prompts/list': () => `{ "prompts":[ ${text} , {"name":"b"}],"_meta":{}}` });
    const { definitions } = await fetchList(link, 'prompts/list');
    expect(definitions).toEqual([
      { name: 'a', text },
      { name: 'b', text: '{"name":"b"}' },
    ]);
  });

  it('keeps title and description of a prompt as parsed, unless they are malformed', async () => {
    const text = '{"name":"a","title":"\\u0041","description":"d"}';
    const link = new FakeLink({
      'prompts/list': () => `{"prompts":[${text},{"name":"b","title":7,"description":"e"}]}`,
    });
    const { definitions } = await fetchList(link, 'prompts/list');
    expect(definitions).toEqual([
      { name: 'a', text, title: 'A', description: 'd' },
      { name: 'b', text: '{"name":"b","description":"e"}', description: 'e' },
    ]);
  });

  it.each([
    ['no list', {}],
    ['a string', { tools: 'none' }],
    ['null', { tools: null }],
  ])('treats %s as an empty list', async (_what, page) => {
    expect(await names(linkTo(() => page))).toEqual([]);
  });

  it('leaves out and counts items without a usable name', async () => {
    const prompts = [
      { name: 'a', n: 1 },
      { name: '' },
      { name: 7 },
      {},
      null,
      'b',
      [],
      { name: 'x'.repeat(8193) },
      { name: 'c' },
    ];
    const link = new FakeLink({ 'prompts/list': () => ({ prompts }) });
    const { definitions, leftOut, truncated } = await fetchList(link, 'prompts/list');
    expect(definitions.map(({ text }) => text)).toEqual(['{"name":"a","n":1}', '{"name":"c"}']);
    expect(leftOut).toBe(7);
    expect(truncated).toBeUndefined();
  });

  it('reads prompts from their own member', async () => {
    const link = new FakeLink({ 'prompts/list': () => ({ tools: tools('no'), prompts: tools('yes') }) });
    const { definitions } = await fetchList(link, 'prompts/list');
    expect(definitions.map(({ name }) => name)).toEqual(['yes']);
  });

  it('rejects when any page fails', async () => {
    const link = linkTo((cursor) => {
      if (cursor === undefined) return { tools: tools('a'), nextCursor: 'x' };
      return new Error('gone') as Page;
    });
    expect((await refusalOf(fetchList(link, 'tools/list'))).message).toBe('gone');
  });
});

describe('fetchList, an endless list', () => {
  it('ends with what was fetched when the server repeats a cursor', async () => {
    const link = linkTo((cursor) => ({
      tools: tools(cursor ?? 'first'),
      nextCursor: cursor === 'x' ? 'y' : 'x',
    }));
    const { definitions, truncated, hasRepeatedCursor } = await fetchList(link, 'tools/list');
    expect(hasRepeatedCursor).toBe(true);
    expect(truncated).toBeUndefined();
    expect(definitions.map(({ name }) => name)).toEqual(['first', 'x', 'y']);
  });

  it('ends after the second empty cursor', async () => {
    const link = linkTo(() => ({ tools: tools('a'), nextCursor: '' }));
    expect(await fetchList(link, 'tools/list')).toMatchObject({ hasRepeatedCursor: true });
    expect(link.requests).toHaveLength(2);
  });

  it('is truncated after the maximum number of pages', async () => {
    const link = linkTo((cursor) => {
      const n = Number(cursor ?? 0);
      return { tools: tools(`t${n}`), nextCursor: String(n + 1) };
    });
    const { definitions, truncated } = await fetchList(link, 'tools/list', {
      ...DEFAULT_LIST_LIMITS,
      maxPages: 7,
    });
    expect(truncated).toBe('more than 7 pages');
    expect(definitions).toHaveLength(7);
    expect(link.requests).toHaveLength(7);
  });

  it.each([
    [5, false],
    [6, true],
  ])('of %i items is truncated at five: %s', async (count, isTruncated) => {
    const list = tools(...Array.from({ length: count }, (_, n) => `t${n}`));
    const { definitions, truncated } = await fetchList(
      linkTo(() => ({ tools: list })),
      'tools/list',
      {
        ...DEFAULT_LIST_LIMITS,
        maxItems: 5,
      },
    );
    expect(definitions).toHaveLength(5);
    expect(truncated !== undefined).toBe(isTruncated);
  });
});

const uris = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({ uri: `x:${n}`, name: 'n' }));

const fetched = (page: object | string, method: ListMethod = 'resources/list', limits?: ListLimits) =>
  fetchList(new FakeLink({ [method]: () => page }), method, limits);

describe('fetchList of resources', () => {
  it('identifies items by their URI', async () => {
    const page = {
      resources: [{ uri: 'x:1', name: 'n' }],
      resourceTemplates: [{ uriTemplate: 'x:{y}', name: 'n' }],
    };
    expect((await fetched(page)).definitions).toEqual([{ name: 'x:1', text: '{"uri":"x:1","name":"n"}' }]);
    expect((await fetched(page, 'resources/templates/list')).definitions).toEqual([
      { name: 'x:{y}', text: '{"uriTemplate":"x:{y}","name":"n"}' },
    ]);
  });

  it('leaves out and counts URIs whose public form would be too long', async () => {
    const longest = 'x'.repeat(8192 - 'resource:///'.length - 64);
    const page = {
      resources: [
        { name: 'x:1' },
        ...[`${longest}x`, `é${longest.slice(1)}`, longest, 1, 'x:\ud800'].map((uri) => ({ uri, name: 'n' })),
        'x:1',
      ],
    };
    const { definitions, leftOut } = await fetched(page);
    expect(definitions.map(({ name }) => name)).toEqual([longest]);
    expect(leftOut).toBe(6);
  });

  it('accepts more resources than tools, and fewer templates', async () => {
    const page = { resources: uris(100_001), resourceTemplates: uris(0) };
    const { definitions, truncated } = await fetched(page);
    expect(definitions).toHaveLength(100_001);
    expect(truncated).toBeUndefined();
    const templates = Array.from({ length: 10_001 }, (_, n) => ({ uriTemplate: `x:${n}/{y}`, name: 'n' }));
    const truncatedList = await fetched({ resourceTemplates: templates }, 'resources/templates/list');
    expect(truncatedList.definitions).toHaveLength(10_000);
    expect(truncatedList.truncated).toBe('more than 10000 items');
  });

  it('yields to the event loop while a long page is read', async () => {
    let iterations = 0;
    let isDone = false;
    const count = (): void => {
      iterations++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await fetched({ resources: uris(30_000) });
    isDone = true;
    expect(iterations).toBeGreaterThan(2);
  });
});

const definitionOf = (length: number): string => `{"uri":"x:1","name":"${'n'.repeat(length - 23)}"}`;

describe('fetchList, length limits', () => {
  const LIMITS = { ...DEFAULT_LIST_LIMITS, maxDefinitionLength: 100, maxTotalLength: 250 };

  it('leaves out and counts a definition that is too long', async () => {
    const texts = [definitionOf(101), definitionOf(100)];
    const { definitions, leftOut } = await fetched(
      `{"resources":[${texts.join()}]}`,
      'resources/list',
      LIMITS,
    );
    expect(definitions.map(({ text }) => text.length)).toEqual([100]);
    expect(leftOut).toBe(1);
  });

  it('is truncated at the maximum total length', async () => {
    const page = `{"resources":[${[definitionOf(100), definitionOf(100), definitionOf(60), definitionOf(40)].join()}]}`;
    const { definitions, truncated } = await fetched(page, 'resources/list', LIMITS);
    expect(definitions).toHaveLength(2);
    expect(truncated).toBe('more than 250 characters');
  });

  it('is truncated at a cursor that is too long', async () => {
    const page = { resources: uris(1), nextCursor: 'c'.repeat(8193) };
    expect((await fetched(page)).truncated).toBe('the server has too long a cursor');
  });

  it('keeps definitions unchanged when they are a small part of the page', async () => {
    const text = '{ "uri":"x:\\u00e9" , "name":"\\ud800 é", "n":1.0 }';
    const { definitions } = await fetched(`{"_meta":{"x":"${'x'.repeat(1000)}"},"resources":[${text}]}`);
    expect(definitions).toEqual([{ name: 'x:é', text }]);
  });
});
