import { Option, type Command } from 'commander';
import { configPath } from '../config/config-path.js';
import type { ConfigFormat } from './config-actions.js';
import { withExamples } from './examples.js';
import { configOption } from './command-options.js';

const dataFormat = (): Option =>
  new Option('-o, --output <format>', 'what is printed').choices(['yaml', 'json']).default('yaml');

export function addConfigCommands(program: Command): void {
  const config = withExamples(program.command('config').description('the configuration file'), [
    ['config check', 'the one that the gateway would start with'],
    ['config import ~/.cursor/mcp.json > config/gatehouse.yaml', 'begin with the servers you have'],
  ]);
  withExamples(
    config
      .command('check [file]')
      .description('whether the gateway would start with it; names every key that is wrong')
      .action(async (file: string | undefined) =>
        (await import('./config-actions.js')).checkConfig(configPath(file)),
      ),
    [['config check config/gatehouse.yaml', '']],
  );
  withExamples(
    config
      .command('print')
      .description('the configuration here: defaults, variables and overrides filled in, secrets masked')
      .addOption(configOption())
      .addOption(dataFormat())
      .action(async ({ config: file, output }: { config?: string; output: ConfigFormat }) =>
        (await import('./config-actions.js')).printConfig(configPath(file), output),
      ),
    [['config print -o json | jq .limits', 'what is limited to what']],
  );
  withExamples(
    config
      .command('import <file>')
      .description(
        'the servers of Claude Desktop, Claude Code, Cursor, Windsurf or VS Code, as ours; - is stdin',
      )
      .addOption(dataFormat())
      .action(async (file: string, { output }: { output: ConfigFormat }) =>
        (await import('./config-actions.js')).importConfig(file, output),
      ),
    [
      ['config import claude_desktop_config.json > gatehouse.yaml', ''],
      ['config import .vscode/mcp.json', ''],
    ],
  );
  withExamples(
    config
      .command('schema')
      .description('the JSON Schema, for editors')
      .action(async () => (await import('./config-actions.js')).printSchema()),
    [['config schema > gatehouse.schema.json', '']],
  );
}
