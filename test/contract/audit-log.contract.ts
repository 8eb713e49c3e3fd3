import { describe, expect, it } from '@jest/globals';
import type { AuditLog } from '../../src/state/audit/audit-log.js';
import { auditEvent } from '../kit/state-audit.js';

/** A log as one gateway process opens it; `close` is an orderly stop. */
export interface OpenAuditLog {
  readonly audit: AuditLog;
  readonly close: () => Promise<void>;
}

/** The contract of an AuditLog. `makeLog` creates an empty log and returns a function that opens it. */
export const auditLogContract = (adapter: string, makeLog: () => () => Promise<OpenAuditLog>): void => {
  describe(`${adapter} as AuditLog`, () => {
    it('returns the entry with the event, its number, its time and its hash', async () => {
      const { audit } = await makeLog()();
      const event = { ...auditEvent(1), change: { enabled: false, name: 'ü\u2028\n"' } };
      const entry = await audit.append(event);
      expect(entry).toEqual({
        ...event,
        seq: 1,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        prev: '0'.repeat(64),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    });

    it('chains concurrent events in the order of the calls', async () => {
      const { audit } = await makeLog()();
      const entries = await Promise.all(
        Array.from({ length: 20 }, (_, index) => audit.append(auditEvent(index + 1))),
      );
      expect(entries.map(({ seq, target }) => [seq, target])).toEqual(
        Array.from({ length: 20 }, (_, index) => [index + 1, `server ${index + 1}`]),
      );
      const hashes = entries.map(({ hash }) => hash);
      expect(entries.slice(1).map(({ prev }) => prev)).toEqual(hashes.slice(0, -1));
      expect(new Set(hashes).size).toBe(20);
    });

    it('continues the chain of the previous process', async () => {
      const open = makeLog();
      const first = await open();
      const last = await first.audit.append(auditEvent(1));
      await first.close();
      const { audit } = await open();
      expect(await audit.append(auditEvent(2))).toMatchObject({ seq: 2, prev: last.hash });
    });

    it('adds pending entries on close, which is idempotent, and refuses later ones', async () => {
      const open = makeLog();
      const { audit, close } = await open();
      const pending = audit.append(auditEvent(1));
      const closing = audit.close();
      await expect(audit.append(auditEvent(2))).rejects.toMatchObject({ kind: 'storage-unavailable' });
      await closing;
      await audit.close();
      await close();
      const next = await open();
      const { hash } = await pending;
      expect(await next.audit.append(auditEvent(3))).toMatchObject({ seq: 2, prev: hash });
    });
  });
};
