import { AdminApi } from '../client/admin-api.js';
import { ProjectApi } from '../client/project-api.js';
import type { GatewayTarget } from '../client/gateway-target.js';
import { FrameWriter } from './frame-writer.js';
import { previewLines } from './preview-lines.js';

/** Runs until somebody leaves it, and the process ends with it. Throws before anything is drawn when there is no terminal, or no gateway. */
export async function runTui(target: GatewayTarget, project: string | undefined): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw new RangeError('the terminal UI needs a terminal; try gatehouse status, or -o json for scripts');
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
    preview: (uri, signal) => read(target, project, uri, signal),
    size: { columns: stdout.columns, rows: stdout.rows },
  });
  const leave = (): void => writer.close();
  const over = (): void => session.dispatch({ type: 'key', key: 'ctrl-c' });
  // Whatever ends the program, the shell gets its screen back.
  process.once('exit', leave);
  // Not once: as soon as nobody else listens, Ink ends the process before the screen is given back.
  process.on('SIGTERM', over).on('SIGHUP', over);
  writer.open();
  session.start();
  try {
    // In this mode Ink hands over each frame as it is, without moving any cursor.
    const screen = { debug: true, stdout: writer as unknown as NodeJS.WriteStream };
    await render(<App session={session} />, { ...screen, exitOnCtrlC: false }).waitUntilExit();
  } finally {
    session.stop();
    process.off('exit', leave);
    leave();
  }
  // Connections that are kept for later would keep the shell waiting.
  process.exit();
}

async function read(target: GatewayTarget, project: string | undefined, uri: string, signal: AbortSignal) {
  const { SdkMcpClient } = await import('../client/sdk-mcp-client.js');
  const client = await SdkMcpClient.connect(target, project);
  try {
    return previewLines(await client.read(uri, { signal }));
  } finally {
    await client.close();
  }
}
