import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { auditEvent, openAudit, writeAudit } from '../../../test/kit/state-audit.js';
import { tempDir } from '../../../test/kit/temp-dir.js';
import { EMPTY_CHAIN, parseEntry, serializeEntry } from './audit-entry.js';
import { verifyAudit, type AuditVerdict } from './verify-audit.js';

const ENTRIES = 5;
let directory = '';
const log = (): string => join(directory, 'audit.jsonl');
const linesOf = (path = log()): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const write = (lines: readonly string[], path = log()): void =>
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));

const verdictText = async (): Promise<string> => formatVerdict(await verifyAudit(log()));
const formatVerdict = (verdict: AuditVerdict): string =>
  verdict.ok ? `${verdict.entries} entries` : `line ${verdict.line}: ${verdict.problem}`;

/** Manipulations without new hashes. */
const TAMPERING: [string, (lines: string[]) => string[], string][] = [
  [
    'edits an entry',
    (lines) => lines.with(2, lines[2]!.replace('server 3', 'server 9')),
    'line 3: the line was changed after it was written',
  ],
  [
    'edits the last entry',
    (lines) => lines.with(4, lines[4]!.replace('done', 'none')),
    'line 5: the line was changed after it was written',
  ],
  [
    'edits a hash',
    (lines) =>
      lines.with(
        0,
        lines[0]!.replace(/(.)"}$/, (_, digit) => `${digit === '0' ? '1' : '0'}"}`),
      ),
    'line 1: the line was changed after it was written',
  ],
  ['deletes the first entry', (lines) => lines.slice(1), 'line 1: entry 2 is in the place of entry 1'],
  ['deletes an entry', (lines) => lines.toSpliced(2, 1), 'line 3: entry 4 is in the place of entry 3'],
  ['deletes the last entry', (lines) => lines.slice(0, 4), 'line 5: the entries from 5 to 5 are missing'],
  [
    'deletes the last two entries',
    (lines) => lines.slice(0, 3),
    'line 4: the entries from 4 to 5 are missing',
  ],
  ['deletes all entries', () => [], 'line 1: the entries from 1 to 5 are missing'],
  [
    'swaps two entries',
    (lines) => lines.with(1, lines[2]!).with(2, lines[1]!),
    'line 2: entry 3 is in the place of entry 2',
  ],
  [
    'repeats an entry',
    (lines) => lines.toSpliced(2, 0, lines[1]!),
    'line 3: entry 2 is in the place of entry 3',
  ],
  ['adds an empty line', (lines) => [...lines, ''], 'line 6: the line was changed after it was written'],
];

describe('verifyAudit', () => {
  beforeEach(async () => {
    directory = tempDir();
    await writeAudit(directory, ENTRIES);
  });

  it('accepts an unchanged log', async () => {
    expect(await verifyAudit(log())).toEqual({ ok: true, entries: ENTRIES, notes: [] });
  });

  it('accepts a log that does not exist yet', async () => {
    expect(await verifyAudit(join(tempDir(), 'audit.jsonl'))).toEqual({ ok: true, entries: 0, notes: [] });
  });

  it.each(TAMPERING)('detects that an attacker %s', async (_, tamper, verdict) => {
    write(tamper(linesOf()));
    expect(await verdictText()).toBe(verdict);
  });

  it('detects the change of any byte', async () => {
    const bytes = readFileSync(log());
    const changes = fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.integer({ min: 1, max: 255 }),
      async (i, by) => {
        writeFileSync(log(), bytes.with(i, bytes[i]! ^ by));
        expect((await verifyAudit(log())).ok).toBe(false);
      },
    );
    await fc.assert(changes, { numRuns: 150 });
  });

  it('detects a truncation at any byte', async () => {
    const bytes = readFileSync(log());
    const cuts = fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
      writeFileSync(log(), bytes.subarray(0, length));
      expect((await verifyAudit(log())).ok).toBe(false);
    });
    await fc.assert(cuts, { numRuns: 100 });
  });

  it('detects an entry with a valid hash in the place of another', async () => {
    const lines = linesOf();
    const end = parseEntry(Buffer.from(lines[1]!))!;
    write(lines.with(2, serializeEntry(auditEvent(3), end, new Date(0), [])));
    expect(await verdictText()).toBe('line 4: entry 4 does not continue the previous entry');
    write(lines.slice(0, 4).with(2, serializeEntry(auditEvent(3), EMPTY_CHAIN, new Date(0), [])));
    expect(await verdictText()).toBe('line 3: entry 1 is in the place of entry 3');
  });

  it('detects a replaced last entry with a valid hash', async () => {
    const lines = linesOf();
    const end = parseEntry(Buffer.from(lines[3]!))!;
    write(lines.with(4, serializeEntry(auditEvent(5), end, new Date(0), [])));
    expect(await verdictText()).toBe('line 5: entry 5 was replaced');
  });

  it.each([
    ['missing', () => rmSync(join(directory, 'audit.head'))],
    ['damaged', () => writeFileSync(join(directory, 'audit.head'), '{"seq":5}')],
  ])('reports a possible truncation when the head is %s', async (state, change) => {
    change();
    expect(await verdictText()).toBe(`line 6: audit.head is ${state}, so entries may be missing at the end`);
  });

  it.each([
    ['a head one entry behind, as after a crash', 4],
    ['a head several entries behind, as after a power failure', 1],
  ])('accepts %s', async (_, seq) => {
    const { hash } = parseEntry(Buffer.from(linesOf()[seq - 1]!))!;
    writeFileSync(join(directory, 'audit.head'), `{"seq":${seq},"hash":"${hash}"}\n`);
    expect(await verdictText()).toBe('5 entries');
  });

  it('accepts an unacknowledged last line after a crash', async () => {
    writeFileSync(log(), '{"seq":6,"ti', { flag: 'a' });
    expect(await verdictText()).toBe('5 entries');
  });

  it('verifies while entries are appended', async () => {
    const { audit } = await openAudit(directory, { maxBytes: 600 });
    const adding = Array.from({ length: 30 }, (_, n) => audit.append(auditEvent(n)));
    for (const added of adding) {
      expect(await verifyAudit(log())).toMatchObject({ ok: true });
      await added;
    }
    expect(await verdictText()).toBe('35 entries');
  });
});

describe('verifyAudit over several files', () => {
  beforeEach(async () => {
    directory = tempDir();
    await writeAudit(directory, 10, { maxBytes: 600 });
  });

  it('follows the chain from the oldest file to the current one', async () => {
    expect(readdirSync(directory).toSorted()).toEqual([
      'audit.head',
      'audit.jsonl',
      ...[1, 2, 3, 4].map((n) => `audit.jsonl.${n}`),
    ]);
    expect(await verdictText()).toBe('10 entries');
  });

  it.each([1, 2, 3, 4])('detects that file %i is missing', async (n) => {
    rmSync(`${log()}.${n}`);
    expect(await verdictText()).toBe(`line 1: entry 9 is in the place of entry ${2 * n - 1}`);
  });

  it('detects that the current file is missing', async () => {
    rmSync(log());
    expect(await verdictText()).toMatch(/the entries from 9 to 10 are missing$/);
  });

  it('names the damaged file', async () => {
    const path = `${log()}.2`;
    write(linesOf(path).toReversed(), path);
    expect(await verifyAudit(log())).toEqual({
      ok: false,
      file: path,
      line: 1,
      problem: 'entry 4 is in the place of entry 3',
    });
  });
});
