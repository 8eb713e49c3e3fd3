import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { auditLogContract } from '../../../test/contract/audit-log.contract.js';
import { auditEvent, openAudit, writeAudit } from '../../../test/kit/state-audit.js';
import { unprivileged } from '../../../test/kit/state-unprivileged.js';
import { tempDir } from '../../../test/kit/temp-dir.js';
import type { AuditEntry } from './audit-entry.js';
import { verifyAudit } from './verify-audit.js';

let directory = '';
const path = (name: string): string => join(directory, name);
const log = (): string => path('audit.jsonl');
const entries = (file = log()): AuditEntry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEntry);
const otherFiles = (): string[] =>
  readdirSync(directory).filter((name) => !/^audit\.(jsonl|head)$|^lock-/.test(name));

/** Opens the log, appends an entry and closes the log. */
async function appendOne(n: number): Promise<AuditEntry> {
  const { audit, close } = await openAudit(directory, { now: () => new Date('2026-11-16T12:00:00Z') });
  const entry = await audit.append(auditEvent(n));
  await close();
  return entry;
}

beforeEach(() => {
  directory = tempDir();
});

auditLogContract('FileAuditLog', () => {
  const state = tempDir();
  return () => openAudit(state);
});

describe('FileAuditLog', () => {
  it('adds one line per event, chained to the previous one', async () => {
    const { audit } = await openAudit(directory, { now: () => new Date('2026-11-16T12:00:00Z') });
    const first = await audit.append({ ...auditEvent(1), change: { enabled: false } });
    const second = await audit.append(auditEvent(2));
    expect(entries()).toEqual([first, second]);
    expect(first).toMatchObject({ ...auditEvent(1), seq: 1, time: '2026-11-16T12:00:00.000Z' });
    expect(second).toMatchObject({ seq: 2, prev: first.hash });
    expect(first).toMatchObject({ change: { enabled: false }, prev: '0'.repeat(64) });
  });

  it('creates files of mode 0600', async () => {
    await writeAudit(directory, 2);
    expect(['audit.jsonl', 'audit.head'].map((name) => statSync(path(name)).mode & 0o777)).toEqual([
      0o600, 0o600,
    ]);
  });

  it('continues the chain after a restart', async () => {
    for (const n of [1, 2, 3]) await appendOne(n);
    expect(entries().map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(await verifyAudit(log())).toEqual({ ok: true, entries: 3, notes: [] });
  });

  it('adds events in the order of the calls', async () => {
    const { audit } = await openAudit(directory);
    const added = await Promise.all(Array.from({ length: 20 }, (_, n) => audit.append(auditEvent(n))));
    expect(entries()).toEqual(added);
    expect(added.map(({ target }) => target)).toEqual(Array.from({ length: 20 }, (_, n) => `server ${n}`));
  });

  it('finishes pending entries on close and refuses later ones', async () => {
    const { audit } = await openAudit(directory);
    const pending = audit.append(auditEvent(1));
    const closing = audit.close();
    await expect(audit.append(auditEvent(2))).rejects.toMatchObject({ kind: 'storage-unavailable' });
    await closing;
    await audit.close();
    expect(entries()).toEqual([await pending]);
  });

  it('starts a new file when one is full, without a break in the chain', async () => {
    await writeAudit(directory, 5, { maxBytes: 600 });
    await writeAudit(directory, 5, { maxBytes: 600 });
    expect(otherFiles()).toEqual(['audit.jsonl.1', 'audit.jsonl.2', 'audit.jsonl.3', 'audit.jsonl.4']);
    expect(otherFiles().every((name) => statSync(path(name)).size <= 600)).toBe(true);
    expect(await verifyAudit(log())).toMatchObject({ ok: true, entries: 10 });
  });

  it('writes an entry that is larger than the maximum file size', async () => {
    const { audit, close } = await openAudit(directory, { maxBytes: 600 });
    for (const n of [1, 2]) await audit.append({ ...auditEvent(n), change: { text: 'x'.repeat(200_000) } });
    await close();
    await appendOne(3);
    expect(await verifyAudit(log())).toMatchObject({ ok: true, entries: 3 });
  });

  it('continues after a crash between two files', async () => {
    await writeAudit(directory, 4, { maxBytes: 600 });
    writeFileSync(path('audit.jsonl.2'), readFileSync(log()));
    rmSync(log());
    await appendOne(5);
    expect(await verifyAudit(log())).toEqual({ ok: true, entries: 5, notes: [] });
  });
});

describe('FileAuditLog on a full or read-only disk', () => {
  it('adds nothing while the disk is full, and continues afterwards', async () => {
    const { audit } = await openAudit(directory);
    symlinkSync('/dev/full', log());
    await expect(audit.append(auditEvent(1))).rejects.toMatchObject({
      kind: 'storage-full',
      message: `STORAGE_FULL: no space left for ${log()} (ENOSPC)`,
    });
    rmSync(log());
    expect(await audit.append(auditEvent(1))).toMatchObject({ seq: 1 });
    expect(await verifyAudit(log())).toEqual({ ok: true, entries: 1, notes: [] });
  });

  it('removes the line when the head cannot be written', async () => {
    const { audit } = await openAudit(directory);
    const first = await audit.append(auditEvent(1));
    renameSync(path('audit.head'), path('head'));
    symlinkSync('/dev/full', path('audit.head'));
    await expect(audit.append(auditEvent(2))).rejects.toMatchObject({ kind: 'storage-full' });
    expect(entries()).toEqual([first]);
    renameSync(path('head'), path('audit.head'));
    expect(await audit.append(auditEvent(2))).toMatchObject({ seq: 2 });
    expect(await verifyAudit(log())).toEqual({ ok: true, entries: 2, notes: [] });
  });

  it('removes a partly written line', () => {
    // Limits files to 4 blocks of 512 bytes: a line is written up to the limit.
    const script = `ulimit -f 4; exec "${process.execPath}" test/kit/state-audit-until-full.mjs "${directory}"`;
    const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual({ kinds: ['storage-full', 'storage-full'], added: 7, afterwards: 8 });
  });

  it('refuses entries while the directory is read-only, and continues afterwards', async () => {
    await writeAudit(directory, 1);
    chmodSync(directory, 0o555);
    await unprivileged(directory, async () => {
      const { audit } = await openAudit(directory);
      await expect(audit.append(auditEvent(2))).rejects.toMatchObject({ kind: 'storage-unavailable' });
      chmodSync(directory, 0o700);
      expect(await audit.append(auditEvent(2))).toMatchObject({ seq: 2 });
    });
  });

  it('refuses entries while another gateway holds the lock, and continues after the entries of that gateway', async () => {
    const first = await openAudit(directory);
    await first.audit.append(auditEvent(1));
    for (const name of readdirSync(directory)) if (name.startsWith('lock-')) rmSync(path(name));
    const other = await openAudit(directory);
    await other.audit.append(auditEvent(2));
    await expect(first.audit.append(auditEvent(3))).rejects.toMatchObject({ kind: 'storage-unavailable' });
    await other.close();
    expect(await first.audit.append(auditEvent(3))).toMatchObject({ seq: 3 });
    expect(await verifyAudit(log())).toMatchObject({ ok: true, entries: 3 });
  });
});
