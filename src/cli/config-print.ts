import { stringify } from 'yaml';
import type { GatehouseConfig } from '../config/gatehouse-config.js';

const MASK = '********';
/** Where every value is somebody's secret. */
const SECRETS = /^(mcpServers\.[^.]+\.(headers|env)\.[^.]+|admin\.(token|viewerToken))$/;

/** The configuration as a gateway would begin with it, every default filled in, without its secrets; as plain data. */
export function effectiveConfig(config: GatehouseConfig): Record<string, unknown> {
  const { secrets, auth, ...settings } = config;
  // Left out, it lets everybody in; empty, it is refused.
  return plain({ ...settings, ...(auth.isConfigured ? { auth } : {}) }, '', secrets) as Record<
    string,
    unknown
  >;
}

export const asYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });

function plain(value: unknown, path: string, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return SECRETS.test(path) ? MASK : withoutSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => plain(item, path, secrets));
  if (typeof value !== 'object' || value === null) return value;
  const entries = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value);
  return Object.fromEntries(
    entries
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, plain(item, path === '' ? name : `${path}.${dotless(name)}`, secrets)]),
  );
}

/** A server may have a dot in its name. */
const dotless = (name: string): string => name.replaceAll('.', '_');

/** Read again, `${` would begin a variable. */
const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), text).replaceAll('${', () => '$${');
