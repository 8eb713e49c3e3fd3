import { describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { EVERYTHING } from '../core/scope.js';
import { Projects } from '../projects/projects.service.js';
import { ListRequests } from './list-requests.js';

const harness = new AdminHarness({
  mcpServers: { a: { url: 'http://a.example/' }, b: { url: 'http://b.example/' } },
  projects: { p: { servers: ['a'] } },
});
const createRequests = (): ListRequests =>
  new ListRequests(new Projects(harness.live, harness.state), harness.views, new RandomCursorKey());
const requests = createRequests();

const invalidCursor = expect.objectContaining({
  kind: 'invalid-input',
  errors: [expect.objectContaining({ field: 'cursor' })],
});

describe('ListRequests', () => {
  it('parses an empty query as the first page without filters', () => {
    expect(requests.parse('tools', {})).toMatchObject({
      scope: EVERYTHING,
      server: undefined,
      q: '',
      after: '',
      limit: 200,
    });
  });

  it('parses server, project, words and limit', () => {
    const request = requests.parse('tools', { server: 'b', project: 'p', q: ' two words ', limit: 3 });
    expect(request).toMatchObject({ server: 'b', q: 'two words', limit: 3 });
    expect(['a', 'b'].map((server) => request.scope.allows(server))).toEqual([true, false]);
  });

  it.each([{ server: 'none' }, { project: 'none' }, { server: '' }, { project: '' }])(
    'refuses an unknown server or project: %j',
    (query) => {
      expect(() => requests.parse('tools', query)).toThrow(expect.objectContaining({ kind: 'not-found' }));
    },
  );

  it('accepts its own cursor for the same list', () => {
    const query = { server: 'a', project: 'p', q: 'x' };
    const cursor = requests.parse('tools', query).cursorAfter('a__tool');
    expect(requests.parse('tools', { ...query, cursor }).after).toBe('a__tool');
    expect(requests.parse('tools', { ...query, limit: 100, cursor }).after).toBe('a__tool');
  });

  it.each([
    ['for another kind', 'prompts', {}],
    ['for another server', 'tools', { server: 'b' }],
    ['for another project', 'tools', { project: 'p' }],
    ['for another search', 'tools', { q: 'x' }],
  ])('refuses a cursor %s', (_what, kind, query) => {
    const cursor = requests.parse('tools', {}).cursorAfter('x');
    expect(() => requests.parse(kind, { ...query, cursor })).toThrow(invalidCursor);
  });

  it.each(['', 'x', 'a__tool', 'x'.repeat(100_000)])('refuses a malformed cursor: %.20j', (cursor) => {
    expect(() => requests.parse('tools', { cursor })).toThrow(invalidCursor);
  });

  it('refuses the cursor of another gateway', () => {
    const cursor = createRequests().parse('tools', {}).cursorAfter('x');
    expect(() => requests.parse('tools', { cursor })).toThrow(invalidCursor);
  });
});
