/**
 * Boots the built application without listening and prints what it answers to, as JSON. A process of its own, because
 * jest cannot load every package that the application may use.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../../build/app.module.js';
import { readConfig } from '../../build/config/load-config.js';
import { AllowedOrigins } from '../../build/edge/allowed-origins.js';
import { HttpGate } from '../../build/edge/http-gate.js';
import { McpEndpoint } from '../../build/edge/mcp-endpoint.js';
import { McpDispatcher } from '../../build/mcp/mcp.dispatcher.js';
import { connectMcp } from '../../build/mcp/mcp.module.js';

const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-facts-'));
const config = readConfig({ text: JSON.stringify({ stateDir }), file: 'facts.json', env: {} });
const adapter = new FastifyAdapter();
const routes = [];
adapter
  .getInstance()
  .addHook('onRoute', ({ method, url }) => routes.push(...[method].flat().map((verb) => `${verb} ${url}`)));

const app = await NestFactory.create(
  AppModule.with(config, { path: 'facts.json', load: () => config }),
  adapter,
  { logger: false },
);
await connectMcp(app);
await app.init();
await addMcpRoutes('/mcp');
const handlers = [...app.get(McpDispatcher).getHandlers()];
await app.close();
rmSync(stateDir, { recursive: true });

/** MCP goes past Nest: which verbs it takes can only be tried. */
async function addMcpRoutes(path) {
  const gate = new HttpGate(new AllowedOrigins(config.http));
  gate.open(app.get(McpEndpoint));
  const server = gate.server((_request, response) => response.writeHead(404).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${server.address().port}${path}`;
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
    const { status } = await fetch(url, { method });
    if (status !== 404 && status !== 405) routes.push(`${method} ${path}`);
  }
  server.closeAllConnections();
  server.close();
}

const named = (isEvent) =>
  handlers.filter(([, { isEventHandler }]) => isEventHandler === isEvent).map(([name]) => name);
process.stdout.write(JSON.stringify({ requests: named(false), notifications: named(true), routes }));
