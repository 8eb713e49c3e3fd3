import { Injectable } from '@nestjs/common';
import { AddressPolicy } from '../backends/address-policy.js';
import { urlOf, type DesiredServer } from '../backends/desired-servers.js';
import { AdminSettings } from '../config/admin-settings.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { AdminProblem } from './admin-problem.js';
import { hasSameCommand } from './server-definition.js';

/** Which addresses and commands a definition that is sent to the admin API may have. */
@Injectable()
export class DefinitionPolicy {
  constructor(
    private readonly live: LiveConfig,
    private readonly settings: AdminSettings,
    private readonly addresses: AddressPolicy,
  ) {}

  /**
   * Whether the address policy allows the URL of a definition. To be called before the action: the check resolves the host
   * name, which may take long, and actions run one at a time. The address of every connection is checked again.
   */
  async allowsAddress(id: string, { url }: JsonObject): Promise<boolean> {
    if (typeof url !== 'string' || !URL.canParse(url)) return true;
    if (url === urlOf(this.live.current.mcpServers.get(id))) return true;
    return this.addresses.allowsHost(new URL(url));
  }

  /** A command runs with the rights of the gateway, so the admin token alone is not sufficient to set one. */
  requireAllowedCommand(id: string, before: DesiredServer | undefined, config: ServerConfig): void {
    if (config.type !== 'stdio' || this.settings.allowStdio) return;
    const allowed = [before?.config, this.live.current.mcpServers.get(id)];
    if (allowed.some((other) => other && hasSameCommand(other, config))) return;
    throw new AdminProblem(
      'stdio-not-allowed',
      'command, args, env and cwd of a server can be set through the API only with `admin.allowStdio: true`',
    );
  }
}
