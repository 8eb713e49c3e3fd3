import { InvalidArgumentError, type Command } from 'commander';
import type { ListOptions } from './catalog-reports.js';
import { withExamples } from './examples.js';
import { withGateway, withMcp, type GatewayOptions } from './command-options.js';
import type { McpOptions } from './mcp-actions.js';

const LONGEST_SECONDS = 300;

/** What the servers offer, and using it. */
export function addCatalogCommands(program: Command): void {
  addTools(
    withExamples(program.command('tools').description('the tools of all servers'), [
      ['tools ls', ''],
      ['tools call everything__echo message=hello', ''],
    ]),
  );
  addPrompts(
    withExamples(program.command('prompts').description('the prompts of all servers'), [['prompts ls', '']]),
  );
  addResources(
    withExamples(program.command('resources').description('the resources of all servers'), [
      ['resources search error log', ''],
      ['resources read resource://files/file:///logs/app.log', ''],
    ]),
  );
}

function addPrompts(prompts: Command): void {
  withExamples(
    withWords(withFilters(withGateway(prompts.command('ls'))))
      .description('every prompt, as clients see it')
      .action(async ({ query, ...options }: ListOptions & { query?: string }) => {
        const { listCatalog, PROMPTS } = await import('./catalog-reports.js');
        await listCatalog(PROMPTS, options, query);
      }),
    [['prompts ls --query review', '']],
  );
}

function addTools(tools: Command): void {
  withExamples(
    withWords(withFilters(withGateway(tools.command('ls'))))
      .description('every tool, as clients see it')
      .action(async ({ query, ...options }: ListOptions & { query?: string }) => {
        const { listCatalog, TOOLS } = await import('./catalog-reports.js');
        await listCatalog(TOOLS, options, query);
      }),
    [
      ['tools ls --server github', ''],
      ['tools ls -o json | jq -r ".tools[].name"', 'names alone'],
    ],
  );
  withExamples(
    withTime(withMcp(tools.command('call <tool> [arguments...]')))
      .description('call a tool; fails when the tool does')
      .option('-a, --args <json>', 'its arguments as JSON, or @file, or - for stdin')
      .action(async (name: string, pairs: string[], options: McpOptions & { args?: string }) =>
        (await import('./mcp-actions.js')).callTool(name, pairs, options),
      ),
    [
      ['tools call everything__echo message=hello', 'text'],
      ['tools call everything__get-sum a:=2 b:=3', 'numbers, flags and lists are JSON'],
      ['tools call files__read -a @arguments.json -o json', 'the whole result'],
    ],
  );
  for (const action of ['enable', 'disable'] as const)
    withExamples(
      withGateway(tools.command(`${action} <server> <tool>`))
        .description(
          `${action === 'enable' ? 'offer a tool again' : 'take a tool away'}, by the server's own name`,
        )
        .action(async (server: string, tool: string, options: GatewayOptions) =>
          (await import('./server-reports.js')).setToolEnabled(server, tool, action, options),
        ),
      [[`tools ${action} files write_file`, '']],
    );
}

function addResources(resources: Command): void {
  withExamples(
    withTemplates(withFilters(withGateway(resources.command('ls'))))
      .description('every resource, as clients see it')
      .action((options: TemplateOptions) => listResources(options)),
    [
      ['resources ls --server files', ''],
      ['resources ls --templates', ''],
    ],
  );
  withExamples(
    withTime(withMcp(resources.command('read <uri>')))
      .description('the contents of a resource; off a terminal they are not touched')
      .action(async (uri: string, options: McpOptions) =>
        (await import('./mcp-actions.js')).readResource(uri, options),
      ),
    [
      ['resources read resource://files/file:///logs/app.log', ''],
      ['resources read resource://files/file:///logo.png > logo.png', 'whatever it is'],
    ],
  );
  withExamples(
    withTemplates(withFilters(withGateway(resources.command('search <words...>'))))
      .description('resources in which all of these words occur')
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
  command.option('-t, --templates', 'the templates instead');

const withWords = (command: Command): Command =>
  command.option('-q, --query <words>', 'only those in which all of these words occur');

const withFilters = (command: Command): Command =>
  command
    .option('-s, --server <server>', 'only of this server')
    .option('-p, --project <project>', 'only what this project shows')
    .option('-n, --limit <number>', 'at most so many', wholeNumber);

const withTime = (command: Command): Command =>
  command.option(
    '--timeout <seconds>',
    'how long it may take without a sign of life',
    wholeNumber,
    LONGEST_SECONDS,
  );

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a whole number from 1.');
  return number;
}
