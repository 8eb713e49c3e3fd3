import { Option, type Command } from 'commander';
import { configPath } from '../config/config-path.js';
import { configOption, withAdminOptions, withExamples, type GatewayOptions } from './command-options.js';
import type { ConfigFormat } from './config-actions.js';

const formatOption = (): Option =>
  new Option('-o, --output <format>', 'output format').choices(['yaml', 'json']).default('yaml');

export function addConfigCommands(program: Command): void {
  const config = withExamples(program.command('config').description('configuration file'), [
    ['config check', 'the file that serve would use'],
    ['config import ~/.cursor/mcp.json > config/gatehouse.yaml', 'start with the servers of another client'],
  ]);
  withExamples(
    config
      .command('check [file]')
      .description('check whether the gateway would start with this file; reports all wrong keys')
      .action(async (file: string | undefined) =>
        (await import('./config-actions.js')).checkConfig(configPath(file)),
      ),
    [['config check config/gatehouse.yaml', '']],
  );
  withExamples(
    config
      .command('print')
      .description('print the local configuration with defaults, variables and overrides; secrets are masked')
      .addOption(configOption())
      .addOption(formatOption())
      .action(async ({ config: file, output }: { config?: string; output: ConfigFormat }) =>
        (await import('./config-actions.js')).printConfig(configPath(file), output),
      ),
    [['config print -o json | jq .limits', 'the limits']],
  );
  withExamples(
    config
      .command('import <file>')
      .description(
        'convert the servers of Claude Desktop, Claude Code, Cursor, Windsurf, VS Code, Cline, Roo Code or Gemini CLI; - for stdin',
      )
      .addOption(formatOption())
      .action(async (file: string, { output }: { output: ConfigFormat }) =>
        (await import('./config-actions.js')).importConfig(file, output),
      ),
    [
      ['config import claude_desktop_config.json > gatehouse.yaml', ''],
      ['config import .vscode/mcp.json', ''],
    ],
  );
  withExamples(
    withAdminOptions(config.command('reload'))
      .description('have the running gateway read its configuration file again; fails if it is invalid')
      .action(async (options: GatewayOptions) => (await import('./config-reload.js')).reloadConfig(options)),
    [['config reload', 'the local gateway']],
  );
  withExamples(
    config
      .command('schema')
      .description('print the JSON Schema of the configuration, for editors')
      .action(async () => (await import('./config-actions.js')).printSchema()),
    [['config schema > gatehouse.schema.json', '']],
  );
}
