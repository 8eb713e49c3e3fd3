import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { auditEvent } from '../../../test/kit/state-audit.js';
import { EMPTY_CHAIN, parseEntry, serializeEntry } from './audit-entry.js';

const TIME = new Date('2026-11-16T12:00:00Z');
const line = serializeEntry({ ...auditEvent(1), change: { enabled: false } }, EMPTY_CHAIN, TIME, []);

describe('serializeEntry and parseEntry', () => {
  it('write one line with members in a fixed order', () => {
    const [body, hash] = line.split(',"hash":');
    expect(body).toBe(
      '{"seq":1,"time":"2026-11-16T12:00:00.000Z","actor":"admin","action":"server.disable","target":"server 1",' +
        `"outcome":"done","requestId":"request-1","change":{"enabled":false},"prev":"${'0'.repeat(64)}"`,
    );
    expect(hash).toBe(`"${createHash('sha256').update(`${body}}`).digest('hex')}"}`);
  });

  it('read back any entry that was written', () => {
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
        const written = serializeEntry(given, { ...EMPTY_CHAIN, seq }, TIME, ['a note']);
        expect(written).not.toMatch(/[\n\r]/);
        const entry = parseEntry(Buffer.from(written));
        expect(JSON.stringify(entry)).toBe(written);
        expect(entry?.seq).toBe(seq + 1);
      }),
    );
  });

  it('write only known members of an event', () => {
    const event = { ...auditEvent(1), seq: 7, prev: 'x', hash: 'y', token: 'secret' };
    expect(parseEntry(Buffer.from(serializeEntry(event, EMPTY_CHAIN, TIME, [])))).toMatchObject({ seq: 1 });
    expect(serializeEntry(event, EMPTY_CHAIN, TIME, [])).not.toContain('secret');
  });

  it('refuse a line with any byte changed', () => {
    const bytes = Buffer.from(line);
    const undetected = [...bytes.keys()].filter((i) => {
      const changed = Buffer.from(bytes);
      changed[i] = bytes[i]! ^ 1;
      return parseEntry(changed);
    });
    expect(undetected).toEqual([]);
  });

  it.each(['', '{}', line.slice(0, -1), line.slice(1), `${line}\r`, ` ${line}`])('refuse %j', (text) => {
    expect(parseEntry(Buffer.from(text))).toBeUndefined();
  });

  it('refuse a line with a valid hash that is not JSON', () => {
    const hash = createHash('sha256').update('not json}').digest('hex');
    expect(parseEntry(Buffer.from(`not json,"hash":"${hash}"}`))).toBeUndefined();
  });
});
