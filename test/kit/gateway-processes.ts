import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AdminClient } from './admin-client.js';
import { launchGateway, rewriteConfig, writeConfig, type Gateway, type GatewayConfig } from './gateway.js';
import type { RawSession } from './raw-session.js';
import type { SubscribedClient } from './subscribed-client.js';

/** Gateway processes one after the other, with the same configuration and state directory. The last one ends with the test. */
export class GatewayProcesses {
  gateway!: Gateway;
  private readonly config: string;
  /** The journal of session records. */
  readonly journal: string;

  private constructor(config: GatewayConfig) {
    this.config = writeConfig(config);
    this.journal = join(dirname(this.config), 'state', 'sessions.jsonl');
  }

  static async start(config: GatewayConfig): Promise<GatewayProcesses> {
    const processes = new GatewayProcesses(config);
    await processes.start();
    return processes;
  }

  async start(changes?: GatewayConfig): Promise<void> {
    if (changes) rewriteConfig(this.config, changes);
    this.gateway = launchGateway(['--config', this.config]);
    await this.gateway.listening();
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL', changes?: GatewayConfig): Promise<void> {
    await this.gateway.stop(signal);
    await this.start(changes);
  }

  get admin(): AdminClient {
    return new AdminClient(this.gateway);
  }

  /** The subscriptions of all servers or of one, without `hasStream`, which differs after a restart. */
  async subscriptions(server?: string): Promise<{ readonly id: string; readonly server: string }[]> {
    const { json } = await this.admin.get('subscriptions');
    const listed = json['subscriptions'] as { id: string; server: string; hasStream: boolean }[];
    const all = listed.map(({ hasStream: _hasStream, ...lasting }) => lasting);
    return server === undefined ? all : all.filter((one) => one.server === server);
  }

  get stored(): string {
    return readFileSync(this.journal, 'utf8');
  }

  /** The session of a client, at the URL of the current process. Other headers may contain other credentials. */
  sessionOf({ session }: SubscribedClient, headers?: Record<string, string>): RawSession {
    return session.at(this.gateway.urlOf(new URL(session.url).pathname), headers);
  }
}
