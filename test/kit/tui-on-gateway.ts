import { join } from 'node:path';
import { ADMIN_TOKEN, AdminClient } from './admin-client.js';
import { launchGateway, writeConfig, type Gateway } from './gateway.js';
import { freePort } from './http.js';
import { everythingOverStdio, memory } from './real-servers.js';
import { tempDir } from './temp-dir.js';
import { filesServer } from './tui-files-server.js';
import { MAIN, NODE } from './program.js';
import { PseudoTerminal, type TerminalSize } from './pseudo-terminal.js';
import { until } from './until.js';

/** Number of resources of all servers of a `TuiGateway`. */
export const RESOURCES = 11;

/** A gateway with real servers and a scripted file server, to run the terminal UI against. */
export class TuiGateway {
  admin: AdminClient;

  private constructor(
    public gateway: Gateway,
    private readonly config: string,
    readonly files: Awaited<ReturnType<typeof filesServer>>,
  ) {
    this.admin = new AdminClient(gateway);
  }

  static async open(): Promise<TuiGateway> {
    const files = await filesServer();
    const config = writeConfig({
      http: { modern: true },
      admin: { token: ADMIN_TOKEN },
      mcpServers: {
        everything: everythingOverStdio(),
        files: files.http,
        memory: memory(join(tempDir(), 'graph.jsonl')),
      },
      projects: { logs: { servers: ['files'] } },
    });
    const port = String(await freePort());
    const tuiGateway = new TuiGateway(await started(config, { GATEHOUSE__HTTP__PORT: port }), config, files);
    await tuiGateway.gateway.listed({ tools: ['everything', 'files', 'memory'] });
    await tuiGateway.untilResources(RESOURCES);
    return tuiGateway;
  }

  tui(size: TerminalSize, options: readonly string[] = [], env: NodeJS.ProcessEnv = {}): PseudoTerminal {
    return runTuiOn(this.gateway, size, options, env);
  }

  async untilResources(resources: number): Promise<void> {
    await until(
      `there are ${resources} resources`,
      async () => (await this.admin.get('resources')).json['total'] === resources,
    );
  }

  /** Kills the gateway; the returned function starts another one on the same port. */
  async crash(): Promise<() => Promise<void>> {
    const { port } = new URL(this.gateway.url);
    await this.gateway.stop('SIGKILL');
    return async () => {
      this.gateway = await started(this.config, { GATEHOUSE__HTTP__PORT: port });
      this.admin = new AdminClient(this.gateway);
    };
  }
}

export const runTuiOn = (
  gateway: Gateway,
  size: TerminalSize,
  options: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): PseudoTerminal =>
  PseudoTerminal.run([NODE, MAIN, 'tui', '--url', gateway.urlOf('/'), ...options], size, {
    GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN,
    ...env,
  });

async function started(config: string, env?: NodeJS.ProcessEnv): Promise<Gateway> {
  const gateway = launchGateway(['--config', config], env);
  await gateway.listening();
  return gateway;
}
