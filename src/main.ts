#!/usr/bin/env node
import 'reflect-metadata';
import { runCommandLine } from './cli/command-line.js';

// The server and every other command are loaded when they are asked for, and not before.
await runCommandLine(process.argv, {
  serve: async (options) => (await import('./serve.js')).serve(options),
});
