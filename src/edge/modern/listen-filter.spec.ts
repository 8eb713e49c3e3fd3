import { describe, expect, it } from '@jest/globals';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { runAtOnce } from '../../lib/slices/run-sliced.js';
import { honouredFilter, readListenFilter, type ListenFilter } from './listen-filter.js';

/** Reads the filter from params that were received as text. */
function read(params: object | undefined): ListenFilter {
  const json = params && JsonText.of(params);
  const value = json?.value;
  return runAtOnce(readListenFilter(isJsonObject(value) ? value : undefined, { paramsText: json?.text }));
}

describe('readListenFilter', () => {
  it('reads the kinds of lists and the resources', () => {
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: true,
      resourceSubscriptions: ['x://a'],
      taskIds: ['unknown'],
    };
    expect(read({ notifications })).toEqual({
      listChanges: ['tools', 'resources'],
      resources: ['x://a'],
    });
    expect(read({ notifications: {} })).toEqual({ listChanges: [], resources: undefined });
  });

  it.each([
    [undefined],
    [{}],
    [{ notifications: null }],
    [{ notifications: [] }],
    [{ notifications: { toolsListChanged: 'true' } }],
    [{ notifications: { promptsListChanged: null } }],
    [{ notifications: { resourceSubscriptions: {} } }],
    [{ notifications: { resourceSubscriptions: ['x', 1] } }],
  ])('refuses %j', (params) => {
    expect(() => read(params)).toThrow(expect.objectContaining({ kind: 'invalid-params' }));
  });

  it('refuses a URI that is too long', () => {
    const notifications = { resourceSubscriptions: ['x', 'x'.repeat(1_000_000)] };
    expect(() => read({ notifications })).toThrow('a URI must not be longer than');
  });
});

describe('readListenFilter, with long params', () => {
  const uris = Array.from({ length: 10_000 }, (_, n) => `x://a/"${n}"`);

  it('reads all URIs, in steps', () => {
    const json = JsonText.of({ notifications: { resourcesListChanged: true, resourceSubscriptions: uris } });
    const steps = readListenFilter(json.value as Readonly<Record<string, unknown>>, {
      paramsText: json.text,
    });
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect([count, step.value]).toEqual([10_000, { listChanges: ['resources'], resources: uris }]);
  });

  it.each([
    ['a number', [...uris, 1], 'must be an array of strings'],
    ['an array', [...uris, uris], 'must be an array of strings'],
    ['a long URI', [...uris, 'x'.repeat(8193)], 'a URI must not be longer than'],
    ['no array', 'x'.repeat(100_000), 'must be an array of strings'],
  ])('refuses %s', (_what, resourceSubscriptions, problem) => {
    expect(() => read({ notifications: { resourceSubscriptions } })).toThrow(problem);
  });

  it('refuses null', () => {
    const filter = { resourceSubscriptions: null, other: 'x'.repeat(100_000) };
    expect(() => read({ notifications: filter })).toThrow('must be an array of strings');
  });
});

describe('honouredFilter', () => {
  it('says what is honoured of what was asked for', () => {
    expect(honouredFilter({ listChanges: ['prompts'], resources: ['x', 'y'] }, ['y'])).toEqual({
      promptsListChanged: true,
      resourceSubscriptions: ['y'],
    });
    expect(honouredFilter({ listChanges: [], resources: [] }, [])).toEqual({ resourceSubscriptions: [] });
    expect(honouredFilter({ listChanges: [], resources: undefined }, [])).toEqual({});
  });
});
