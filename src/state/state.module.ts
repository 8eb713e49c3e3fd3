import { Logger, Module, type DynamicModule, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { DecisionStore } from './decision-store.js';
import { DirectoryLock } from './directory-lock.js';
import { FileDecisionStore } from './file-decision-store.js';
import { FileSessionRecords } from './file-session-records.js';
import { SessionRecords } from './session-records.js';

/** Durable state behind ports: decisions and session records, here in files of a directory that one process locks. */
@Module({})
export class StateModule implements OnApplicationShutdown {
  constructor(
    private readonly state: DecisionStore,
    private readonly sessions: SessionRecords,
    private readonly lock: DirectoryLock,
  ) {}

  /** `directory` is the injection token of the settings that contain the path. */
  static forDirectory(directory: Type<{ readonly path: string }>): DynamicModule {
    return {
      module: StateModule,
      global: true,
      providers: [
        {
          provide: DirectoryLock,
          inject: [directory],
          useFactory: ({ path }: { path: string }) => new DirectoryLock(path),
        },
        {
          provide: DecisionStore,
          inject: [directory, DirectoryLock],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) =>
            FileDecisionStore.open(path, lock, new Logger('State')),
        },
        {
          provide: SessionRecords,
          // The decisions come first: without the lock on the directory the gateway does not start.
          inject: [directory, DirectoryLock, DecisionStore],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) =>
            FileSessionRecords.open(path, lock, new Logger('Sessions')),
        },
      ],
      exports: [DecisionStore, SessionRecords, DirectoryLock],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.state.close();
    await this.sessions.close();
    await this.lock.release();
  }
}
