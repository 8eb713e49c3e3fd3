import type { HttpSettings } from './http-settings.js';

/** The gateway cannot start. The message is one sentence that says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'the port is in use; stop the program that uses it, or choose another port with http.port or GATEHOUSE__HTTP__PORT',
  EACCES: 'this user may not use the port; choose one above 1023 with http.port or GATEHOUSE__HTTP__PORT',
  EADDRNOTAVAIL: 'this machine does not have the address; change http.host',
  ENOTFOUND: 'the host name cannot be resolved; change http.host',
};

/** Explains why the gateway cannot listen. Errors of other kinds are returned unchanged. */
export function listenError(error: unknown, { host, port }: Pick<HttpSettings, 'host' | 'port'>): unknown {
  const problem = LISTEN_PROBLEMS[String((error as NodeJS.ErrnoException).code)];
  if (problem === undefined) return error;
  return new StartError(`cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${problem}`, {
    cause: error,
  });
}
