import { Module, type DynamicModule } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { authSettings } from '../../../test/kit/auth.js';
import { MemoryDecisionStore } from '../../../test/kit/memory-decision-store.js';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { serve } from '../../../test/kit/serve.js';
import { tempDir } from '../../../test/kit/temp-dir.js';
import { until } from '../../../test/kit/until.js';
import { NO_AUTH } from '../../config/auth-settings.js';
import { ConfigModule } from '../../config/config.module.js';
import { readConfig } from '../../config/load-config.js';
import { Metrics } from '../../metrics/metrics.js';
import { DecisionStore } from '../../state/decision-store.js';
import { AuthModule } from './auth.module.js';
import { Authenticator } from './authenticator.js';

const PATHS = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];

@Module({})
class TestGlobalsModule {}

/** One registry per application, because the global one accepts each name once. */
const testGlobals = (): DynamicModule => ({
  module: TestGlobalsModule,
  global: true,
  providers: [
    { provide: Metrics, useFactory: () => new Metrics(new Registry()) },
    { provide: DecisionStore, useClass: MemoryDecisionStore },
  ],
  exports: [Metrics, DecisionStore],
});

async function start(config: object): Promise<{ app: NestFastifyApplication; log: string[] }> {
  const text = JSON.stringify({ stateDir: tempDir(), ...config });
  const settings = readConfig({ text, source: 'g.json', env: {} });
  const module = await Test.createTestingModule({
    imports: [
      ConfigModule.forRoot(settings, { path: 'g.json', load: () => settings }),
      testGlobals(),
      AuthModule,
    ],
  }).compile();
  const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  onCleanup(() => app.close());
  const log = recordLog();
  await app.init();
  return { app, log };
}

async function get(app: NestFastifyApplication, url: string) {
  const { statusCode, headers, body } = await app.inject({ method: 'GET', url });
  return { status: statusCode, type: headers['content-type'], body: JSON.parse(body) as unknown };
}

/** An issuer without keys. */
const issuer = async () => (await serve((_request, response) => response.writeHead(404).end())).url;

describe('ProtectedResourceController', () => {
  it.each(PATHS)('answers %s without a token', async (path) => {
    const id = await issuer();
    const jwt = { issuer: id, audience: 'https://mcp.example.com/mcp', scopes: ['mcp:use'] };
    const { app, log } = await start({ auth: { jwt } });
    expect(await get(app, path)).toEqual({
      status: 200,
      type: expect.stringContaining('application/json'),
      body: {
        resource: 'https://mcp.example.com/mcp',
        resource_name: 'Gatehouse',
        authorization_servers: [id],
        bearer_methods_supported: ['header'],
        scopes_supported: ['mcp:use'],
      },
    });
    await until('the keys were requested', () => log.some((line) => line.includes('cannot be fetched')));
  });

  it.each(PATHS)('answers 404 without an issuer: %s', async (path) => {
    const { app } = await start({ auth: { apiKeys: [] } });
    expect((await get(app, path)).status).toBe(404);
  });

  it('answers by the current configuration', async () => {
    const { app } = await start({});
    expect((await get(app, PATHS[0]!)).status).toBe(404);
    const jwt = { issuer: await issuer(), audience: 'api://a', resource: 'https://mcp.example.com' };
    app.get(Authenticator).replace(authSettings({ jwt }));
    expect(await get(app, PATHS[0]!)).toMatchObject({
      status: 200,
      body: { resource: 'https://mcp.example.com' },
    });
    app.get(Authenticator).replace(NO_AUTH);
    expect((await get(app, PATHS[0]!)).status).toBe(404);
  });
});

describe('OpenAccessWarning', () => {
  it.each([
    ['is logged without authentication', { http: { host: '0.0.0.0', allowRemoteWithoutAuth: true } }, 1],
    ['is not logged with API keys', { http: { host: '0.0.0.0' }, auth: { apiKeys: [] } }, 0],
    ['is not logged on loopback', {}, 0],
  ])('%s', async (_what, config, times) => {
    const { log } = await start(config);
    expect(log.filter((line) => line.includes('remote clients can call every tool'))).toHaveLength(times);
  });
});
