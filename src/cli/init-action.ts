import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { printable } from '../client/printable.js';
import { DEFAULT_CONFIG_PATH } from '../config/config-path.js';
import { CommandError } from './command-error.js';
import { CONFIG_TEMPLATE } from './config-template.js';
import { Output } from './output.js';

/** Writes the configuration template to a new file. Throws if the file exists. */
export function initConfig(path: string): void {
  if (!/\.ya?ml$/i.test(path))
    throw new RangeError(`${path} must end in .yaml or .yml, because the file has comments`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    // With this flag, the check for an existing file and the creation are one step.
    writeFileSync(path, CONFIG_TEMPLATE, { flag: 'wx' });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem =
      code === 'EEXIST' ? `${path} exists already and was not changed` : `cannot write ${path}: ${message}`;
    throw new CommandError(problem, { cause });
  }
  const option = path === DEFAULT_CONFIG_PATH ? '' : ` --config ${path}`;
  new Output('table').line(
    printable(`wrote ${path}; add a server under mcpServers, then start the gateway: gatehouse${option}`),
  );
}
