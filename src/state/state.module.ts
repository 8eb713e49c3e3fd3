import { Logger, Module, type DynamicModule, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { AuditLog } from './audit/audit-log.js';
import { FileAuditLog } from './audit/file-audit-log.js';
import { CursorKey } from './cursor-key.js';
import { DecisionStore } from './decision-store.js';
import { DirectoryLock } from './directory-lock.js';
import { FileDecisionStore } from './file-decision-store.js';
import { FileSessionRecords } from './file-session-records.js';
import { MemoryQuotas } from './memory-quotas.js';
import { Quotas } from './quotas.js';
import { RandomCursorKey } from './random-cursor-key.js';
import { SessionRecords } from './session-records.js';

/**
 * Ports for state that outlives the process or will be shared by replicas, with implementations for a single process:
 * decisions, session records and the audit log are files in a directory that the process locks.
 */
@Module({})
export class StateModule implements OnApplicationShutdown {
  constructor(
    private readonly decisions: DecisionStore,
    private readonly sessions: SessionRecords,
    private readonly audit: AuditLog,
    private readonly lock: DirectoryLock,
  ) {}

  /** `settings` is the injection token of the settings with the path of the state directory. */
  static forDirectory(settings: Type<{ readonly path: string }>): DynamicModule {
    return {
      module: StateModule,
      global: true,
      providers: [
        {
          provide: DirectoryLock,
          inject: [settings],
          useFactory: ({ path }: { path: string }) => new DirectoryLock(path),
        },
        {
          provide: DecisionStore,
          inject: [settings, DirectoryLock],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) =>
            FileDecisionStore.open(path, lock, new Logger('State')),
        },
        // The two providers below inject DecisionStore only so that it is opened before them: it acquires the lock, and the
        // start fails if another gateway holds the lock.
        {
          provide: SessionRecords,
          inject: [settings, DirectoryLock, DecisionStore],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) =>
            FileSessionRecords.open(path, lock, new Logger('Sessions')),
        },
        {
          provide: AuditLog,
          inject: [settings, DirectoryLock, DecisionStore],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) => FileAuditLog.open(path, lock),
        },
        { provide: Quotas, useClass: MemoryQuotas },
        { provide: CursorKey, useClass: RandomCursorKey },
      ],
      exports: [DecisionStore, SessionRecords, AuditLog, Quotas, CursorKey],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.decisions.close();
    await this.sessions.close();
    await this.audit.close();
    await this.lock.release();
  }
}
