/**
 * Creates the built application and prints its MCP methods, HTTP routes and guards as JSON. Runs in a separate process,
 * because jest cannot load every package that the application may use.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory, Reflector } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../../build/app.module.js';
import { readConfig } from '../../build/config/load-config.js';
import { GatewayServer } from '../../build/edge/gateway-server.js';
import { McpEndpoint } from '../../build/edge/mcp-endpoint.js';
import { HttpGuards } from '../../build/edge/http-guards.js';
import { OriginGuard } from '../../build/edge/origin.guard.js';
import { McpDispatcher } from '../../build/mcp/mcp.dispatcher.js';
import { connectMcp } from '../../build/mcp/mcp.module.js';

const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-facts-'));
const config = readConfig({ text: JSON.stringify({ stateDir }), source: 'facts.json', env: {} });
const adapter = new FastifyAdapter();
const routes = [];
adapter
  .getInstance()
  .addHook('onRoute', ({ method, url }) => routes.push(...[method].flat().map((verb) => `${verb} ${url}`)));

const app = await NestFactory.create(
  AppModule.forRoot(config, { path: 'facts.json', load: () => config }),
  adapter,
  { logger: false },
);
await connectMcp(app);
await app.init();
await addMcpRoutes('/mcp');
const handlers = [...app.get(McpDispatcher).getHandlers()];
const guards = guardsOfHandlers();
await app.close();
rmSync(stateDir, { recursive: true });

/** `McpEndpoint` has no routes in Fastify, so the accepted verbs are found by sending requests. */
async function addMcpRoutes(path) {
  const gateway = new GatewayServer();
  gateway.setRoutes({
    mcp: app.get(McpEndpoint),
    originGuard: app.get(OriginGuard),
    connections: { accept: () => {} },
  });
  const server = gateway.create((_request, response) => response.writeHead(404).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${server.address().port}${path}`;
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
    // With a session id, GET and DELETE are not refused as methods that revisions without sessions lack.
    const headers = { 'mcp-session-id': 'none', 'mcp-protocol-version': 'none' };
    const { status } = await fetch(url, { method, headers });
    if (status !== 404 && status !== 405) routes.push(`${method} ${path}`);
  }
  server.closeAllConnections();
  server.close();
}

/** The names of the guards before each MCP method and HTTP route, in the order in which Nest runs them. */
function guardsOfHandlers() {
  const found = {};
  for (const { controllers, providers } of app.get(ModulesContainer).values())
    for (const { metatype } of [...controllers.values(), ...providers.values()])
      for (const [name, handler] of handlersOf(metatype)) {
        found[name] = guardsOf(metatype, handler).map((guard) => guard.name);
      }
  return found;
}

/** Nest runs global guards and those of `@UseGuards`; `McpEndpoint` runs its own. */
function guardsOf(type, handler) {
  if (type === McpEndpoint)
    return [type, handler].flatMap((target) => new Reflector().get(HttpGuards, target) ?? []);
  const everywhere = app.get(ApplicationConfig).getGlobalGuards();
  const own = [type, handler].flatMap((target) => Reflect.getMetadata('__guards__', target) ?? []);
  return [...everywhere.map(({ constructor }) => constructor), ...own];
}

function handlersOf(type) {
  if (!type?.prototype) return [];
  const methods = Object.getOwnPropertyNames(type.prototype)
    .filter((key) => key !== 'constructor')
    .map((key) => Object.getOwnPropertyDescriptor(type.prototype, key).value)
    .filter((value) => typeof value === 'function');
  if (type === McpEndpoint)
    return methods
      .filter(({ name }) => ['post', 'get', 'delete', 'options'].includes(name))
      .map((method) => [`${method.name.toUpperCase()} /mcp`, method]);
  const prefixes = [Reflect.getMetadata('path', type) ?? ''].flat();
  return methods.flatMap((method) => {
    const patterns = Reflect.getMetadata('microservices:pattern', method) ?? [];
    const paths = Reflect.getMetadata('path', method);
    const verb = RequestMethod[Reflect.getMetadata('method', method)];
    const urls =
      paths === undefined
        ? []
        : prefixes.flatMap((prefix) =>
            [paths].flat().map((path) => `/${prefix}/${path}`.replaceAll(/\/+/g, '/')),
          );
    return [...patterns, ...urls.map((url) => `${verb} ${url.replace(/(.)\/$/, '$1')}`)].map((name) => [
      name,
      method,
    ]);
  });
}

const named = (isEvent) =>
  handlers.filter(([, { isEventHandler }]) => isEventHandler === isEvent).map(([name]) => name);
process.stdout.write(JSON.stringify({ requests: named(false), notifications: named(true), routes, guards }));
