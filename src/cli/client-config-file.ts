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

/** Files of clients may contain keys. */
const NEW_FILE_MODE = 0o600;

/** Adds the entries of `config` to a JSON file. Everything else in the file stays; a file with comments is refused. */
export function mergeClientConfig(path: string, config: JsonObject): MergeOutcome {
  // A symbolic link is kept; the file that it names is changed.
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

/** Objects are merged one level deep, lists get the items with new ids. */
function merged(before: JsonObject, config: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...before };
  for (const [section, value] of Object.entries(config)) {
    const old = before[section];
    if (isJsonObject(value)) result[section] = { ...(isJsonObject(old) ? old : {}), ...value };
    else if (Array.isArray(value)) {
      const items = Array.isArray(old) ? (old as unknown[]) : [];
      const ids = new Set(items.filter(isJsonObject).map(({ id }) => id));
      result[section] = [...items, ...value.filter((item) => !isJsonObject(item) || !ids.has(item['id']))];
    }
  }
  return result;
}

const indentOf = (text = ''): string => /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';

/** Replaces the file in one step: a reader sees the old content or the new. */
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
