import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { verifyAudit } from '../admin/audit/verify-audit.js';
import { printable } from '../client/printable.js';
import type { TargetOptions } from '../client/gateway-target.js';
import { pluralize } from '../client/format.js';
import { ConfigError } from '../config/config-error.js';
import { CommandError } from './command-failed.js';
import { resolveStateDir, resolveTarget } from './gateway-session.js';
import { healthcheck } from './healthcheck.js';
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
  else out.line(`${key}\n\nUnder auth.apiKeys in the configuration:\n${configLine}`);
}

export interface AuditVerifyOptions {
  readonly config?: string;
  readonly output: OutputFormat;
}

/** Fails when the log is not as it was written. */
export async function verifyAuditLog(named: string | undefined, options: AuditVerifyOptions): Promise<void> {
  const out = new Output(options.output);
  // A log that is named and not there is a slip; that of a gateway that has changed nothing yet is not.
  if (named !== undefined && !existsSync(named)) throw new RangeError(`there is no file ${named}`);
  const file = named ?? join(await resolveStateDir(options), 'audit.jsonl');
  const verdict = await verifyAudit(file);
  if (out.format === 'json') out.json({ file, ...verdict });
  if (!verdict.ok) throw new CommandError(`${verdict.file}, line ${verdict.line}: ${verdict.problem}`);
  if (out.format === 'json') return;
  out.line(printable(`${file}: ${pluralize(verdict.entries, 'entry', 'entries')}, none touched`));
  for (const note of verdict.notes) out.line(printable(note));
}

/** Where a gateway listens that was never told where. */
const USUAL_URL = 'http://127.0.0.1:3000';

/** Fails when the gateway does not say that it is alive. */
export async function checkHealth(options: TargetOptions): Promise<void> {
  const { url } = await resolveTarget(options).catch((error: unknown) => {
    // A gateway that runs outlives what somebody has done to its file since, and so must its container.
    if (error instanceof ConfigError) return { url: USUAL_URL };
    throw error;
  });
  if (!(await healthcheck(url))) throw new CommandError(`${url} is not healthy`);
}
