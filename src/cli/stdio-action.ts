import { once } from 'node:events';
import type { BridgeOutput } from '../client/bridge-message.js';
import { StdioBridge } from '../client/stdio-bridge.js';
import type { TargetOptions } from '../client/gateway-target.js';
import { printable } from '../client/printable.js';
import { endpointUrl } from '../start-page/client-setup.js';
import { resolveTarget } from './gateway-session.js';

/** Serves MCP on stdin and stdout until stdin ends. Never returns. */
export async function runStdio({
  project,
  ...options
}: TargetOptions & { project?: string }): Promise<never> {
  const { url, key } = await resolveTarget(options);
  const bridge = new StdioBridge(endpointUrl(url, project), key, new StandardOutput());
  const end = (): void => void bridge.close().finally(() => process.exit(0));
  process.once('SIGTERM', end).once('SIGINT', end);
  await bridge.run(process.stdin);
  // What was written before is flushed first.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(0);
}

class StandardOutput implements BridgeOutput {
  /** Shared by all writers that wait. */
  private drained: Promise<unknown> | undefined;

  async write(line: string): Promise<void> {
    if (process.stdout.write(`${line}\n`)) return;
    this.drained ??= once(process.stdout, 'drain').finally(() => (this.drained = undefined));
    await this.drained;
  }

  note(text: string): void {
    process.stderr.write(`gatehouse: ${printable(text)}\n`);
  }
}
