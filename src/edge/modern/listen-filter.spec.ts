import { describe, expect, it } from '@jest/globals';
import { honouredFilter, readListenFilter } from './listen-filter.js';

describe('readListenFilter', () => {
  it('reads the kinds of lists and the resources', () => {
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: true,
      resourceSubscriptions: ['x://a'],
      taskIds: ['unknown'],
    };
    expect(readListenFilter({ notifications })).toEqual({
      listChanges: ['tools', 'resources'],
      resources: ['x://a'],
    });
    expect(readListenFilter({ notifications: {} })).toEqual({ listChanges: [], resources: undefined });
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
    expect(() => readListenFilter(params)).toThrow(expect.objectContaining({ kind: 'invalid-params' }));
  });

  it('refuses a URI that is too long', () => {
    const notifications = { resourceSubscriptions: ['x', 'x'.repeat(1_000_000)] };
    expect(() => readListenFilter({ notifications })).toThrow('a URI must not be longer than');
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
