import { Injectable } from '@nestjs/common';
import { AddressPolicy } from '../backends/address-policy.js';
import { urlOf, type DesiredServer } from '../backends/desired-servers.js';
import { AdminSettings } from '../config/admin-settings.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { AdminProblem } from './admin-problem.js';
import { hasSameCommand } from './server-definition.js';

/** Decides which addresses and commands a server definition may have when it is sent to the admin API. */
@Injectable()
export class DefinitionPolicy {
  constructor(
    private readonly live: LiveConfig,
    private readonly settings: AdminSettings,
    private readonly addresses: AddressPolicy,
  ) {}

  /**
   * Whether the address policy allows the URL of a definition. Callers await it before `AdminActions.run`: it resolves the
   * host name, which may take long, and admin actions run one at a time. The address of every connection is checked again.
   */
  async allowsAddress(id: string, { url }: JsonObject): Promise<boolean> {
    if (typeof url !== 'string' || !URL.canParse(url)) return true;
    if (url === urlOf(this.live.current.mcpServers.get(id))) return true;
    return this.addresses.allowsHost(new URL(url));
  }

  /**
   * Throws a problem if the definition sets a new command without `admin.allowStdio`. A command runs with the rights of the
   * gateway, so the admin token alone is not sufficient to set one.
   */
  requireAllowedCommand(id: string, before: DesiredServer | undefined, config: ServerConfig): void {
    if (config.type !== 'stdio' || this.settings.allowStdio) return;
    const existing = [before?.config, this.live.current.mcpServers.get(id)];
    if (existing.some((other) => other && hasSameCommand(other, config))) return;
    throw new AdminProblem(
      'stdio-not-allowed',
      'command, args, env and cwd of a server can be set through the API only with `admin.allowStdio: true`',
    );
  }
}
