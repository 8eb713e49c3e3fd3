import { describe, expect, it } from '@jest/globals';
import { readServer } from '../config/read-server.js';
import { AdminProblem } from './admin-problem.js';
import {
  changedKeys,
  definitionOf,
  definitionOfConfig,
  MASK,
  masked,
  sameCommand,
  sameDefinition,
  unmasked,
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
  ])('gives what makes the same server of %j', (given) => {
    const definition = definitionOfConfig(read(given));
    expect(definitionOfConfig(read(definition))).toEqual(definition);
    expect(sameDefinition(definition, definitionOfConfig(read(given)))).toBe(true);
  });

  it('holds what was decided apart from it', () => {
    const config = read({ url, tools: { disabled: ['a'] } });
    expect(definitionOf({ config, enabled: false, disabledTools: new Set(['b']) })).toMatchObject({
      enabled: false,
      tools: { disabled: ['b'] },
    });
  });
});

describe('masked and unmasked', () => {
  const current = definitionOfConfig(read({ url, headers: { a: 'secret', b: 'other' } }));

  it('hide values and put them back', () => {
    const shown = masked(current);
    expect(shown['headers']).toEqual({ a: MASK, b: MASK });
    expect(unmasked(shown, shown, current)).toEqual(current);
  });

  it('take new values', () => {
    const given = { url, headers: { a: MASK, c: 'new' } };
    expect(unmasked(given, given, current)['headers']).toEqual({ a: 'secret', c: 'new' });
  });

  it('do not send a secret to another address than it was given for', () => {
    const moved = { ...masked(current), url: 'http://evil.example/' };
    expect(fieldsOf(() => unmasked(moved, moved, current))).toEqual(['headers.a', 'headers.b']);
    const merged = { ...current, url: 'http://evil.example/' };
    expect(fieldsOf(() => unmasked(merged, { url: merged.url }, current))).toEqual([
      'headers.a',
      'headers.b',
    ]);
    const anew = { url: 'http://b.example/', headers: { a: 'mine' } };
    expect(fieldsOf(() => unmasked(anew, anew, current))).toEqual([]);
  });

  it('have no value for a mask where there is none', () => {
    const given = { url, headers: { z: MASK } };
    expect(fieldsOf(() => unmasked(given, given, current))).toEqual(['headers.z']);
    expect(fieldsOf(() => unmasked(given, given, undefined))).toEqual(['headers.z']);
  });

  it('do not store the mark of a redacted value', () => {
    const given = { command: 'x', args: ['--key', '[redacted]'] };
    expect(fieldsOf(() => unmasked(given, given, undefined))).toEqual(['args[1]']);
  });
});

describe('sameCommand', () => {
  const command = { command: 'node', args: ['a'], env: { A: '1' } };
  it.each<[object, boolean]>([
    [{ ...command, timeoutMs: 5, isolation: 'session' }, true],
    [{ ...command, command: 'bash' }, false],
    [{ ...command, args: ['b'] }, false],
    [{ ...command, env: { A: '2' } }, false],
    [{ ...command, cwd: '/' }, false],
    [{ url }, false],
  ])('with %j: %s', (other, same) => {
    expect(sameCommand(read(command), read(other))).toBe(same);
  });
});

it('names what changed', () => {
  const [before, after] = [
    { url, timeoutMs: 5 },
    { url, timeoutMs: 6, queue: 1 },
  ].map((given) => definitionOfConfig(read(given)));
  expect(changedKeys(before!, after!).toSorted()).toEqual(['queue', 'timeoutMs']);
});
