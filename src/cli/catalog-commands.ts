import type { Command } from 'commander';
import type { ListOptions } from './catalog-reports.js';
import {
  positiveInteger,
  withAdminOptions,
  withExamples,
  withLimit,
  withMcpOptions,
  type GatewayOptions,
} from './command-options.js';
import type { McpOptions } from './mcp-actions.js';

const DEFAULT_TIMEOUT_SECONDS = 300;

/** Commands about tools, prompts and resources. */
export function addCatalogCommands(program: Command): void {
  addTools(
    withExamples(program.command('tools').description('tools of all servers'), [
      ['tools ls', ''],
      ['tools call everything__echo message=hello', ''],
    ]),
  );
  addPrompts(
    withExamples(program.command('prompts').description('prompts of all servers'), [['prompts ls', '']]),
  );
  addResources(
    withExamples(program.command('resources').description('resources of all servers'), [
      ['resources search error log', ''],
      ['resources read resource://files/file:///logs/app.log', ''],
    ]),
  );
}

function addPrompts(prompts: Command): void {
  withExamples(
    withQuery(withFilters(withAdminOptions(prompts.command('ls'))))
      .description('list prompts by their public names')
      .action(async ({ query, ...options }: ListOptions & { query?: string }) => {
        const { listCatalog, PROMPTS } = await import('./catalog-reports.js');
        await listCatalog(PROMPTS, options, query);
      }),
    [['prompts ls --query review', '']],
  );
}

function addTools(tools: Command): void {
  withExamples(
    withQuery(withFilters(withAdminOptions(tools.command('ls'))))
      .description('list tools by their public names')
      .action(async ({ query, ...options }: ListOptions & { query?: string }) => {
        const { listCatalog, TOOLS } = await import('./catalog-reports.js');
        await listCatalog(TOOLS, options, query);
      }),
    [
      ['tools ls --server github', ''],
      ['tools ls -o json | jq -r ".tools[].name"', 'names only'],
    ],
  );
  withExamples(
    withTimeout(withMcpOptions(tools.command('call <tool> [arguments...]')))
      .description('call a tool; fails if the result is an error')
      .option('-a, --args <json>', 'arguments as JSON, @file, or - for stdin')
      .action(async (name: string, pairs: string[], options: McpOptions & { args?: string }) =>
        (await import('./mcp-actions.js')).callTool(name, pairs, options),
      ),
    [
      ['tools call everything__get-sum a=2 b=3', 'name=value; the schema of the tool decides its type'],
      ['tools call everything__echo message=hello', ''],
      ['tools call files__search paths:=\'["a","b"]\'', 'name:=json for lists and objects'],
      ['tools call files__read -a @arguments.json -o json', 'the whole result'],
    ],
  );
  for (const action of ['enable', 'disable'] as const)
    withExamples(
      withAdminOptions(tools.command(`${action} <server> <tool>`))
        .description(`${action} a tool for all clients, by its own name on the server`)
        .action(async (server: string, tool: string, options: GatewayOptions) =>
          (await import('./server-reports.js')).setToolEnabled(server, tool, action, options),
        ),
      [[`tools ${action} files write_file`, '']],
    );
}

function addResources(resources: Command): void {
  withExamples(
    withTemplates(withFilters(withAdminOptions(resources.command('ls'))))
      .description('list resources by their public URIs')
      .action((options: TemplateOptions) => listResources(options)),
    [
      ['resources ls --server files', ''],
      ['resources ls --templates', ''],
    ],
  );
  withExamples(
    withTimeout(withMcpOptions(resources.command('read <uri>')))
      .description('print the contents of a resource, byte for byte unless on a terminal')
      .action(async (uri: string, options: McpOptions) =>
        (await import('./mcp-actions.js')).readResource(uri, options),
      ),
    [
      ['resources read resource://files/file:///logs/app.log', ''],
      ['resources read resource://files/file:///logo.png > logo.png', 'binary contents'],
    ],
  );
  withExamples(
    withTemplates(withFilters(withAdminOptions(resources.command('search <words...>'))))
      .description('list resources that contain all words, best match first')
      .action((words: string[], options: TemplateOptions) => listResources(options, words.join(' '))),
    [
      ['resources search error log', ''],
      ['resources search --templates log', ''],
    ],
  );
}

interface TemplateOptions extends ListOptions {
  readonly templates?: boolean;
}

async function listResources({ templates, ...options }: TemplateOptions, words?: string): Promise<void> {
  const { listCatalog, RESOURCES, TEMPLATES } = await import('./catalog-reports.js');
  if (templates) await listCatalog(TEMPLATES, options, words);
  else await listCatalog(RESOURCES, options, words);
}

const withTemplates = (command: Command): Command =>
  command.option('-t, --templates', 'resource templates instead of resources');

const withQuery = (command: Command): Command =>
  command.option('-q, --query <words>', 'only entries that contain all words, best match first');

const withFilters = (command: Command): Command =>
  withLimit(
    command
      .option('-s, --server <server>', 'only entries of this server')
      .option('-p, --project <project>', 'only entries that this project offers'),
  );

const withTimeout = (command: Command): Command =>
  command.option(
    '--timeout <seconds>',
    'maximum time without a result or progress',
    positiveInteger,
    DEFAULT_TIMEOUT_SECONDS,
  );
