import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, Logger, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { StateModule } from './state.module.js';
import { decideServer } from './decisions.js';
import { DecisionStore } from './decision-store.js';
import { StateError } from './state-error.js';

class Directory {
  constructor(readonly path: string) {}
}

@Injectable()
class Room {
  constructor(readonly state: DecisionStore) {}
}

@Module({ providers: [Room] })
class RoomModule {}

let directory = '';

@Module({})
class ConfigRoom {}

function start(): Promise<TestingModule> {
  const provider = { provide: Directory, useValue: new Directory(directory) };
  const config = { module: ConfigRoom, global: true, providers: [provider], exports: [Directory] };
  return Test.createTestingModule({
    imports: [config, StateModule.forDirectory(Directory), RoomModule],
  }).compile();
}

beforeEach(() => {
  directory = tempDir();
});

describe('StateModule', () => {
  it('provides the decision store to every module and releases the directory on shutdown', async () => {
    const app = await start();
    const { state } = app.get(Room, { strict: false });
    await state.update((now) => decideServer(now, 'db', () => ({ enabled: false })));
    await app.close();
    expect(readdirSync(directory)).toEqual(['state.json']);
    const next = await start();
    expect(next.get(DecisionStore, { strict: false }).current.servers).toEqual(
      new Map([['db', { enabled: false }]]),
    );
    await next.close();
  });

  it('does not start with an unusable state', async () => {
    Logger.overrideLogger(false);
    onCleanup(() => Logger.overrideLogger(new Logger()));
    writeFileSync(join(directory, 'state.json'), 'damaged');
    await expect(start()).rejects.toThrow(StateError);
  });
});
