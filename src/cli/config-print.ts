import { stringify } from 'yaml';
import { maskArgs, maskParts } from '../lib/secrets/secret-parts.js';
import type { GatehouseConfig } from '../config/gatehouse-config.js';

const MASK = '********';
/** Paths whose values are always secret. */
const SECRET_PATHS = /^(mcpServers\.[^.]+\.(headers|env)\.[^.]+|admin\.(token|viewerToken))$/;

const ARGS_PATH = /^mcpServers\.[^.]+\.args$/;
/** URLs, which may contain a password or key. */
const URL_PATH = /^mcpServers\.[^.]+\.(url|proxy)$/;

/** The configuration with which a gateway would start, as plain data with all defaults. Secrets are masked. */
export function effectiveConfig(config: GatehouseConfig): Record<string, unknown> {
  const { secrets, auth, ...settings } = config;
  // The gateway would refuse an empty `auth`, so the key is left out if it is not configured.
  return maskedCopy(
    { ...settings, notes: undefined, ...(auth.isConfigured ? { auth } : {}) },
    '',
    secrets,
  ) as Record<string, unknown>;
}

export const asYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });

function maskedCopy(value: unknown, path: string, secrets: readonly string[]): unknown {
  if (typeof value === 'string')
    return SECRET_PATHS.test(path)
      ? MASK
      : maskAndEscape(URL_PATH.test(path) ? maskParts(value, MASK) : value, secrets);
  if (Array.isArray(value)) {
    const items: unknown[] = ARGS_PATH.test(path) ? maskArgs(value as string[], MASK) : value;
    return items.map((item) => maskedCopy(item, path, secrets));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value);
  return Object.fromEntries(
    entries
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [
        name,
        maskedCopy(item, path === '' ? name : `${path}.${withoutDots(name)}`, secrets),
      ]),
  );
}

/** Replaces the dots in a name, because dots separate the keys of a path. */
const withoutDots = (name: string): string => name.replaceAll('.', '_');

/** Masks secrets. Escapes `${`, so that the printed configuration can be read again. */
const maskAndEscape = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), text).replaceAll('${', () => '$${');
