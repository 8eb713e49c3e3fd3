import { existsSync, readFileSync } from 'node:fs';
import { ConfigError, MissingConfigError } from './config-error.js';
import type { ConfigFile } from './config-path.js';
import { crossCheck } from './cross-checks.js';
import { GatehouseConfig } from './gatehouse-config.js';
import { ConfigProblems } from './problems.js';
import { build } from './schema/build.js';
import { sectionOf, type SectionShape } from './schema/shape.js';
import { validate } from './schema/validate.js';
import { CLIENT_TOP_KEYS, translateClientKeys } from './source/client-keys.js';
import { parseConfigDocument, type ConfigDocument } from './source/document.js';
import type { Environment } from './source/interpolate.js';
import { applyOverrides } from './source/overrides.js';
import { VariableResolver } from './source/variable-resolver.js';
import { SecretCollector } from './source/secret-collector.js';

const ROOT: SectionShape = { ...sectionOf(GatehouseConfig), foreignKeys: CLIENT_TOP_KEYS };

/** Loads and validates the file. Throws a ConfigError that lists every problem. */
export function loadConfig({ path, env }: { path: string; env: Environment }): GatehouseConfig {
  return readConfig({ text: readConfigText(path), source: path, env });
}

/**
 * Returns a function that loads the file each time it is called. With `mustExist: false`, a missing file counts as empty.
 * Once the file has existed, a missing file is an error, so that deleting the file does not remove every server.
 */
export function configLoader({ path, mustExist }: ConfigFile, env: Environment): () => GatehouseConfig {
  let isRequired = mustExist;
  return () => {
    isRequired ||= existsSync(path);
    return isRequired ? loadConfig({ path, env }) : readConfig({ text: '{}', source: path, env });
  };
}

/** Like `loadConfig`, for the text of a file. Errors name `source` as the origin of the text. */
export function readConfig(input: { text: string; source: string; env: Environment }): GatehouseConfig {
  const { text, source, env } = input;
  const problems = new ConfigProblems();
  const secrets = new SecretCollector();

  const parsed = parseConfigDocument(text, source, problems);
  if (!parsed) throw new ConfigError(source, problems.list());
  translateClientKeys(parsed, problems);
  const document = new VariableResolver(env, secrets, problems).resolve(parsed, ROOT) as ConfigDocument;
  applyOverrides(document, ROOT, env, secrets, problems);
  const config = build(ROOT, document, problems) as GatehouseConfig;
  validate(config, problems);
  crossCheck(config, problems);

  if (!problems.isEmpty) throw new ConfigError(source, problems.list());
  return deepFreeze(Object.assign(config, { secrets: secrets.list(), notes: problems.notes }));
}

export function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw new MissingConfigError(path, cause);
    const message = `cannot be read: ${(cause as Error).message}`;
    throw new ConfigError(path, [{ path, message }], { cause });
  }
}

/** Freezes a value and every value that it references. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const children: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  for (const item of children) deepFreeze(item);
  return value;
}
