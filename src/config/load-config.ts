import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';
import { crossCheck } from './cross-checks.js';
import { deepFreeze } from './freeze.js';
import { GatehouseConfig } from './gatehouse-config.js';
import { Problems } from './problems.js';
import { build } from './schema/build.js';
import { sectionOf } from './schema/shape.js';
import { validate } from './schema/validate.js';
import { readDocument, type Document } from './source/document.js';
import type { Environment } from './source/interpolate.js';
import { applyOverrides } from './source/overrides.js';
import { References } from './source/references.js';
import { Secrets } from './source/secrets.js';

const ROOT = sectionOf(GatehouseConfig);

/** Reads the file and makes a config of it. Throws a ConfigError that names everything that is wrong. */
export function loadConfig({ path, env }: { path: string; env: Environment }): GatehouseConfig {
  return readConfig({ text: readText(path), file: path, env });
}

/** The same for text that is already at hand; `file` is what problems call it. */
export function readConfig(source: { text: string; file: string; env: Environment }): GatehouseConfig {
  const { text, file, env } = source;
  const problems = new Problems();
  const secrets = new Secrets();

  const written = readDocument(text, file, problems);
  if (!written) throw new ConfigError(file, problems.list());
  const document = new References(env, secrets, problems).resolve(written, ROOT) as Document;
  applyOverrides(document, ROOT, env, secrets, problems);
  const config = build(ROOT, document, problems) as GatehouseConfig;
  validate(config, problems);
  crossCheck(config, problems);

  if (!problems.isEmpty) throw new ConfigError(file, problems.list());
  return deepFreeze(Object.assign(config, { secrets: secrets.list() }));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(path, [{ path, what: `cannot be read: ${(cause as Error).message}` }], { cause });
  }
}
