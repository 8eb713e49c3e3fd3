import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import type { ConfigFile } from '../config/config-path.js';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { readConfig, readConfigText } from '../config/load-config.js';
import { ConfigProblems } from '../config/problems.js';
import { parseConfigDocument, parseDamagedDocument, type ConfigDocument } from '../config/source/document.js';
import { interpolate, type Environment } from '../config/source/interpolate.js';
import { StateDir } from '../config/state-dir.js';
import type { LocalGateway } from './gateway-target.js';

/**
 * The keys that locate a gateway. Other keys are not read: they may need variables that only the environment of the gateway
 * has.
 */
const LOCATING_KEYS = [['http', 'host'], ['http', 'port'], ['admin', 'token'], ['stateDir']] as const;
/** Matches environment variables that override keys outside `http`, `admin` and `stateDir`. */
const OTHER_OVERRIDES = /^GATEHOUSE__(?!(HTTP|ADMIN|STATEDIR)(__|$))/i;
/** Maps each wildcard address to the address at which this machine reaches a gateway that listens on it. */
const LOOPBACK_OF_WILDCARD: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * The address and admin token of the gateway that runs on this machine with this configuration file. An invalid file is not
 * an error, because the gateway may have started before the file became invalid. The keys that are still valid are used
 * then, and `note` is called with a text for the user.
 */
export function findLocalGateway(
  file: ConfigFile,
  env: Environment,
  note: (text: string) => void = () => {},
): LocalGateway {
  const { http, admin, stateDir } = readLocalOrDamaged(file, env, note);
  const host = LOOPBACK_OF_WILDCARD[http.host] ?? http.host;
  const token = admin.token ?? generatedToken(new StateDir(stateDir).path);
  return {
    ...(http.port === 0 ? {} : { url: `http://${host.includes(':') ? `[${host}]` : host}:${http.port}` }),
    ...(token === undefined ? {} : { token }),
  };
}

export const findLocalStateDir = (file: ConfigFile, env: Environment): string =>
  new StateDir(readLocal(file, env).stateDir).path;

/** Whether the file requires that clients send API keys or tokens. Reads an invalid file as far as possible. */
export function hasClientAuth({ path }: ConfigFile): boolean {
  if (!existsSync(path)) return false;
  const document = parseDamagedDocument(readConfigText(path));
  const auth = document && sectionIn(document, 'auth');
  return auth?.has('apiKeys') === true || auth?.has('jwt') === true;
}

function readLocalOrDamaged(
  file: ConfigFile,
  env: Environment,
  note: (text: string) => void,
): GatehouseConfig {
  try {
    return readLocal(file, env);
  } catch (error) {
    if (!(error instanceof ConfigError) || !existsSync(file.path)) throw error;
    note(`${file.path} is invalid; using what can be read of it to find the gateway`);
    const document = parseDamagedDocument(readConfigText(file.path)) ?? new Map<string, unknown>();
    return readValidKeys(document, file.path, env);
  }
}

/** The configuration from those LOCATING_KEYS of a document that are valid. */
function readValidKeys(document: ConfigDocument, source: string, env: Environment): GatehouseConfig {
  let config = readKeys(new Map(), source, env);
  let validPart: ConfigDocument = new Map();
  for (const [section, key] of LOCATING_KEYS) {
    const value = key === undefined ? document.get(section) : sectionIn(document, section)?.get(key);
    if (value === undefined) continue;
    const sectionValue =
      key === undefined ? value : new Map([...(sectionIn(validPart, section) ?? []), [key, value]]);
    const withKey: ConfigDocument = new Map([...validPart, [section, sectionValue]]);
    try {
      config = readKeys(withKey, source, env);
      validPart = withKey;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
  }
  return config;
}

function readLocal({ path, mustExist }: ConfigFile, env: Environment): GatehouseConfig {
  if (!mustExist && !existsSync(path)) return readKeys(new Map(), path, env);
  const problems = new ConfigProblems();
  const document = parseConfigDocument(readConfigText(path), path, problems);
  if (!document) throw new ConfigError(path, problems.list());
  return readKeys(document, path, env);
}

/**
 * The configuration from the LOCATING_KEYS of a document. Leaves out values that use undefined variables. Throws a
 * ConfigError if one of the other values is not valid.
 */
function readKeys(document: ConfigDocument, source: string, env: Environment): GatehouseConfig {
  const locating: Record<string, unknown> = {};
  for (const [section, key] of LOCATING_KEYS) {
    const value = key === undefined ? document.get(section) : sectionIn(document, section)?.get(key);
    if (value === undefined || !isResolvable(value, env)) continue;
    if (key === undefined) locating[section] = value;
    else locating[section] = { ...(locating[section] as object | undefined), [key]: value };
  }
  // `auth` is not read, so the check for remote access without authentication must not fail here.
  const http = { ...(locating['http'] as object | undefined), allowRemoteWithoutAuth: true };
  return readConfig({
    text: JSON.stringify({ ...locating, http }),
    source,
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !OTHER_OVERRIDES.test(name))),
  });
}

function sectionIn(document: ConfigDocument, section: string): ConfigDocument | undefined {
  const value = document.get(section);
  return value instanceof Map ? (value as ConfigDocument) : undefined;
}

const isResolvable = (value: unknown, env: Environment): boolean =>
  typeof value !== 'string' || interpolate(value, env).problems.length === 0;

/** The token that the gateway generated and stored. Undefined when its file is missing or not readable. */
function generatedToken(stateDir: string): string | undefined {
  try {
    return readFileSync(join(stateDir, 'admin-token'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
