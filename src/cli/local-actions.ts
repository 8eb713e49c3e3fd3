import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { verifyAudit } from '../state/audit/verify-audit.js';
import { printable } from '../client/printable.js';
import type { TargetOptions } from '../client/gateway-target.js';
import { pluralize } from '../client/format.js';
import { ConfigError } from '../config/config-error.js';
import { CommandError } from './command-error.js';
import { resolveStateDir, resolveTarget } from './gateway-session.js';
import { createKey } from './key-create.js';
import { Output, type OutputFormat } from './output.js';

export interface KeyCreateOptions {
  readonly project: readonly string[];
  readonly expires?: string;
  readonly output: OutputFormat;
}

export function printNewKey(id: string, { project: projects, expires, output }: KeyCreateOptions): void {
  const out = new Output(output);
  const { key, entry, configLine } = createKey({ id, projects, ...(expires !== undefined && { expires }) });
  if (out.format === 'json') out.json({ key, entry });
  else out.line(`${key}\n\nAdd under auth.apiKeys in the configuration:\n${configLine}`);
}

export interface AuditVerifyOptions {
  readonly config?: string;
  readonly output: OutputFormat;
}

/** Verifies the audit log. Rejects if an entry was changed, removed or inserted. */
export async function verifyAuditLog(
  givenFile: string | undefined,
  options: AuditVerifyOptions,
): Promise<void> {
  const out = new Output(options.output);
  // Without a named file, a missing audit log is not an error: a new gateway has none yet.
  if (givenFile !== undefined && !existsSync(givenFile)) throw new RangeError(`${givenFile} does not exist`);
  const file = givenFile ?? join(await resolveStateDir(options), 'audit.jsonl');
  const verdict = await verifyAudit(file);
  const isJson = out.format === 'json';
  if (isJson) out.json({ file, ...verdict });
  if (!verdict.ok) throw new CommandError(`${verdict.file}, line ${verdict.line}: ${verdict.problem}`);
  if (isJson) return;
  out.line(printable(`${file}: ${pluralize(verdict.entries, 'entry', 'entries')}, all intact`));
  for (const note of verdict.notes) out.line(printable(note));
}

/** The URL of a gateway whose configuration names neither host nor port. */
const DEFAULT_URL = 'http://127.0.0.1:3000';
const PROBE_TIMEOUT_MS = 2000;

/** Rejects if the liveness probe of the gateway fails. */
export async function checkHealth(options: TargetOptions): Promise<void> {
  const { url } = await resolveTarget(options, () => {}).catch((error: unknown) => {
    // The gateway may run although the configuration cannot be read now, for example because the file was removed.
    if (error instanceof ConfigError) return { url: DEFAULT_URL };
    throw error;
  });
  if (!(await isAlive(url))) throw new CommandError(`${url} is not healthy`);
}

/** Whether the liveness probe of the gateway at this URL responds with 200 in time. */
export async function isAlive(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(new URL('/health/live', url), {
      headersTimeout: PROBE_TIMEOUT_MS,
      bodyTimeout: PROBE_TIMEOUT_MS,
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
