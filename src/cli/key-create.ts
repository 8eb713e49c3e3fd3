import { randomBytes } from 'node:crypto';
import { ApiKeyConfig, hashOf } from '../config/api-key-config.js';
import { Problems } from '../config/problems.js';
import { build } from '../config/schema/build.js';
import { sectionOf } from '../config/schema/shape.js';
import { validate } from '../config/schema/validate.js';

export interface KeyOptions {
  readonly id: string;
  /** Names of projects, or `*`. */
  readonly projects: readonly string[];
  /** A date, or a time with its zone. */
  readonly expires?: string;
}

export interface CreatedKey {
  /** Shown once; nothing keeps it. */
  readonly key: string;
  /** An item for auth.apiKeys; and the same in one line of YAML. */
  readonly entry: KeyOptions & { readonly hash: string };
  readonly configLine: string;
}

/** What makes a key that went astray recognizable to those who scan for secrets. */
const PREFIX = 'gatehouse_';
const SECRET_BYTES = 32;

/** Makes a key. Throws a RangeError that says what is wrong with the options. */
export function createKey(options: KeyOptions): CreatedKey {
  const key = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const entry = { ...options, hash: hashOf(key) };
  check(entry);
  const { id, hash, projects, expires } = entry;
  const end = expires === undefined ? '' : `, expires: ${JSON.stringify(expires)}`;
  const granted = projects.map((project) => JSON.stringify(project)).join(', ');
  return {
    key,
    entry,
    configLine: `- { id: ${JSON.stringify(id)}, hash: "${hash}", projects: [${granted}]${end} }`,
  };
}

/** By the rules of the config itself, so that the line fits wherever it is pasted. */
function check(entry: object): void {
  const problems = new Problems();
  const given = Object.entries(entry).filter(([, value]) => value !== undefined);
  validate(build(sectionOf(ApiKeyConfig), new Map<string, unknown>(given), problems), problems);
  if (!problems.isEmpty)
    throw new RangeError(
      problems
        .list()
        .map(({ path, what }) => `${path}: ${what}`)
        .join('\n'),
    );
}
