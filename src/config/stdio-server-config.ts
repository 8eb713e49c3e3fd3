import { CommonServerConfig } from './common-server-config.js';
import { Choice, Text, TextList, TextRecord } from './schema/keys.js';

const VARIABLE = { pattern: /^[^=\0]+$/, requirement: 'must be the name of an environment variable' };

/** A server that the gateway starts as a child process. */
export class StdioServerConfig extends CommonServerConfig {
  @Choice(['stdio'], 'Transport; implied by command.')
  readonly type = 'stdio' as const;

  @Text('Program to start: a path, or a name that is searched in PATH. No shell is used.', {
    missingMessage: 'is required, or `url` for a server over HTTP',
    mayBeLogged: true,
  })
  readonly command: string;

  @TextList('Arguments of the program.')
  readonly args: readonly string[] = [];

  @TextRecord(VARIABLE, 'Environment variables of the program, in addition to inherited ones such as PATH.')
  readonly env: Readonly<Record<string, string>> = {};

  /**
   * As in MCP clients, a relative path is resolved against the working directory of the gateway, not the directory of the
   * configuration file.
   */
  @Text(
    "Working directory of the program. A relative path is resolved against the gateway's working directory.",
    { mayBeLogged: true },
  )
  readonly cwd?: string;
}
