import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { auditEvent, openAudit, writeAudit } from '../../../test/kit/state-audit.js';
import { tempDir } from '../../../test/kit/temp-dir.js';
import { StateError } from '../state-error.js';
import { verifyAudit } from './verify-audit.js';

let directory = '';
const path = (name: string): string => join(directory, name);
const log = (): string => path('audit.jsonl');
const otherFiles = (): string[] =>
  readdirSync(directory).filter((name) => !/^audit\.(jsonl|head)$/.test(name));

/** Opens the log, appends an entry and returns its notes. */
async function appendAndReadNotes(): Promise<readonly string[] | undefined> {
  const { audit, close } = await openAudit(directory, { now: () => new Date('2026-11-16T12:00:00Z') });
  const { notes } = await audit.append(auditEvent(9));
  await close();
  return notes;
}

beforeEach(() => {
  directory = tempDir();
});

describe('AuditLog after a crash or manipulation', () => {
  it('moves an incomplete line to a file of its own and notes it in the next entry only', async () => {
    await writeAudit(directory, 2);
    appendFileSync(log(), '{"seq":3,"time":"20');
    const aside = 'audit.jsonl.torn-2026-11-16T12-00-00.000Z';
    expect(await appendAndReadNotes()).toEqual([
      `a line that was not written to its end, 19 bytes, is kept in ${aside}`,
    ]);
    expect(await appendAndReadNotes()).toBeUndefined();
    expect(otherFiles()).toEqual([aside]);
    expect(readFileSync(path(aside), 'utf8')).toBe('{"seq":3,"time":"20');
    expect(await verifyAudit(log())).toEqual({
      ok: true,
      entries: 4,
      notes: [`entry 3: a line that was not written to its end, 19 bytes, is kept in ${aside}`],
    });
  });

  it('moves an incomplete first line to a file of its own', async () => {
    writeFileSync(log(), '{"seq":1');
    expect(await appendAndReadNotes()).toEqual([expect.stringContaining('8 bytes')]);
    expect(await verifyAudit(log())).toMatchObject({ ok: true, entries: 1 });
  });

  it('continues after an entry that was written but not acknowledged', async () => {
    await writeAudit(directory, 1);
    const head = readFileSync(path('audit.head'));
    await appendAndReadNotes();
    writeFileSync(path('audit.head'), head);
    expect(await appendAndReadNotes()).toBeUndefined();
    expect(await verifyAudit(log())).toMatchObject({ ok: true, entries: 3 });
  });

  it.each<[string, (lines: string[]) => string[], string]>([
    ['were cut off', (lines) => lines.slice(0, 2), 'before this entry, the entries from 3 to 4 are missing'],
    ['are all missing', () => [], 'before this entry, the entries from 1 to 4 are missing'],
    ['end in a damaged line', (lines) => lines.with(3, '{}'), 'the line before this entry cannot be read'],
  ])('notes in the next entry that entries %s', async (_, tamper, note) => {
    await writeAudit(directory, 4);
    const lines = readFileSync(log(), 'utf8').split('\n').slice(0, -1);
    writeFileSync(
      log(),
      tamper(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(await appendAndReadNotes()).toEqual([note]);
    expect(readFileSync(log(), 'utf8')).toContain('{"seq":5,');
    expect(await verifyAudit(log())).toMatchObject({ ok: false });
  });

  it('notes that the last entry was replaced', async () => {
    const other = tempDir();
    await writeAudit(directory, 2);
    await writeAudit(other, 2, { now: () => new Date(0) });
    writeFileSync(log(), readFileSync(join(other, 'audit.jsonl')));
    expect(await appendAndReadNotes()).toEqual(['before this entry, entry 2 was replaced']);
    expect(await verifyAudit(log())).toMatchObject({ ok: false, line: 3 });
  });

  it.each([
    ['missing', () => rmSync(path('audit.head'))],
    ['damaged', () => writeFileSync(path('audit.head'), 'x'.repeat(500))],
  ])('notes that the head was %s, and writes a new one', async (state, damage) => {
    await writeAudit(directory, 2);
    damage();
    expect(await appendAndReadNotes()).toEqual([`audit.head was ${state}: entries after 2 may be missing`]);
    expect(await verifyAudit(log())).toMatchObject({ ok: true, entries: 3 });
  });

  it('refuses to open without a usable end of the chain, and names the files and the remedy', async () => {
    await writeAudit(directory, 2);
    appendFileSync(log(), 'damaged\n');
    rmSync(path('audit.head'));
    await expect(openAudit(directory)).rejects.toThrow(StateError);
    await expect(openAudit(directory)).rejects.toThrow(`${log()} cannot be used: its last line is damaged`);
  });

  it('detects a file that is truncated while it runs', async () => {
    const { audit } = await openAudit(directory);
    for (const n of [1, 2]) await audit.append(auditEvent(n));
    truncateSync(log(), statSync(log()).size - 10);
    const { notes, seq } = await audit.append(auditEvent(3));
    expect([seq, notes?.[0]]).toEqual([3, 'before this entry, the entries from 2 to 2 are missing']);
    expect(await verifyAudit(log())).toMatchObject({ ok: false, line: 2 });
  });
});
