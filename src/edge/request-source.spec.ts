import { describe, expect, it } from '@jest/globals';
import { ANONYMOUS } from '../mcp/principal.js';
import { sourceOf } from './request-source.js';

const projectsOf = (headers: Record<string, string>, path?: string): readonly string[] =>
  sourceOf({ headers, principal: ANONYMOUS }, path).projects;

describe('sourceOf', () => {
  it.each([
    ['nothing', {}, undefined, []],
    ['the path', {}, 'a', ['a']],
    ['the header', { 'x-gatehouse-project': 'a' }, undefined, ['a']],
    ['the header of the other name', { 'x-mcpr-project': 'b' }, undefined, ['b']],
    ['path and both headers', { 'x-gatehouse-project': 'b', 'x-mcpr-project': 'c' }, 'a', ['a', 'b', 'c']],
    ['no similar header', { 'x-project': 'a', 'gatehouse-project': 'a' }, undefined, []],
  ])('reads projects from %s', (_what, headers, path, projects) => {
    expect(projectsOf(headers, path)).toEqual(projects);
  });

  it.each(['x-gatehouse-project', 'x-mcpr-project'])('refuses an empty %s header', (name) => {
    expect(() => projectsOf({ [name]: '' })).toThrow(
      expect.objectContaining({ kind: 'bad-request', message: expect.stringContaining(name) }),
    );
  });
});
