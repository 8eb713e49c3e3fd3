#!/usr/bin/env node
import 'reflect-metadata';
import { runCommandLine } from './cli/command-line.js';

// The server and every other program are loaded when they are asked for, and not before.
await runCommandLine(process.argv, {
  serve: async (options) => (await import('./serve.js')).serve(options),
  tui: async (target, project) => (await import('./tui/run-tui.js')).runTui(target, project),
});
