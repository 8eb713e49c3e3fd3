import { describe, expect, it } from '@jest/globals';
import { configOf } from '../../test/kit/config.js';
import { decideProject, decideServer, NO_DECISIONS } from '../state/decisions.js';
import type { ProjectDecision, ServerDecision } from '../state/decision-store.js';
import { withoutRedundant } from './redundant-decisions.js';

const config = configOf({
  mcpServers: {
    on: { url: 'http://127.0.0.1:9/mcp', tools: { disabled: ['b', 'a'] } },
    off: { command: 'node', enabled: false },
  },
  projects: { p: { servers: ['on'], description: 'd' } },
});
const ADDED = { url: 'http://127.0.0.1:9/added', enabled: false };

const server = (id: string, decision: ServerDecision): ServerDecision | undefined =>
  withoutRedundant(
    decideServer(NO_DECISIONS, id, () => decision),
    config,
  ).servers.get(id);

describe('withoutRedundant', () => {
  it.each<[string, string, ServerDecision, ServerDecision | undefined]>([
    ['enabled as in the file', 'on', { enabled: true }, undefined],
    ['disabled as in the file', 'off', { enabled: false }, undefined],
    ['disabled against the file', 'on', { enabled: false }, { enabled: false }],
    ['enabled against the file', 'off', { enabled: true }, { enabled: true }],
    ['tools as in the file', 'on', { tools: { a: false, c: true } }, undefined],
    ['tools against the file', 'on', { tools: { a: true, b: false } }, { tools: { a: true } }],
    [
      'a definition as in the file',
      'on',
      { definition: { url: 'http://127.0.0.1:9/mcp', tools: { disabled: ['a', 'b'] } }, enabled: false },
      { enabled: false },
    ],
    [
      'another definition, and what it says of tools',
      'on',
      { definition: ADDED, enabled: false, tools: { a: true, b: false } },
      { definition: ADDED, tools: { b: false } },
    ],
    [
      'what the definition of an added server says',
      'added',
      { definition: ADDED, enabled: false },
      { definition: ADDED },
    ],
    ['a decision about a server that is not defined now', 'gone', { enabled: true }, { enabled: true }],
    [
      'a stored definition that is not valid',
      'added',
      { definition: { url: 1 } },
      { definition: { url: 1 } },
    ],
    ['a removal', 'on', { removed: true }, { removed: true }],
  ])('leaves what is needed of %s', (_what, id, decision, needed) => {
    expect(server(id, decision)).toEqual(needed);
  });

  it.each<[ProjectDecision, boolean]>([
    [{ servers: ['on'], description: 'd' }, false],
    [{ servers: ['on'] }, true],
    [{ servers: [], description: 'd' }, true],
    [{ removed: true }, true],
  ])('keeps the project %j: %s', (decision, isKept) => {
    const { projects } = withoutRedundant(decideProject(NO_DECISIONS, 'p', decision), config);
    expect(projects.has('p')).toBe(isKept);
  });

  it('does not check the entries of unchecked decisions', () => {
    const before = decideServer(NO_DECISIONS, 'on', () => ({ enabled: true }));
    const after = decideServer(before, 'off', () => ({ enabled: false }));
    expect([...withoutRedundant(after, config, before).servers.keys()]).toEqual(['on']);
  });
});
