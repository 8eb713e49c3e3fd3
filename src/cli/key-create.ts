import { randomBytes } from 'node:crypto';
import { ApiKeyConfig, hashOf } from '../config/api-key-config.js';
import { ConfigProblems } from '../config/problems.js';
import { build } from '../config/schema/build.js';
import { sectionOf } from '../config/schema/shape.js';
import { validate } from '../config/schema/validate.js';

export interface KeyOptions {
  readonly id: string;
  /** Project names, or `*`. */
  readonly projects: readonly string[];
  /** A date, or a time with a zone. */
  readonly expires?: string;
}

interface CreatedKey {
  /** The key itself, which is printed once and not stored. */
  readonly key: string;
  /** The item for auth.apiKeys in the configuration. */
  readonly entry: KeyOptions & { readonly hash: string };
  /** The entry as one line of YAML. */
  readonly configLine: string;
}

/** Start of every key, by which secret scanners recognize a leaked key. */
const PREFIX = 'gatehouse_';
const SECRET_BYTES = 32;

/** Creates a random key and its entry for the configuration. Throws a RangeError that lists all invalid options. */
export function createKey(options: KeyOptions): CreatedKey {
  const key = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const entry = { ...options, hash: hashOf(key) };
  validateEntry(entry);
  const { id, hash, projects, expires } = entry;
  const expiry = expires === undefined ? '' : `, expires: ${JSON.stringify(expires)}`;
  const granted = projects.map((project) => JSON.stringify(project)).join(', ');
  return {
    key,
    entry,
    configLine: `- { id: ${JSON.stringify(id)}, hash: "${hash}", projects: [${granted}]${expiry} }`,
  };
}

/** Validates the entry by the rules of the configuration, so that the gateway accepts it. */
function validateEntry(entry: object): void {
  const problems = new ConfigProblems();
  const given = Object.entries(entry).filter(([, value]) => value !== undefined);
  validate(build(sectionOf(ApiKeyConfig), new Map<string, unknown>(given), problems), problems);
  if (!problems.isEmpty)
    throw new RangeError(
      problems
        .list()
        .map(({ path, message }) => `${path}: ${message}`)
        .join('\n'),
    );
}
