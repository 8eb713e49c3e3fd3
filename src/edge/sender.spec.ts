import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { projectsOf } from './sender.js';

const requestWith = (headers: Record<string, string>): IncomingMessage =>
  ({ headers }) as unknown as IncomingMessage;

describe('the projects that an HTTP request names', () => {
  it.each([
    ['nothing', {}, undefined, []],
    ['the path', {}, 'a', ['a']],
    ['the header', { 'x-gatehouse-project': 'a' }, undefined, ['a']],
    ['its other name', { 'x-mcpr-project': 'b' }, undefined, ['b']],
    ['all of them', { 'x-gatehouse-project': 'b', 'x-mcpr-project': 'c' }, 'a', ['a', 'b', 'c']],
    ['a header that only looks like it', { 'x-project': 'a', 'gatehouse-project': 'a' }, undefined, []],
  ])('are read from %s', (_what, headers, path, projects) => {
    expect(projectsOf(requestWith(headers), path)).toEqual(projects);
  });

  it.each(['x-gatehouse-project', 'x-mcpr-project'])('are not "none" when %s is empty', (name) => {
    expect(() => projectsOf(requestWith({ [name]: '' }), undefined)).toThrow(
      expect.objectContaining({ kind: 'bad-request', message: expect.stringContaining(name) }),
    );
  });
});
