import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ConfigModule } from './config.module.js';
import { HttpSettings } from './http-settings.js';
import { Limits } from './limits.js';
import { readConfig } from './load-config.js';
import { LogSettings } from './log-settings.js';
import { Naming } from './naming.js';
import { ServersConfig } from './servers-config.js';
import { ShutdownSettings } from './shutdown-settings.js';
import { StateDir } from './state-dir.js';

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-module-'));
afterAll(() => rmSync(directory, { recursive: true }));

const text = `stateDir: ${directory}/state/inner\nmcpServers: { a: { command: node } }`;
const config = readConfig({ text, source: 'g.yaml', env: {} });

@Injectable()
class SectionUser {
  constructor(
    readonly limits: Limits,
    readonly servers: ServersConfig,
  ) {}
}

@Module({ providers: [SectionUser] })
class SectionUserModule {}

@Injectable()
class ConfigServiceUser {
  constructor(readonly configService: ConfigService) {}
}

describe('ConfigModule', () => {
  it('provides the sections to every module without an import', async () => {
    const app = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(config, { path: 'gatehouse.yaml', load: () => config }),
        SectionUserModule,
      ],
    }).compile();
    expect(app.get(SectionUser, { strict: false })).toMatchObject({
      limits: config.limits,
      servers: config.mcpServers,
    });
    await app.close();
  });

  it('provides the objects of the configuration themselves', async () => {
    const app = await Test.createTestingModule({
      imports: [ConfigModule.forRoot(config, { path: 'gatehouse.yaml', load: () => config })],
    }).compile();
    expect(app.get(HttpSettings)).toBe(config.http);
    expect(app.get(Limits)).toBe(config.limits);
    expect(app.get(LogSettings)).toBe(config.log);
    expect(app.get(Naming)).toBe(config.naming);
    expect(app.get(ServersConfig)).toBe(config.mcpServers);
    expect(app.get(ShutdownSettings)).toBe(config.shutdown);
    await app.close();
  });

  it('does not provide the whole configuration', async () => {
    const module = Test.createTestingModule({
      imports: [ConfigModule.forRoot(config, { path: 'gatehouse.yaml', load: () => config })],
      providers: [ConfigServiceUser],
    });
    await expect(module.compile()).rejects.toThrow("can't resolve dependencies");
  });

  it('creates the state directory with mode 0700', async () => {
    const app = await Test.createTestingModule({
      imports: [ConfigModule.forRoot(config, { path: 'gatehouse.yaml', load: () => config })],
    }).compile();
    const { path } = app.get(StateDir);
    expect(path).toBe(join(directory, 'state/inner'));
    expect(statSync(path).mode & 0o777).toBe(0o700);
    await app.close();
  });
});
