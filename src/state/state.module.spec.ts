import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, Logger, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { auditEvent } from '../../test/kit/state-audit.js';
import { AuditLog } from './audit/audit-log.js';
import { verifyAudit } from './audit/verify-audit.js';
import { StateModule } from './state.module.js';
import { decideServer } from './decisions.js';
import { DecisionStore } from './decision-store.js';
import { StateError } from './state-error.js';

class Directory {
  constructor(readonly path: string) {}
}

@Injectable()
class Feature {
  constructor(
    readonly state: DecisionStore,
    readonly audit: AuditLog,
  ) {}
}

@Module({ providers: [Feature] })
class FeatureModule {}

let directory = '';

@Module({})
class SettingsModule {}

function start(): Promise<TestingModule> {
  const provider = { provide: Directory, useValue: new Directory(directory) };
  const config = { module: SettingsModule, global: true, providers: [provider], exports: [Directory] };
  return Test.createTestingModule({
    imports: [config, StateModule.forDirectory(Directory), FeatureModule],
  }).compile();
}

beforeEach(() => {
  directory = tempDir();
});

describe('StateModule', () => {
  it('provides the decision store to every module and releases the directory on shutdown', async () => {
    const app = await start();
    const { state } = app.get(Feature, { strict: false });
    await state.update((now) => decideServer(now, 'db', () => ({ enabled: false })));
    await app.close();
    expect(readdirSync(directory)).toEqual(['state.json']);
    const next = await start();
    expect(next.get(DecisionStore, { strict: false }).current.servers).toEqual(
      new Map([['db', { enabled: false }]]),
    );
    await next.close();
  });

  it('writes pending audit entries before it releases the directory', async () => {
    const app = await start();
    const { audit } = app.get(Feature, { strict: false });
    const pending = audit.append(auditEvent(1));
    await app.close();
    expect(readdirSync(directory).toSorted()).toEqual(['audit.head', 'audit.jsonl']);
    expect(await pending).toMatchObject({ seq: 1 });
    expect(await verifyAudit(join(directory, 'audit.jsonl'))).toMatchObject({ ok: true, entries: 1 });
    await expect(audit.append(auditEvent(2))).rejects.toMatchObject({ kind: 'storage-unavailable' });
  });

  it('does not start with an unusable state', async () => {
    Logger.overrideLogger(false);
    onCleanup(() => Logger.overrideLogger(new Logger()));
    writeFileSync(join(directory, 'state.json'), 'damaged');
    await expect(start()).rejects.toThrow(StateError);
  });
});
