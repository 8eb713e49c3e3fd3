import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError, ResultSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { VERSION } from '../version.js';
import { GatewayProblem, unreachable } from './gateway-problem.js';
import type { GatewayTarget } from './gateway-target.js';

const PATIENCE_MS = 15_000;
/** What the SDK calls a request that nobody answered in time. */
const TOO_LATE = -32001;

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

export interface McpCallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
}

/** One session at the MCP endpoint, as any client has it. Results are left as they come. */
export class SdkMcpClient {
  private constructor(
    private readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
    private readonly url: string,
  ) {}

  static async connect({ url, key }: GatewayTarget, project?: string): Promise<SdkMcpClient> {
    const endpoint =
      project === undefined ? `${url}/mcp` : `${url}/projects/${encodeURIComponent(project)}/mcp`;
    const client = new Client({ name: 'gatehouse-cli', title: 'Gatehouse command line', version: VERSION });
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const transport = new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } });
    try {
      await client.connect(transport, { timeout: PATIENCE_MS });
    } catch (error) {
      throw problemOf(error, endpoint);
    }
    return new SdkMcpClient(client, transport, endpoint);
  }

  async read(uri: string, options: McpCallOptions = {}): Promise<readonly ResourceContents[]> {
    const result = await this.ask('resources/read', { uri }, options);
    return (result['contents'] ?? []) as readonly ResourceContents[];
  }

  async callTool(name: string, args: object, options: McpCallOptions = {}): Promise<ToolResult> {
    return await this.ask('tools/call', { name, arguments: args }, options);
  }

  /** Ends the session too, so that the gateway need not keep it. */
  async close(): Promise<void> {
    await this.transport.terminateSession().catch(() => {});
    await this.client.close().catch(() => {});
  }

  private async ask(
    method: string,
    params: object,
    options: McpCallOptions,
  ): Promise<Record<string, unknown>> {
    const { signal, onProgress, timeoutMs = PATIENCE_MS } = options;
    try {
      return await this.client.request({ method, params: { ...params } }, ResultSchema, {
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw problemOf(error, this.url);
    }
  }
}

function problemOf(error: unknown, url: string): GatewayProblem {
  const status = error instanceof Error && 'code' in error ? error.code : undefined;
  if (status === 401 || (error instanceof Error && error.name === 'UnauthorizedError'))
    return new GatewayProblem(
      'not-allowed',
      'the gateway asks who you are: give --key, or set GATEHOUSE_KEY',
    );
  if (status === 403) return new GatewayProblem('not-allowed', 'the key does not allow this');
  if (error instanceof McpError) {
    if (error.code === TOO_LATE)
      return new GatewayProblem('refused', 'it took too long; --timeout gives it more time');
    return new GatewayProblem('refused', `${wordsOf(error)} (${error.code})`, { cause: error });
  }
  if (typeof status === 'number')
    return new GatewayProblem('refused', `the gateway answers with status ${status}`, { cause: error });
  return unreachable(url, error);
}

/** The SDK puts its own words before those of the other side. */
const wordsOf = ({ message }: McpError): string => message.replace(/^MCP error -?\d+: /, '');
