import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileAuditLog, type FileAuditLogOptions } from '../../src/state/audit/file-audit-log.js';
import { DirectoryLock } from '../../src/state/directory-lock.js';
import type { AuditEntry, AuditEvent } from '../../src/state/audit/audit-entry.js';
import { onCleanup } from './cleanup.js';

export interface OpenAudit {
  readonly audit: FileAuditLog;
  /** Closes as a gateway does when it stops. The lock is also released after the test. */
  readonly close: () => Promise<void>;
}

/** Opens the audit log of a directory as a gateway does. */
export async function openAudit(directory: string, options?: FileAuditLogOptions): Promise<OpenAudit> {
  const lock = new DirectoryLock(directory);
  onCleanup(() => lock.release());
  const audit = await FileAuditLog.open(directory, lock, options);
  const close = async (): Promise<void> => {
    await audit.close();
    await lock.release();
  };
  return { audit, close };
}

export const auditEvent = (n: number): AuditEvent => ({
  actor: 'admin',
  action: 'server.disable',
  target: `server ${n}`,
  outcome: 'done',
  requestId: `request-${n}`,
});

/** A log with this many entries, written by one process. */
export async function writeAudit(
  directory: string,
  entries: number,
  options?: FileAuditLogOptions,
): Promise<void> {
  const { audit, close } = await openAudit(directory, options);
  for (let n = 1; n <= entries; n++) await audit.append(auditEvent(n));
  await close();
}

/** The entries of the audit log in a state directory. */
export function auditOf(stateDir: string): AuditEntry[] {
  const file = join(stateDir, 'audit.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}
