import { statSync } from 'node:fs';
import { TransportError } from '../link/transport.js';
import type { StdioServer } from './stdio-server.js';

/** Says why a server could not be started. ENOENT has three causes: the working directory, the command or its interpreter. */
export function spawnError(server: StdioServer, cause: unknown): TransportError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = directoryProblem(server.cwd) ?? commandProblem(server.command, code) ?? message;
  const details = { spawnCode: code ?? 'unknown' };
  return new TransportError('unreachable', `cannot start "${server.command}": ${why}`, details, { cause });
}

function directoryProblem(cwd: string | undefined): string | undefined {
  if (cwd === undefined) return undefined;
  try {
    return statSync(cwd).isDirectory() ? undefined : `working directory ${cwd} is not a directory`;
  } catch (error) {
    return `working directory ${cwd} cannot be used (${(error as NodeJS.ErrnoException).code})`;
  }
}

function commandProblem(command: string, code: string | undefined): string | undefined {
  if (code === 'EACCES') return 'no permission to execute it (EACCES)';
  if (code !== 'ENOENT') return undefined;
  if (!command.includes('/')) return 'command not found on the PATH (ENOENT)';
  const exists = statSync(command, { throwIfNoEntry: false }) !== undefined;
  return exists ? 'the interpreter it names was not found (ENOENT)' : 'no such file (ENOENT)';
}
