import { describe, expect, it } from '@jest/globals';
import { readServer } from '../config/read-server.js';
import { AdminProblem } from './admin-problem.js';
import {
  changedKeys,
  definitionOf,
  definitionOfConfig,
  MASK,
  maskSecrets,
  hasSameCommand,
  isSameDefinition,
  restoreMasked,
} from './server-definition.js';

const read = (definition: object) => readServer('s', definition);
const url = 'http://a.example/mcp';

const fieldsOf = (act: () => unknown): string[] => {
  try {
    act();
    return [];
  } catch (error) {
    return (error as AdminProblem).errors.map(({ field }) => field);
  }
};

describe('definitionOf', () => {
  it.each([
    { url },
    { type: 'sse', url },
    { url, headers: { a: 'b' }, naming: { tools: 'never' }, enabled: false },
    { command: 'node', args: ['$${X}'], env: { A: '$${B}' }, cwd: '/' },
    { url, tools: { disabled: ['b', 'a'], exclusive: ['c'] } },
  ])('returns a definition of the same server for %j', (given) => {
    const definition = definitionOfConfig(read(given));
    expect(definitionOfConfig(read(definition))).toEqual(definition);
    expect(isSameDefinition(definition, definitionOfConfig(read(given)))).toBe(true);
  });

  it('includes decisions', () => {
    const config = read({ url, tools: { disabled: ['a'] } });
    expect(definitionOf({ config, enabled: false, disabledTools: new Set(['b']) })).toMatchObject({
      enabled: false,
      tools: { disabled: ['b'] },
    });
  });
});

describe('restoreMasked', () => {
  const current = definitionOfConfig(read({ url, headers: { a: 'secret', b: 'other' } }));

  it('restores the values that maskSecrets masked', () => {
    const shown = maskSecrets(current);
    expect(shown['headers']).toEqual({ a: MASK, b: MASK });
    expect(restoreMasked(shown, shown, current)).toEqual(current);
  });

  it('keeps new values', () => {
    const given = { url, headers: { a: MASK, c: 'new' } };
    expect(restoreMasked(given, given, current)['headers']).toEqual({ a: 'secret', c: 'new' });
  });

  it('requires headers again when the URL changes', () => {
    const moved = { ...maskSecrets(current), url: 'http://evil.example/' };
    expect(fieldsOf(() => restoreMasked(moved, moved, current))).toEqual(['headers.a', 'headers.b']);
    const merged = { ...current, url: 'http://evil.example/' };
    expect(fieldsOf(() => restoreMasked(merged, { url: merged.url }, current))).toEqual([
      'headers.a',
      'headers.b',
    ]);
    const withNewHeaders = { url: 'http://b.example/', headers: { a: 'mine' } };
    expect(fieldsOf(() => restoreMasked(withNewHeaders, withNewHeaders, current))).toEqual([]);
  });

  it('refuses a mask without a stored value', () => {
    const given = { url, headers: { z: MASK } };
    expect(fieldsOf(() => restoreMasked(given, given, current))).toEqual(['headers.z']);
    expect(fieldsOf(() => restoreMasked(given, given, undefined))).toEqual(['headers.z']);
  });

  it('refuses a redacted value', () => {
    const given = { command: 'x', args: ['--key', '[redacted]'] };
    expect(fieldsOf(() => restoreMasked(given, given, undefined))).toEqual(['args[1]']);
  });
});

describe('hasSameCommand', () => {
  const command = { command: 'node', args: ['a'], env: { A: '1' } };
  it.each<[object, boolean]>([
    [{ ...command, timeoutMs: 5, isolation: 'session' }, true],
    [{ ...command, command: 'bash' }, false],
    [{ ...command, args: ['b'] }, false],
    [{ ...command, env: { A: '2' } }, false],
    [{ ...command, cwd: '/' }, false],
    [{ url }, false],
  ])('compares with %j: %s', (other, same) => {
    expect(hasSameCommand(read(command), read(other))).toBe(same);
  });
});

it('changedKeys returns the names of changed members', () => {
  const [before, after] = [
    { url, timeoutMs: 5 },
    { url, timeoutMs: 6, queue: 1 },
  ].map((given) => definitionOfConfig(read(given)));
  expect(changedKeys(before!, after!).toSorted()).toEqual(['queue', 'timeoutMs']);
});
