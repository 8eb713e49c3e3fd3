import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, tryParseJson, type JsonObject } from '../lib/json-text/json-value.js';
import { CommandError } from './command-error.js';

type MergeOutcome = 'was written' | 'was changed' | 'needs no change';

/** Only the user may read a new file, because the file of a client may contain keys. */
const NEW_FILE_MODE = 0o600;

/**
 * Adds the entries of `config` to the JSON file of a client, and keeps all other entries. Creates the file if it does not
 * exist. Refuses a file with comments, because they would be lost.
 */
export function mergeClientConfig(path: string, config: JsonObject): MergeOutcome {
  // If the path is a symbolic link, the file that it names is changed, and the link stays.
  const target = existsSync(path) ? realpathSync(path) : path;
  const text = existsSync(target) ? readFileSync(target, 'utf8') : undefined;
  const before = text === undefined || text.trim() === '' ? {} : tryParseJson(text);
  if (!isJsonObject(before))
    throw new CommandError(
      `${path} is not plain JSON, perhaps because of comments, and was not changed; run the command without --write and add the entry there`,
    );
  const after = merged(before, config);
  if (isDeepStrictEqual(before, after)) return 'needs no change';
  mkdirSync(dirname(target), { recursive: true });
  replaceFile(target, `${JSON.stringify(after, null, indentOf(text))}\n`);
  return text === undefined ? 'was written' : 'was changed';
}

/**
 * Adds the members of each section of `config` to the section of the same name. If the section is a list, adds the items
 * whose id the list does not have.
 */
function merged(before: JsonObject, config: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...before };
  for (const [section, value] of Object.entries(config)) {
    const existing = before[section];
    if (isJsonObject(value)) result[section] = { ...(isJsonObject(existing) ? existing : {}), ...value };
    else if (Array.isArray(value)) {
      const items = Array.isArray(existing) ? (existing as unknown[]) : [];
      const ids = new Set(items.filter(isJsonObject).map(({ id }) => id));
      result[section] = [...items, ...value.filter((item) => !isJsonObject(item) || !ids.has(item['id']))];
    }
  }
  return result;
}

/** The indentation of the first indented member of a JSON text; two spaces if there is none. */
const indentOf = (text = ''): string => /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';

/** Replaces the file in one step, so that a reader sees either the old content or the new content. */
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? NEW_FILE_MODE;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: mode & 0o777 });
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new CommandError(`cannot write ${path}: ${(cause as Error).message}`, { cause });
  }
}
