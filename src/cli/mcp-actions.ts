import { SdkMcpClient, type ResourceContents, type ToolResult } from '../client/sdk-mcp-client.js';
import { printable } from '../client/printable.js';
import { formatBytes } from '../client/format.js';
import { CommandError } from './command-failed.js';
import type { GatewayOptions } from './command-options.js';
import { resolveTarget } from './gateway-session.js';
import { InterruptedError } from './interrupted.js';
import { Output } from './output.js';
import { ProgressBar } from './progress-bar.js';
import { parseToolArguments } from './tool-arguments.js';

export interface McpOptions extends GatewayOptions {
  readonly project?: string;
  /** Seconds. */
  readonly timeout: number;
}

/** Calls a tool as any client would. A tool that reports a failure of its own makes the command fail. */
export async function callTool(
  name: string,
  pairs: readonly string[],
  options: McpOptions & { readonly args?: string },
): Promise<void> {
  const args = parseToolArguments(options.args, pairs);
  const out = new Output(options.output);
  const bar = new ProgressBar(out.stderr);
  const result = await inSession(options, (client, signal) =>
    client
      .callTool(name, args, {
        signal,
        timeoutMs: options.timeout * 1000,
        onProgress: (reported) => bar.update(reported),
      })
      .finally(() => bar.end()),
  );
  if (out.format === 'json') out.json(result);
  else showResult(out, result);
  if (result.isError === true) throw new CommandError(printable(`${name} reports a failure`));
}

export async function readResource(uri: string, options: McpOptions): Promise<void> {
  const out = new Output(options.output);
  const contents = await inSession(options, (client, signal) =>
    client.read(uri, { signal, timeoutMs: options.timeout * 1000 }),
  );
  if (out.format === 'json') out.json({ contents });
  else for (const content of contents) showContents(out, content);
}

/** A session for one request; who presses Ctrl-C cancels the request and not just his patience. */
async function inSession<T>(
  options: McpOptions,
  act: (client: SdkMcpClient, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const client = await SdkMcpClient.connect(await resolveTarget(options), options.project);
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new InterruptedError());
  process.once('SIGINT', interrupt);
  try {
    return await act(client, interruption.signal);
  } catch (error) {
    throw interruption.signal.aborted ? new InterruptedError() : error;
  } finally {
    process.off('SIGINT', interrupt);
    await client.close();
  }
}

function showResult(out: Output, { content = [], structuredContent }: ToolResult): void {
  for (const block of content) showBlock(out, block);
  if (content.length === 0 && structuredContent !== undefined) out.json(structuredContent);
}

function showBlock(out: Output, block: NonNullable<ToolResult['content']>[number]): void {
  const { type, text, data, mimeType, uri, resource } = block;
  if (typeof text === 'string') out.content(text);
  else if (typeof data === 'string') out.line(stub(`${type} ${String(mimeType)}`, data));
  else if (type === 'resource') showEmbedded(out, resource as ResourceContents);
  else if (typeof uri === 'string') out.line(printable(uri));
  else out.json(block);
}

function showEmbedded(out: Output, { uri, text, blob, mimeType = 'binary' }: ResourceContents): void {
  if (text === undefined) out.line(stub(`${uri} ${mimeType}`, blob ?? ''));
  else out.content(text);
}

function showContents(out: Output, { text, blob = '', mimeType = 'binary' }: ResourceContents): void {
  if (text !== undefined && out.isTerminal) out.content(text);
  else if (text !== undefined) out.bytes(text);
  else if (out.isTerminal) out.line(`${stub(mimeType, blob)}: send it to a file with > FILE`);
  else out.bytes(Buffer.from(blob, 'base64'));
}

const stub = (what: string, base64: string): string =>
  `[${printable(what)}, ${formatBytes(Buffer.byteLength(base64, 'base64'))}]`;
