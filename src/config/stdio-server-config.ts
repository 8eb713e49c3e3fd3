import { CommonServerConfig } from './common-server-config.js';
import { Choice, Text, TextList, TextRecord } from './schema/keys.js';

const VARIABLE = { pattern: /^[^=\0]+$/, says: 'must be the name of an environment variable' };

/** A program that the gateway starts and talks to over its stdin and stdout. */
export class StdioServerConfig extends CommonServerConfig {
  @Choice(['stdio'], 'Implied by command.')
  readonly type = 'stdio' as const;

  @Text('Program to start: a path, or a name to be found in PATH. No shell is involved.', {
    missing: 'must be given, or `url` for a server that is reached over HTTP',
    open: true,
  })
  readonly command: string;

  @TextList('Arguments of the program.')
  readonly args: readonly string[] = [];

  @TextRecord(VARIABLE, "Variables of the program's environment, besides the few it inherits such as PATH.")
  readonly env: Readonly<Record<string, string>> = {};

  /** Taken as MCP clients take it: a relative path starts at the gateway's own working directory, not at the file. */
  @Text("Working directory of the program. A relative one starts at the gateway's own.", { open: true })
  readonly cwd?: string;
}
