import { describe, expect, it } from '@jest/globals';
import { decideKey, decideProject, decideServer, NO_DECISIONS } from './decisions.js';
import { parseState, serializeState } from './state-document.js';
import { migrate, SCHEMA_VERSION } from './state-migrations.js';

const decisions = {
  ...decideServer(
    decideProject(NO_DECISIONS, 'payments', { servers: ['db'], description: 'money' }),
    'db',
    () => ({ enabled: false, tools: { drop: false } }),
  ),
  revision: 7,
};

/** The first released format, which every later version has to read. */
const SCHEMA_1 = `{
  "schemaVersion": 1,
  "revision": 7,
  "checksum": "sha256:ea323819891af91da07168a959709a3dbc400d67a216f0ea0a939cf348430e7b",
  "decisions": {
    "servers": {
      "db": {
        "enabled": false,
        "tools": {
          "drop": false
        }
      }
    },
    "projects": {
      "payments": {
        "servers": [
          "db"
        ],
        "description": "money"
      }
    }
  }
}
`;

const revoked = {
  ...decideKey(decisions, 'ci', { revoked: ['sha256:0'] }),
  stamps: new Map([['key:ci', { by: 'admin', at: '2026-11-18T09:00:00.000Z' }]]),
};

describe('state document', () => {
  it('is written in schema 2', () => {
    const text = serializeState(revoked);
    expect(SCHEMA_VERSION).toBe(2);
    expect(JSON.parse(text)).toEqual({
      schemaVersion: 2,
      revision: 7,
      checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      decisions: {
        ...(JSON.parse(SCHEMA_1) as { decisions: object }).decisions,
        keys: { ci: { revoked: ['sha256:0'] } },
        stamps: { 'key:ci': { by: 'admin', at: '2026-11-18T09:00:00.000Z' } },
      },
    });
    expect(parseState(text)).toEqual({ decisions: revoked });
  });

  it('is read in the format of schema 1', () => {
    expect(parseState(SCHEMA_1)).toEqual({ decisions });
  });

  it('is read with other whitespace', () => {
    expect(parseState(JSON.stringify(JSON.parse(SCHEMA_1)))).toEqual({ decisions });
  });

  it.each([
    ['no text', ''],
    ['only zeros, as after a power failure', '\0'.repeat(500)],
    ['its first half', SCHEMA_1.slice(0, SCHEMA_1.length / 2)],
    ['all but its last bracket', SCHEMA_1.slice(0, -2)],
    ['its text twice', SCHEMA_1 + SCHEMA_1],
    ['JSON of another kind', '[]'],
    ['null', 'null'],
    ['another decision', SCHEMA_1.replace('"enabled": false', '"enabled": true')],
    ['another revision', SCHEMA_1.replace('"revision": 7', '"revision": 8')],
    ['a revision that is not a number', SCHEMA_1.replace('"revision": 7', '"revision": "7"')],
    ['an additional decision', SCHEMA_1.replace('"enabled"', '"removed": true, "enabled"')],
    ['no checksum', SCHEMA_1.replace('checksum', 'sum')],
    ['no decisions', '{"schemaVersion":1,"revision":0}'],
    ['a schema version of 0', SCHEMA_1.replace('"schemaVersion": 1', '"schemaVersion": 0')],
    ['no schema version', '{}'],
  ])('is damaged when it contains %s', (_, text) => {
    expect(parseState(text)).toEqual({ damage: expect.any(String) });
  });

  it('detects the change of any significant character', () => {
    const undetected = SCHEMA_1.split('').filter((character, i) => {
      const changed = SCHEMA_1.slice(0, i) + (character === '0' ? '1' : '0') + SCHEMA_1.slice(i + 1);
      return 'decisions' in parseState(changed);
    });
    expect(undetected.filter((character) => character.trim() !== '')).toEqual([]);
  });

  it('is not read in a later schema, whether or not its checksum matches', () => {
    expect(parseState('{"schemaVersion":3,"anything":"else"}')).toEqual({ newerVersion: 3 });
  });
});

describe('migrate', () => {
  const steps = [1, 2, 3].map((n) => (content: object) => ({
    ...content,
    path: `${(content as { path?: string }).path ?? ''}${n}`,
  }));

  it.each([
    [1, '123'],
    [2, '23'],
    [3, '3'],
    [4, undefined],
  ])('applies every migration after schema %i in order', (from, path) => {
    expect(migrate({}, from, steps)).toEqual(path === undefined ? {} : { path });
  });
});
