import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { AdminProblem } from './admin-problem.js';

/** Applies `decisions.policy: file`, with which the admin API may not change what the configuration file defines. */
@Injectable()
export class FilePolicy {
  constructor(private readonly live: LiveConfig) {}

  /**
   * Whether the policy is `file` and the file defines the server or project. The admin API may disable a protected server
   * and its tools, but not change them otherwise.
   */
  protects(kind: 'server' | 'project', id: string): boolean {
    const { decisions, mcpServers, projects } = this.live.current;
    return decisions.policy === 'file' && (kind === 'server' ? mcpServers : projects).has(id);
  }

  /** Throws a problem if the policy protects the server or project. */
  requireChangeable(kind: 'server' | 'project', id: string): void {
    if (this.protects(kind, id)) throw definedInFile(kind, id);
  }

  /**
   * Called before a protected server, or a tool of it, is enabled. Throws a problem if the file disables the server or, if
   * `tool` is given, the tool. Otherwise a decision of an administrator has disabled it, and the admin API may clear this
   * decision.
   */
  requireEnabledInFile(server: string, tool?: string): void {
    const config = this.live.current.mcpServers.get(server)!;
    const isEnabled = tool === undefined ? config.enabled : !config.tools.disabled.includes(tool);
    if (!isEnabled) throw definedInFile('server', server);
  }
}

const definedInFile = (kind: string, id: string): AdminProblem =>
  new AdminProblem(
    'defined-in-file',
    `${kind} \`${id}\` is defined in the configuration file and \`decisions.policy\` is \`file\`: change the file; ` +
      'the admin API can only disable a server or tool of the file, as an emergency switch',
  );
