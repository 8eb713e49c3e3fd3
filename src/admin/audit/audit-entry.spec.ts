import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { auditEvent } from '../../../test/kit/state-audit.js';
import { NO_ENTRIES, readEntry, writeEntry } from './audit-entry.js';

const TIME = new Date('2026-11-16T12:00:00Z');
const line = writeEntry({ ...auditEvent(1), change: { enabled: false } }, NO_ENTRIES, TIME, []);

describe('an audit entry', () => {
  it('is one line that says everything in a fixed order', () => {
    const [body, hash] = line.split(',"hash":');
    expect(body).toBe(
      '{"seq":1,"time":"2026-11-16T12:00:00.000Z","actor":"admin","action":"server.disable","target":"server 1",' +
        `"outcome":"done","requestId":"request-1","change":{"enabled":false},"prev":"${'0'.repeat(64)}"`,
    );
    expect(hash).toBe(`"${createHash('sha256').update(`${body}}`).digest('hex')}"}`);
  });

  it('is read back as it was written, whatever it says', () => {
    const text = fc.string({ unit: 'binary' });
    const event = fc.record({
      actor: text,
      action: text,
      target: text,
      outcome: text,
      requestId: text,
      change: fc.dictionary(text, fc.jsonValue()),
    });
    fc.assert(
      fc.property(event, fc.nat(), (given, seq) => {
        const written = writeEntry(given, { ...NO_ENTRIES, seq }, TIME, ['a note']);
        expect(written).not.toMatch(/[\n\r]/);
        const entry = readEntry(Buffer.from(written));
        expect(JSON.stringify(entry)).toBe(written);
        expect(entry?.seq).toBe(seq + 1);
      }),
    );
  });

  it('takes nothing from an event but what belongs there', () => {
    const event = { ...auditEvent(1), seq: 7, prev: 'x', hash: 'y', token: 'secret' };
    expect(readEntry(Buffer.from(writeEntry(event, NO_ENTRIES, TIME, [])))).toMatchObject({ seq: 1 });
    expect(writeEntry(event, NO_ENTRIES, TIME, [])).not.toContain('secret');
  });

  it('is not read when any one byte of it is another', () => {
    const bytes = Buffer.from(line);
    const unnoticed = [...bytes.keys()].filter((i) => {
      const changed = Buffer.from(bytes);
      changed[i] = bytes[i]! ^ 1;
      return readEntry(changed);
    });
    expect(unnoticed).toEqual([]);
  });

  it.each(['', '{}', line.slice(0, -1), line.slice(1), `${line}\r`, ` ${line}`])('is not %j', (text) => {
    expect(readEntry(Buffer.from(text))).toBeUndefined();
  });

  it('is not something else with a hash that fits', () => {
    const hash = createHash('sha256').update('nonsense}').digest('hex');
    expect(readEntry(Buffer.from(`nonsense,"hash":"${hash}"}`))).toBeUndefined();
  });
});
