#!/usr/bin/env node
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { lowerWorkerThreadPriority } from './worker-thread-priority.js';

// The server, the command line and the terminal UI are imported only when they are used.
const serve = async (options: { readonly config?: string }): Promise<void> => {
  lowerWorkerThreadPriority();
  return (await import('./serve.js')).serve(options);
};
const serveOptions = parseServeOptions(process.argv.slice(2));
if (serveOptions) await serve(serveOptions).catch(fail);
else {
  const { runCommandLine } = await import('./cli/command-line.js');
  await runCommandLine(process.argv, {
    serve,
    tui: async (target, project) => (await import('./tui/run-tui.js')).runTui(target, project),
  });
}

/** The options, if the arguments are for `serve` and valid. All other arguments are parsed by `cli/`. */
function parseServeOptions(args: string[]): { readonly config?: string } | undefined {
  try {
    const options = { config: { type: 'string', short: 'c' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [command = 'serve', ...more] = positionals;
    return command === 'serve' && more.length === 0 ? values : undefined;
  } catch {
    return undefined;
  }
}

async function fail(error: unknown): Promise<never> {
  return (await import('./cli/command-error.js')).exitWithError(error);
}
