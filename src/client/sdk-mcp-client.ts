import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError, ResultSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { endpointUrl } from '../start-page/client-setup.js';
import { VERSION } from '../version.js';
import { GatewayProblem, unreachable } from './gateway-problem.js';
import type { GatewayTarget } from './gateway-target.js';

const REQUEST_TIMEOUT_MS = 15_000;
/** Error code of the SDK for a request that timed out. */
const REQUEST_TIMEOUT_CODE = -32001;

export type { Progress };

export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface ToolResult {
  readonly content?: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface McpCallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
}

/** One MCP session with the gateway. Results are returned unchanged. */
export class SdkMcpClient {
  private constructor(
    private readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
    private readonly url: string,
    private readonly key: string | undefined,
  ) {}

  static async connect({ url, key }: GatewayTarget, project?: string): Promise<SdkMcpClient> {
    const endpoint = endpointUrl(url, project);
    const client = new Client({ name: 'gatehouse-cli', title: 'Gatehouse command line', version: VERSION });
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const transport = new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } });
    try {
      await client.connect(transport, { timeout: REQUEST_TIMEOUT_MS });
    } catch (error) {
      throw problemOf(error, endpoint, key);
    }
    return new SdkMcpClient(client, transport, endpoint, key);
  }

  async read(uri: string, options: McpCallOptions = {}): Promise<readonly ResourceContents[]> {
    const result = await this.request('resources/read', { uri }, options);
    return (result['contents'] ?? []) as readonly ResourceContents[];
  }

  async callTool(name: string, args: object, options: McpCallOptions = {}): Promise<ToolResult> {
    return await this.request('tools/call', { name, arguments: args }, options);
  }

  /** Finds the tool with this public name in the list of tools. */
  async findTool(name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    let cursor: unknown;
    do {
      const page = await this.request('tools/list', cursor === undefined ? {} : { cursor }, {});
      const tools = (page['tools'] ?? []) as readonly Readonly<Record<string, unknown>>[];
      const found = tools.find((tool) => tool['name'] === name);
      if (found) return found;
      cursor = page['nextCursor'];
    } while (cursor !== undefined);
    return undefined;
  }

  /** Ends the session at the gateway and closes the client. Never rejects. */
  async close(): Promise<void> {
    await this.transport.terminateSession().catch(() => {});
    await this.client.close().catch(() => {});
  }

  private async request(
    method: string,
    params: object,
    options: McpCallOptions,
  ): Promise<Record<string, unknown>> {
    const { signal, onProgress, timeoutMs = REQUEST_TIMEOUT_MS } = options;
    try {
      return await this.client.request({ method, params: { ...params } }, ResultSchema, {
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw problemOf(error, this.url, this.key);
    }
  }
}

function problemOf(error: unknown, url: string, key: string | undefined): GatewayProblem {
  const status = error instanceof Error && 'code' in error ? error.code : undefined;
  if (status === 401 || (error instanceof Error && error.name === 'UnauthorizedError'))
    return new GatewayProblem(
      'not-allowed',
      key === undefined
        ? 'the gateway requires an API key: give --key, or set GATEHOUSE_KEY'
        : 'the gateway refused the API key: check --key or GATEHOUSE_KEY; `gatehouse key ls` lists the keys',
    );
  if (status === 403) return new GatewayProblem('not-allowed', 'the key does not allow this');
  if (error instanceof McpError) {
    if (error.code === REQUEST_TIMEOUT_CODE)
      return new GatewayProblem('refused', 'the request timed out; --timeout sets a longer time');
    return new GatewayProblem('refused', `${messageOf(error)} (${error.code})`, { cause: error });
  }
  if (typeof status === 'number')
    return new GatewayProblem('refused', `the gateway responded with status ${status}`, { cause: error });
  return unreachable(url, error);
}

/** The message of the server, without the prefix that the SDK adds. */
const messageOf = ({ message }: McpError): string => message.replace(/^MCP error -?\d+: /, '');
