import { SdkMcpClient, type ResourceContents, type ToolResult } from '../client/sdk-mcp-client.js';
import { printable } from '../client/printable.js';
import { formatBytes } from '../client/format.js';
import { CommandError, InterruptedError } from './command-error.js';
import type { GatewayOptions } from './command-options.js';
import { resolveTarget } from './gateway-session.js';
import { Output } from './output.js';
import { ProgressBar } from './progress-bar.js';
import { convertBySchema, isTextPair, parseToolArguments } from './tool-arguments.js';

export interface McpOptions extends GatewayOptions {
  readonly project?: string;
  /** Maximum time without a result or progress, in seconds. */
  readonly timeout: number;
}

/** Calls a tool through the MCP endpoint and prints its result. Rejects if the result has `isError`. */
export async function callTool(
  name: string,
  pairs: readonly string[],
  options: McpOptions & { readonly args?: string },
): Promise<void> {
  // Parsed before a session is opened, so that wrong arguments are reported at once. The texts of `name=text` are converted
  // later, because the schema of the tool is known only in a session.
  const parsedArguments = parseToolArguments(options.args, pairs);
  const out = new Output(options.output);
  const bar = new ProgressBar(process.stderr);
  const result = await withSession(options, async (client, signal) => {
    const convertedArguments = pairs.some(isTextPair)
      ? parseToolArguments(undefined, pairs, { convert: await converterFor(client, name) })
      : {};
    return client
      .callTool(
        name,
        { ...parsedArguments, ...convertedArguments },
        {
          signal,
          timeoutMs: options.timeout * 1000,
          onProgress: (reported) => bar.update(reported),
        },
      )
      .finally(() => bar.end());
  });
  if (out.format === 'json') out.json(result);
  else printResult(out, result);
  if (result.isError === true) throw new CommandError(printable(`${name} returned an error`));
}

/**
 * Returns a function that converts the text of an argument by the input schema of the tool. If the tool is not listed, the
 * function returns the text itself.
 */
async function converterFor(
  client: SdkMcpClient,
  tool: string,
): Promise<(name: string, text: string) => unknown> {
  return convertBySchema((await client.findTool(tool))?.['inputSchema']);
}

export async function readResource(uri: string, options: McpOptions): Promise<void> {
  const out = new Output(options.output);
  const contents = await withSession(options, (client, signal) =>
    client.read(uri, { signal, timeoutMs: options.timeout * 1000 }),
  );
  if (out.format === 'json') out.json({ contents });
  else for (const content of contents) printContents(out, content);
}

/** Opens an MCP session for one request. Ctrl-C cancels the request at the server before the process ends. */
async function withSession<T>(
  options: McpOptions,
  send: (client: SdkMcpClient, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const client = await SdkMcpClient.connect(await resolveTarget(options), options.project);
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new InterruptedError());
  process.once('SIGINT', interrupt);
  try {
    return await send(client, interruption.signal);
  } catch (error) {
    throw interruption.signal.aborted ? new InterruptedError() : error;
  } finally {
    process.off('SIGINT', interrupt);
    await client.close();
  }
}

function printResult(out: Output, { content = [], structuredContent }: ToolResult): void {
  for (const block of content) printBlock(out, block);
  if (content.length === 0 && structuredContent !== undefined) out.json(structuredContent);
}

function printBlock(out: Output, block: NonNullable<ToolResult['content']>[number]): void {
  const { type, text, data, mimeType, uri, resource } = block;
  if (typeof text === 'string') out.content(text);
  else if (typeof data === 'string') out.line(placeholder(`${type} ${String(mimeType)}`, data));
  else if (type === 'resource') printEmbedded(out, resource as ResourceContents);
  else if (typeof uri === 'string') out.line(printable(uri));
  else out.json(block);
}

function printEmbedded(out: Output, { uri, text, blob, mimeType = 'binary' }: ResourceContents): void {
  if (text === undefined) out.line(placeholder(`${uri} ${mimeType}`, blob ?? ''));
  else out.content(text);
}

function printContents(out: Output, { text, blob = '', mimeType = 'binary' }: ResourceContents): void {
  if (text !== undefined && out.isTerminal) out.content(text);
  else if (text !== undefined) out.bytes(text);
  else if (out.isTerminal) out.line(`${placeholder(mimeType, blob)}: redirect to a file with > FILE`);
  else out.bytes(Buffer.from(blob, 'base64'));
}

const placeholder = (what: string, base64: string): string =>
  `[${printable(what)}, ${formatBytes(Buffer.byteLength(base64, 'base64'))}]`;
