import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { refuseAdmin } from './admin/problem.filter.js';
import { SecretRedactor } from './admin/secret-redactor.js';
import { AppModule } from './app.module.js';
import { Backends } from './backends/backends.service.js';
import { configFile, type ConfigFile } from './config/config-path.js';
import { fingerprintOf } from './config/config-reloader.js';
import { EgressProxies } from './config/egress-proxies.js';
import type { GatehouseConfig } from './config/gatehouse-config.js';
import { LiveConfig } from './config/live-config.js';
import { configLoader } from './config/load-config.js';
import type { LogSettings } from './config/log-settings.js';
import { listenError } from './config/start-error.js';
import { StateDir } from './config/state-dir.js';
import { Drain } from './edge/drain.service.js';
import { ConnectionGuard } from './edge/connection.guard.js';
import { GatewayServer } from './edge/gateway-server.js';
import { McpEndpoint } from './edge/mcp-endpoint.js';
import { OriginGuard } from './edge/origin.guard.js';
import { StartupProgress } from './health/startup-progress.js';
import { JsonLogger, type LineFormat } from './json-logger.js';
import { LogOutput } from './log-output.js';
import { connectMcp } from './mcp/mcp.module.js';
import { Metrics } from './metrics/metrics.js';
import { exitOnSignals } from './process-signals.js';
import { bannerText, firstSyncText, programCommand, targetOptions } from './start-banner.js';
import { startTracing } from './start-tracing.js';
import { VERSION } from './version.js';

/**
 * Maximum length of a path parameter. Own names of tools in paths of the admin API may be longer than 100, Fastify's
 * default.
 */
const MAX_PARAMETER_LENGTH = 1024;

const LOST_LINES = {
  type: 'counter',
  name: 'gatehouse_log_write_failures_total',
  help: 'Log lines that were not written to stderr.',
  labelNames: ['reason'],
} as const;

const PROXY_FAILURES = {
  type: 'counter',
  name: 'gatehouse_proxy_failures_total',
  help: 'Connections through an egress proxy that were not made.',
  labelNames: ['reason'],
} as const;

/** The format of log lines. Text is coloured only on a terminal with colours and without `NO_COLOR`. */
function lineFormat({ format }: LogSettings): LineFormat {
  const { stderr } = process;
  if (format === 'json' || (format === 'auto' && !stderr.isTTY)) return 'json';
  return stderr.isTTY && stderr.hasColors() ? 'coloured-text' : 'text';
}

/** Starts the gateway, which runs until a signal. Resolves when it listens. Rejects when it cannot start. */
export async function serve(options: { readonly config?: string | undefined }): Promise<void> {
  const file = configFile(options.config);
  const { path } = file;
  const load = configLoader(file, process.env);
  // The fingerprint is taken before the file is read, so that a change of the file during the start is detected.
  const fingerprint = fingerprintOf(path);
  const config = load();
  new StateDir(config.stateDir).requireWritable();
  const output = new LogOutput();
  const logger = new JsonLogger(config.log.level, config.secrets, output.write, lineFormat(config.log));
  const proxies = EgressProxies.ofProcess();
  const { tracing, stopTracing } = await startTracing(process.env, proxies);
  const server = new GatewayServer();
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(config, { path, fingerprint, load }, tracing),
    new FastifyAdapter({
      serverFactory: (fastify: RequestListener) => server.create(fastify),
      routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    }),
    // The body parsers of Nest would read a body before any guard runs.
    { logger, abortOnError: false, bodyParser: false },
  );
  const metrics = app.get(Metrics);
  metrics.expose(LOST_LINES, () => output.lost());
  metrics.expose(PROXY_FAILURES, () =>
    Array.from(proxies.failureCounts(), ([reason, count]) => [{ reason }, count]),
  );
  const secrets = app.get(SecretRedactor);
  logger.addSecrets(secrets.current);
  secrets.onChange((all) => logger.addSecrets(all));
  app.get(LiveConfig).onChange(({ log }) => {
    logger.setLevel(log.level);
    logger.setFormat(lineFormat(log));
  });
  exitOnSignals(app, logger, { drainMs: config.shutdown.drainMs, afterClose: stopTracing });
  await connectMcp(app);
  server.setRoutes({
    mcp: app.get(McpEndpoint),
    originGuard: app.get(OriginGuard),
    connections: app.get(ConnectionGuard),
    refuseAdmin,
  });
  app.get(Drain).server = server;
  await app.listen(config.http.port, config.http.host).catch((error: unknown) => {
    throw listenError(error, config.http);
  });
  app.get(Backends).startServers();
  await announce(app, { file, config, logger, output });
}

interface Announcement {
  readonly file: ConfigFile;
  readonly config: GatehouseConfig;
  readonly logger: JsonLogger;
  readonly output: LogOutput;
}

/** Writes where the gateway listens: one line to stdout and, if stderr is a terminal, a banner to stderr. */
async function announce(
  app: NestFastifyApplication,
  { file, config, logger, output }: Announcement,
): Promise<void> {
  const { path } = file;
  const exists = existsSync(path);
  if (!exists)
    logger.warn({ message: 'no configuration file: started without servers', path, fix: 'gatehouse init' });
  for (const note of config.notes) logger.log({ message: 'configuration note', note });
  const url = await app.getUrl();
  // Without a listener, a write to a pipe that the parent process has closed would end the gateway.
  process.stdout.on('error', () => {});
  process.stdout.write(`Gatehouse ${VERSION} listens on ${url}/mcp\n`, output.countFailure);
  if (!process.stderr.isTTY) return;
  const commands = {
    program: programCommand(process.argv[1]),
    options: targetOptions(file, { url, port: config.http.port, env: process.env }),
  };
  output.write(bannerText({ url, file: { ...file, exists }, config, commands }));
  void app.get(StartupProgress).whenComplete?.then(() => {
    const servers = Array.from(app.get(Backends).all(), (backend) => backend.status());
    output.write(firstSyncText(servers, commands));
  });
}
