import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { requireAccept, requireJson, sourceOf } from './http-request.js';
import { ANONYMOUS } from '../mcp/principal.js';

const requestWith = (headers: Record<string, string | undefined>): IncomingMessage =>
  ({ headers }) as unknown as IncomingMessage;

const passes = (check: () => void): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

describe('content negotiation', () => {
  it.each([
    ['application/json, text/event-stream', true],
    ['text/event-stream,application/json', true],
    ['application/json;q=0.9, text/event-stream;q=0.1', true],
    ['Application/JSON, TEXT/event-stream', true],
    ['application/json; charset=utf-8 , text/event-stream', true],
    ['*/*', true],
    ['text/html, */*;q=0.8', true],
    ['application/*, text/*', true],
    ['application/json, text/*', true],
    [undefined, false],
    ['', false],
    ['application/json', false],
    ['text/event-stream', false],
    ['application/*', false],
    ['text/html', false],
    ['application/jsonp, text/event-streams', false],
    ['application/json-seq, text/event-stream', false],
    ['x-application/json, text/event-stream', false],
    ['application/json;q=0, text/event-stream', false],
    ['application/json, text/event-stream; q=0.000', false],
    ['text/event-stream;x=application/json', false],
  ])('accepts JSON and event streams for Accept %j: %s', (accept, expected) => {
    const check = (): void => requireAccept(requestWith({ accept }), 'application/json', 'text/event-stream');
    expect(passes(check)).toBe(expected);
  });

  it('names the required types in the error', () => {
    expect(() => requireAccept(requestWith({}), 'application/json', 'text/event-stream')).toThrow(
      'the client must accept application/json and text/event-stream',
    );
  });

  it.each([
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['APPLICATION/JSON', true],
    [' application/json ;x=y', true],
    [undefined, false],
    ['', false],
    ['text/plain', false],
    ['application/json-rpc', false],
    ['application/jsonp', false],
    ['text/plain; application/json', false],
  ])('accepts the Content-Type %j: %s', (type, expected) => {
    expect(passes(() => requireJson(requestWith({ 'content-type': type })))).toBe(expected);
  });
});

const projectsOf = (headers: Record<string, string>, path?: string): readonly string[] =>
  sourceOf({ headers, principal: ANONYMOUS, quotaKey: 'anonymous' }, path).projects;

describe('sourceOf', () => {
  it.each([
    ['nothing', {}, undefined, []],
    ['the path', {}, 'a', ['a']],
    ['the header', { 'x-gatehouse-project': 'a' }, undefined, ['a']],
    ['the alternative header', { 'x-mcpr-project': 'b' }, undefined, ['b']],
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
