import { describe, expect, it } from '@jest/globals';
import { decisionItems, stampChanges, withoutDecision } from './decision-items.js';
import { decideKey, decideProject, decideServer, NO_DECISIONS } from './decisions.js';
import type { Decisions, DecisionStamp } from './decision-store.js';

const FIRST: DecisionStamp = { by: 'admin', at: '2026-11-18T09:00:00.000Z' };
const SECOND: DecisionStamp = { by: 'admin', at: '2026-11-18T10:00:00.000Z' };

const withServer = (decisions: Decisions, id: string, decision: object): Decisions =>
  decideServer(decisions, id, (before) => ({ ...before, ...decision }));

const ALL = decideKey(
  decideProject(
    withServer(
      withServer(NO_DECISIONS, 'a', { enabled: false, tools: { 'x:y': true }, definition: { url: 'u' } }),
      'b',
      { removed: true },
    ),
    'p',
    { servers: ['a'] },
  ),
  'ci',
  { revoked: ['sha256:0'] },
);

describe('decisionItems', () => {
  it('are one for each part that can be decided on its own', () => {
    expect(decisionItems(ALL).map(({ id, kind, target, change }) => [id, kind, target, change])).toEqual([
      ['server:a:definition', 'server', 'a', 'defined'],
      ['server:a:enabled', 'server', 'a', 'disabled'],
      ['tool:a:x:y', 'tool', 'a', 'enabled'],
      ['server:b:definition', 'server', 'b', 'removed'],
      ['project:p', 'project', 'p', 'defined'],
      ['key:ci', 'key', 'ci', 'revoked'],
    ]);
  });
});

describe('withoutDecision', () => {
  it.each(decisionItems(ALL).map(({ id }) => id))('removes %s and nothing else', (removed) => {
    const ids = decisionItems(withoutDecision(ALL, removed)).map(({ id }) => id);
    expect(ids).toEqual(
      decisionItems(ALL)
        .map(({ id }) => id)
        .filter((id) => id !== removed),
    );
  });

  it.each(['', 'server', 'server:a', 'server:a:other', 'server:c:enabled', 'tool:a:z', 'tool:a', 'other:a'])(
    'changes nothing for %j',
    (id) => {
      expect(decisionItems(withoutDecision(ALL, id))).toEqual(decisionItems(ALL));
    },
  );
});

describe('stampChanges', () => {
  const first = stampChanges(NO_DECISIONS, ALL, FIRST);

  it('stamps every new decision', () => {
    expect([...first.stamps]).toEqual(decisionItems(ALL).map(({ id }) => [id, FIRST]));
  });

  it('stamps what changed, and keeps the stamps of other parts of the same server', () => {
    const { stamps } = stampChanges(first, withServer(first, 'a', { enabled: true }), SECOND);
    expect(stamps.get('server:a:enabled')).toBe(SECOND);
    expect(stamps.get('tool:a:x:y')).toBe(FIRST);
    expect(stamps.get('project:p')).toBe(FIRST);
  });

  it('stamps the renewed decision although its value is the same', () => {
    const same = withServer(first, 'a', { enabled: false });
    expect(stampChanges(first, same, SECOND).stamps.get('server:a:enabled')).toBe(FIRST);
    expect(stampChanges(first, same, SECOND, 'server:a:enabled').stamps.get('server:a:enabled')).toBe(SECOND);
  });

  it('removes the stamps of cleared decisions', () => {
    let cleared = first;
    for (const { id } of decisionItems(first))
      cleared = stampChanges(cleared, withoutDecision(cleared, id), SECOND);
    expect([...cleared.stamps]).toEqual([]);
  });
});
