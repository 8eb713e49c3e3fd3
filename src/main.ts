#!/usr/bin/env node
import 'reflect-metadata';
import type { RequestListener } from 'node:http';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { ConfigError } from './config/config-error.js';
import type { GatehouseConfig } from './config/gatehouse-config.js';
import { LiveConfig } from './config/live-config.js';
import { loadConfig } from './config/load-config.js';
import { AllowedOrigins } from './edge/allowed-origins.js';
import { HttpGate } from './edge/http-gate.js';
import { McpEndpoint } from './edge/mcp-endpoint.js';
import { JsonLogger } from './json-logger.js';
import { connectMcp } from './mcp/mcp.module.js';
import { exitOnSignals } from './process-signals.js';
import { VERSION } from './version.js';

const DEFAULT_CONFIG = 'config/gatehouse.yaml';

const USAGE = `Usage: gatehouse [--config FILE]

  --config FILE   the configuration (default: $GATEHOUSE_CONFIG, else ${DEFAULT_CONFIG})
  --version       print the version
  --help          print this
`;

class UsageError extends Error {}

/** Exit codes: 0 clean, 1 failure, 2 wrong usage or configuration. */
async function main(): Promise<void> {
  const options = readArguments();
  if (options.help) return print(USAGE);
  if (options.version) return print(`${VERSION}\n`);
  const path = options.config ?? process.env['GATEHOUSE_CONFIG'] ?? DEFAULT_CONFIG;
  const load = (): GatehouseConfig => loadConfig({ path, env: process.env });
  const config = load();

  const logger = new JsonLogger(config.log.level, config.secrets);
  const gate = new HttpGate(new AllowedOrigins(config.http));
  const adapter = new FastifyAdapter({ serverFactory: (others: RequestListener) => gate.server(others) });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.with(config, { path, load }),
    adapter,
    { logger },
  );
  app.get(LiveConfig).onChange(({ secrets }) => logger.addSecrets(secrets));
  exitOnSignals(app, logger);
  await connectMcp(app);
  gate.open(app.get(McpEndpoint));
  await app.listen(config.http.port, config.http.host);
  print(`Gatehouse ${VERSION} listens on ${endpointUrl(await app.getUrl())}\n`);
}

function readArguments(): { config?: string; help?: boolean; version?: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: 'string', short: 'c' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

const endpointUrl = (base: string): string => `${base.replace('[::1]', 'localhost')}/mcp`;

function print(text: string): void {
  process.stdout.write(text);
}

main().catch((error: unknown) => {
  const wrongInput = error instanceof ConfigError || error instanceof UsageError;
  process.stderr.write(
    `gatehouse: ${wrongInput ? error.message : ((error as Error).stack ?? String(error))}\n`,
  );
  process.exit(wrongInput ? 2 : 1);
});
