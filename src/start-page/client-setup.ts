/** The clients for which `gatehouse connect` and the start page show a setup. */
export const CLIENT_NAMES = ['claude-code', 'cursor', 'vscode', 'claude-desktop', 'inspector'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** What the setup of a client depends on. */
export interface ClientTarget {
  /** The URL of the gateway, without a final slash. */
  readonly url: string;
  readonly project?: string | undefined;
  /** Whether the gateway requires a client key. */
  readonly needsKey: boolean;
  /** The part of the command `gatehouse stdio` before `stdio`. For clients that speak only stdio. */
  readonly stdioCommand: readonly [command: string, ...args: string[]];
}

/** The URL of the MCP endpoint, of one project or of all servers. */
export const endpointUrl = (url: string, project: string | undefined): string =>
  project === undefined ? `${url}/mcp` : `${url}/projects/${encodeURIComponent(project)}/mcp`;

/** How a client is connected to the gateway: by a command, by its configuration file, or by either of them. */
export interface ClientSetup {
  /** Name of the client. */
  readonly title: string;
  /** Path of the configuration file, as the documentation of the client names it. */
  readonly file?: string;
  /** The entries that the file must contain. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A command that connects the client without a change of the file. */
  readonly command?: string;
  /** A further step that the user has to take. */
  readonly note?: string;
}

/** Name of the gateway in the configuration of a client. */
const ENTRY = 'gatehouse';
const KEY_VARIABLE = 'GATEHOUSE_KEY';
/** Placeholder of the key in the file of Claude Desktop, which cannot refer to an environment variable. */
export const KEY_PLACEHOLDER = '<client key>';
const KEY_NOTE = `Set ${KEY_VARIABLE} to a client key, which \`gatehouse key create\` creates.`;

/** The header contains a reference to the key and not the key itself, because project files are often shared. */
const headersWith = (reference: string, needsKey: boolean): object =>
  needsKey ? { headers: { Authorization: `Bearer ${reference}` } } : {};

const desktopNote = (needsKey: boolean): string =>
  [
    'Settings → Developer → Edit Config opens the file.',
    ...(needsKey ? [`Replace ${KEY_PLACEHOLDER} by a key that \`gatehouse key create\` creates.`] : []),
    'Restart Claude Desktop afterwards.',
  ].join(' ');

const SETUPS: Readonly<Record<ClientName, (target: ClientTarget, endpoint: string) => ClientSetup>> = {
  'claude-code': ({ needsKey }, endpoint) => ({
    title: 'Claude Code',
    command: `claude mcp add --transport http ${ENTRY} ${endpoint}${needsKey ? ` --header "Authorization: Bearer $${KEY_VARIABLE}"` : ''}`,
    file: '.mcp.json',
    config: {
      mcpServers: {
        [ENTRY]: { type: 'http', url: endpoint, ...headersWith(`\${${KEY_VARIABLE}}`, needsKey) },
      },
    },
    ...(needsKey && { note: KEY_NOTE }),
  }),
  cursor: ({ needsKey }, endpoint) => ({
    title: 'Cursor',
    file: '~/.cursor/mcp.json',
    config: {
      mcpServers: { [ENTRY]: { url: endpoint, ...headersWith(`\${env:${KEY_VARIABLE}}`, needsKey) } },
    },
    ...(needsKey && { note: KEY_NOTE }),
  }),
  vscode: ({ needsKey }, endpoint) => ({
    title: 'VS Code',
    file: '.vscode/mcp.json',
    config: {
      servers: {
        [ENTRY]: { type: 'http', url: endpoint, ...headersWith('${input:gatehouse-key}', needsKey) },
      },
      ...(needsKey && {
        inputs: [
          { type: 'promptString', id: 'gatehouse-key', description: 'Gatehouse client key', password: true },
        ],
      }),
    },
    ...(needsKey && { note: 'VS Code asks for the client key, which `gatehouse key create` creates.' }),
  }),
  'claude-desktop': ({ url, project, needsKey, stdioCommand: [command, ...args] }) => ({
    title: 'Claude Desktop',
    file: 'claude_desktop_config.json',
    config: {
      mcpServers: {
        [ENTRY]: {
          command,
          args: [...args, 'stdio', '--url', url, ...(project === undefined ? [] : ['--project', project])],
          ...(needsKey && { env: { [KEY_VARIABLE]: KEY_PLACEHOLDER } }),
        },
      },
    },
    note: desktopNote(needsKey),
  }),
  inspector: ({ needsKey }, endpoint) => ({
    title: 'MCP Inspector',
    command: `npx @modelcontextprotocol/inspector --transport http --server-url ${endpoint}`,
    ...(needsKey && { note: 'Enter the client key under Authentication.' }),
  }),
};

export const clientSetup = (name: ClientName, target: ClientTarget): ClientSetup =>
  SETUPS[name](target, endpointUrl(target.url, target.project));
