/** Clients that `gatehouse connect` and the start page know. */
export const CLIENT_NAMES = ['claude-code', 'cursor', 'vscode', 'claude-desktop', 'inspector'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** What a client needs to reach the gateway. */
export interface ClientTarget {
  /** The URL of the MCP endpoint. */
  readonly endpoint: string;
  /** Whether the gateway requires a client key. */
  readonly needsKey: boolean;
  /** The command and first arguments of `gatehouse stdio`, for clients that speak only stdio. */
  readonly bridge: readonly [command: string, ...args: string[]];
}

export interface ClientSetup {
  readonly title: string;
  /** The file of the client, as its documentation names it. */
  readonly file?: string;
  /** What the file must contain. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A command that does the same. */
  readonly command?: string;
  /** What else the user has to do. */
  readonly note?: string;
}

/** Name of the entry in the configuration of a client. */
const ENTRY = 'gatehouse';
const KEY_VARIABLE = 'GATEHOUSE_KEY';
const KEY_NOTE = `Set ${KEY_VARIABLE} to a client key, which \`gatehouse key create\` creates.`;

/** Project files are often shared, so they refer to the key and do not contain it. */
const headersWith = (reference: string, needsKey: boolean): object =>
  needsKey ? { headers: { Authorization: `Bearer ${reference}` } } : {};

const SETUPS: Readonly<Record<ClientName, (target: ClientTarget) => ClientSetup>> = {
  'claude-code': ({ endpoint, needsKey }) => ({
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
  cursor: ({ endpoint, needsKey }) => ({
    title: 'Cursor',
    file: '~/.cursor/mcp.json',
    config: {
      mcpServers: { [ENTRY]: { url: endpoint, ...headersWith(`\${env:${KEY_VARIABLE}}`, needsKey) } },
    },
    ...(needsKey && { note: KEY_NOTE }),
  }),
  vscode: ({ endpoint, needsKey }) => ({
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
  'claude-desktop': ({ endpoint, needsKey, bridge: [command, ...args] }) => ({
    title: 'Claude Desktop',
    file: 'claude_desktop_config.json',
    config: {
      mcpServers: {
        [ENTRY]: {
          command,
          args: [...args, 'stdio', '--url', endpoint],
          ...(needsKey && { env: { [KEY_VARIABLE]: '<client key>' } }),
        },
      },
    },
    note: `Settings → Developer → Edit Config opens the file.${needsKey ? ' Replace <client key>: `gatehouse key create` creates one.' : ''} Restart Claude Desktop afterwards.`,
  }),
  inspector: ({ endpoint, needsKey }) => ({
    title: 'MCP Inspector',
    command: `npx @modelcontextprotocol/inspector --transport http --server-url ${endpoint}`,
    ...(needsKey && { note: 'Enter the client key under Authentication.' }),
  }),
};

export const clientSetup = (name: ClientName, target: ClientTarget): ClientSetup => SETUPS[name](target);
