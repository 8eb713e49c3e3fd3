import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { AdminProblem } from './admin-problem.js';

/** `decisions.policy: file`: the admin API does not change what the configuration file defines. */
@Injectable()
export class FilePolicy {
  constructor(private readonly live: LiveConfig) {}

  /** Whether the policy is `file` and the file defines the server or project. Only a server and its tools can be disabled. */
  protects(kind: 'server' | 'project', id: string): boolean {
    const { decisions, mcpServers, projects } = this.live.current;
    return decisions.policy === 'file' && (kind === 'server' ? mcpServers : projects).has(id);
  }

  requireChangeable(kind: 'server' | 'project', id: string): void {
    if (this.protects(kind, id)) throw definedInFile(kind, id);
  }

  /** Throws unless the file enables the server, or its tool. The admin API may then end its own emergency switch. */
  requireEnabledInFile(server: string, tool?: string): void {
    const declared = this.live.current.mcpServers.get(server)!;
    const isEnabled = tool === undefined ? declared.enabled : !declared.tools.disabled.includes(tool);
    if (!isEnabled) throw definedInFile('server', server);
  }
}

const definedInFile = (kind: string, id: string): AdminProblem =>
  new AdminProblem(
    'defined-in-file',
    `${kind} \`${id}\` is defined in the configuration file and \`decisions.policy\` is \`file\`: change the file; ` +
      'the admin API can only disable a server or tool of the file, as an emergency switch',
  );
