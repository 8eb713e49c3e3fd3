import { once } from 'node:events';
import type { BridgeOutput } from '../client/bridge-message.js';
import { StdioBridge } from '../client/stdio-bridge.js';
import type { TargetOptions } from '../client/gateway-target.js';
import { printable } from '../client/printable.js';
import { endpointUrl } from '../start-page/client-setup.js';
import { resolveTarget } from './gateway-session.js';

/** Serves MCP on stdin and stdout until stdin ends or a signal arrives. Then ends the process. */
export async function runStdio({
  project,
  ...options
}: TargetOptions & { project?: string }): Promise<never> {
  const { url, key } = await resolveTarget(options);
  const bridge = new StdioBridge(endpointUrl(url, project), key, new StandardOutput());
  const end = (): void => void bridge.close().finally(() => process.exit(0));
  process.once('SIGTERM', end).once('SIGINT', end);
  await bridge.run(process.stdin);
  // The callback is called when everything that was written before has been flushed.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(0);
}

class StandardOutput implements BridgeOutput {
  /** Resolves when stdout is drained. All waiting writers share it. Undefined while no writer waits. */
  private drained: Promise<unknown> | undefined;

  async write(line: string): Promise<void> {
    if (process.stdout.write(`${line}\n`)) return;
    this.drained ??= once(process.stdout, 'drain').finally(() => {
      this.drained = undefined;
    });
    await this.drained;
  }

  note(text: string): void {
    process.stderr.write(`gatehouse: ${printable(text)}\n`);
  }
}
