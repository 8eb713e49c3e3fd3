import { describe, expect, it } from '@jest/globals';
import { readServer } from '../config/read-server.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { AdminProblem } from './admin-problem.js';
import {
  changedKeys,
  definitionOf,
  definitionOfConfig,
  maskSecrets,
  hasSameCommand,
  isSameDefinition,
  restoreMasked,
} from './server-definition.js';
import { MASK } from './restore-args.js';

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

/** Forms of a definition: an admin sees all but the value `hidden`. */
const shownTo = {
  admin: (definition: JsonObject) =>
    maskSecrets(definition, { maskText: (text) => text.replaceAll('hidden', MASK), masksArgsAndUrls: false }),
  viewer: (definition: JsonObject) =>
    maskSecrets(definition, { maskText: (text) => text.replaceAll('hidden', MASK), masksArgsAndUrls: true }),
};

const restore = (desired: JsonObject, sent: JsonObject, current: JsonObject | undefined): JsonObject =>
  restoreMasked({
    desired,
    sent,
    current,
    shownForms: current ? [shownTo.admin(current), shownTo.viewer(current)] : [],
  });

describe('maskSecrets', () => {
  const args = ['--token', 'x', '--db=postgres://u:pw@h/d', '--region', 'us-east-1', 'hidden'];
  const definition = definitionOfConfig(read({ command: 'node', args, env: { A: '1' } }));

  it('masks secrets in arguments for a viewer, and only values that no role may read for an admin', () => {
    expect(shownTo.viewer(definition)).toEqual({
      ...definition,
      args: ['--token', MASK, `--db=postgres://u:${MASK}@h/d`, '--region', 'us-east-1', MASK],
      env: { A: MASK },
    });
    expect(shownTo.admin(definition)).toEqual({
      ...definition,
      args: [...args.slice(0, -1), MASK],
      env: { A: MASK },
    });
  });

  it('masks keys in URLs for a viewer', () => {
    const remote = definitionOfConfig(read({ url: `${url}?api_key=abc&x=1` }));
    expect(shownTo.viewer(remote)['url']).toBe(`${url}?api_key=${MASK}&x=1`);
    expect(shownTo.admin(remote)['url']).toBe(`${url}?api_key=abc&x=1`);
  });
});

describe('restoreMasked', () => {
  const current = definitionOfConfig(read({ url, headers: { a: 'secret', b: 'other' } }));

  it('restores the values that maskSecrets masked', () => {
    const shown = shownTo.viewer(current);
    expect(shown['headers']).toEqual({ a: MASK, b: MASK });
    expect(restore(shown, shown, current)).toEqual(current);
  });

  it('keeps new values', () => {
    const given = { url, headers: { a: MASK, c: 'new' } };
    expect(restore(given, given, current)['headers']).toEqual({ a: 'secret', c: 'new' });
  });

  it('requires headers again when the URL changes', () => {
    const moved = { ...shownTo.viewer(current), url: 'http://evil.example/' };
    expect(fieldsOf(() => restore(moved, moved, current))).toEqual(['headers.a', 'headers.b']);
    const merged = { ...current, url: 'http://evil.example/' };
    expect(fieldsOf(() => restore(merged, { url: merged.url }, current))).toEqual(['headers.a', 'headers.b']);
    const withNewHeaders = { url: 'http://b.example/', headers: { a: 'mine' } };
    expect(fieldsOf(() => restore(withNewHeaders, withNewHeaders, current))).toEqual([]);
  });

  it('refuses a mask without a stored value', () => {
    const given = { url, headers: { z: MASK } };
    expect(fieldsOf(() => restore(given, given, current))).toEqual(['headers.z']);
    expect(fieldsOf(() => restore(given, given, undefined))).toEqual(['headers.z']);
  });

  it('refuses a redacted value', () => {
    const given = { command: 'x', args: ['--key', '[redacted]'] };
    expect(fieldsOf(() => restore(given, given, undefined))).toEqual(['args[1]']);
  });
});

const reordered = (all: string[]): string[] => [...all.slice(4), ...all.slice(0, 4)];

describe('restoreMasked for arguments and URLs', () => {
  const args = ['--token', 'a1', '--token', 'b2', '--key', 'c3', 'hidden', '--db=redis://:pw@h'];
  const current = definitionOfConfig(read({ command: 'node', args }));
  const put = (edit: (shown: string[]) => string[], role: 'admin' | 'viewer' = 'viewer') => {
    const shown = shownTo[role](current);
    const sent = { ...shown, args: edit(shown['args'] as string[]) };
    return restore(sent, sent, current)['args'];
  };

  it.each(['admin', 'viewer'] as const)('keeps the stored arguments that %s saw', (role) => {
    expect(put((shown) => shown, role)).toEqual(args);
  });

  it('keeps them when other arguments are added, changed or removed', () => {
    expect(put((shown) => ['-v', ...shown])).toEqual(['-v', ...args]);
    expect(put((shown) => shown.slice(4))).toEqual(args.slice(4));
    expect(put((shown) => shown.with(4, '--other'))).toEqual(args.with(4, '--other'));
    expect(put(reordered)).toEqual(reordered(args));
  });

  it('refuses a mask that may stand for several stored arguments', () => {
    expect(fieldsOf(() => put((shown) => shown.slice(2)))).toEqual(['args[1]']);
    expect(fieldsOf(() => put((shown) => [...shown, MASK]))).toEqual(['args[8]']);
    expect(fieldsOf(() => restore({ args: [MASK] }, { args: [MASK] }, undefined))).toEqual(['args[0]']);
  });

  it('keeps a masked URL only as it was shown', () => {
    const remote = definitionOfConfig(read({ url: `${url}?api_key=abc` }));
    const shown = shownTo.viewer(remote);
    expect(restore(shown, shown, remote)).toEqual(remote);
    const moved = { ...shown, url: String(shown['url']).replace('a.example', 'evil.example') };
    expect(fieldsOf(() => restore(moved, moved, remote))).toEqual(['url']);
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
