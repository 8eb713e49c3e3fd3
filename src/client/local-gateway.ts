import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { readConfig, readConfigText } from '../config/load-config.js';
import { ConfigProblems } from '../config/problems.js';
import { parseConfigDocument, type ConfigDocument } from '../config/source/document.js';
import { interpolate, type Environment } from '../config/source/interpolate.js';
import { StateDir } from '../config/state-dir.js';
import type { LocalGateway } from './gateway-target.js';

/** The keys that locate a gateway. Other keys may use variables that only the gateway's environment defines. */
const KEYS = [['http', 'host'], ['http', 'port'], ['admin', 'token'], ['stateDir']] as const;
const OVERRIDES = /^GATEHOUSE__(?!(HTTP|ADMIN|STATEDIR)(__|$))/i;
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The gateway that runs on this machine with this configuration. The file may be missing unless its path was given. */
export function findLocalGateway(path: string, isNamed: boolean, env: Environment): LocalGateway {
  const { http, admin, stateDir } = readLocal(path, isNamed, env);
  if (http.port === 0)
    throw new RangeError('the gateway takes any free port (http.port is 0): give its URL with --url');
  const host = WILDCARDS[http.host] ?? http.host;
  const token = admin.token ?? generatedToken(new StateDir(stateDir).path);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${http.port}`,
    ...(token === undefined ? {} : { token }),
  };
}

export const findLocalState = (path: string, isNamed: boolean, env: Environment): string =>
  new StateDir(readLocal(path, isNamed, env).stateDir).path;

const readLocal = (path: string, isNamed: boolean, env: Environment): GatehouseConfig =>
  readConfig({
    text: existsSync(path) || isNamed ? reduced(path, env) : '{}',
    source: path,
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !OVERRIDES.test(name))),
  });

/** The configuration reduced to KEYS, without values that use undefined variables. */
function reduced(path: string, env: Environment): string {
  const problems = new ConfigProblems();
  const document = parseConfigDocument(readConfigText(path), path, problems);
  if (!document) throw new ConfigError(path, problems.list());
  const found: Record<string, unknown> = {};
  for (const [section, key] of KEYS) {
    const value = key === undefined ? document.get(section) : below(document, section)?.get(key);
    if (value === undefined || !isKnown(value, env)) continue;
    if (key === undefined) found[section] = value;
    else found[section] = { ...(found[section] as object | undefined), [key]: value };
  }
  // The check for remote access without authentication concerns the gateway only.
  return JSON.stringify({
    ...found,
    http: { ...(found['http'] as object | undefined), allowRemoteWithoutAuth: true },
  });
}

function below(document: ConfigDocument, section: string): ConfigDocument | undefined {
  const found = document.get(section);
  return found instanceof Map ? (found as ConfigDocument) : undefined;
}

const isKnown = (value: unknown, env: Environment): boolean =>
  typeof value !== 'string' || interpolate(value, env).problems.length === 0;

/** Undefined when the file is missing or not readable. */
function generatedToken(stateDir: string): string | undefined {
  try {
    return readFileSync(join(stateDir, 'admin-token'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
