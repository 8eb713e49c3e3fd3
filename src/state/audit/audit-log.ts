import type { AuditEntry, AuditEvent } from './audit-entry.js';

/**
 * Port for the record of admin actions. Entries form one chain: each has the next number and the hash of the previous one,
 * so that a changed or missing entry is detected.
 */
export abstract class AuditLog {
  /**
   * Adds one entry. Entries are added one at a time, in the order of the calls. Resolves when the entry is durable. Rejects
   * with `storage-full` or `storage-unavailable` when no entry was added.
   */
  abstract append(event: AuditEvent): Promise<AuditEntry>;

  /** Waits for pending entries and refuses later ones. Idempotent. */
  abstract close(): Promise<void>;
}
