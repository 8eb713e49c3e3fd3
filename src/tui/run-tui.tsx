import { AdminApi } from '../client/admin-api.js';
import { ProjectApi } from '../client/project-api.js';
import type { GatewayTarget } from '../client/gateway-target.js';
import { FrameWriter } from './frame-writer.js';
import { previewLines } from './preview-lines.js';

/**
 * Runs the terminal UI until the user quits, and ends the process then. Rejects without drawing anything if there is no
 * terminal or the gateway does not respond.
 */
export async function runTui(target: GatewayTarget, project: string | undefined): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw new RangeError('the terminal UI needs a terminal; use gatehouse status, or -o json in scripts');
  const api = project === undefined ? new AdminApi(target) : new ProjectApi(target, project);
  await api.servers();
  const [{ render }, { App }, { TuiSession }] = await Promise.all([
    import('ink'),
    import('./screen/app.js'),
    import('./tui-session.js'),
  ]);
  const writer = new FrameWriter(stdout);
  const session = new TuiSession({
    api,
    project,
    preview: (uri, signal) => readPreview(target, project, uri, signal),
    size: { columns: stdout.columns, rows: stdout.rows },
  });
  const restoreScreen = (): void => writer.close();
  const quit = (): void => session.dispatch({ type: 'key', key: 'ctrl-c' });
  // At every exit of the process, the screen of the shell is restored.
  process.once('exit', restoreScreen);
  // With `once`, a second signal would no longer call `quit`. Only the listener of Ink would be left, and it would kill the
  // process before the screen is restored.
  process.on('SIGTERM', quit).on('SIGHUP', quit);
  writer.open();
  session.start();
  try {
    // In debug mode Ink writes each frame as a whole and without cursor movements, as `FrameWriter` expects it.
    const screen = { debug: true, stdout: writer as unknown as NodeJS.WriteStream };
    await render(<App session={session} />, { ...screen, exitOnCtrlC: false }).waitUntilExit();
  } finally {
    session.stop();
    process.off('exit', restoreScreen);
    restoreScreen();
  }
  // Pooled connections would delay the end of the process.
  process.exit();
}

async function readPreview(
  target: GatewayTarget,
  project: string | undefined,
  uri: string,
  signal: AbortSignal,
) {
  const { SdkMcpClient } = await import('../client/sdk-mcp-client.js');
  const client = await SdkMcpClient.connect(target, project);
  try {
    return previewLines(await client.read(uri, { signal }));
  } finally {
    await client.close();
  }
}
