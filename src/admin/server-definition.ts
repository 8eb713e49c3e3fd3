import { isDeepStrictEqual } from 'node:util';
import type { DesiredServer } from '../backends/desired-servers.js';
import type { ServerConfig } from '../config/servers-config.js';
import { invalidInput, type FieldError } from './admin-problem.js';
import { REDACTED } from './secret-redactor.js';
import { isPlainObject, type PlainObject } from './plain-object.js';

/** Stands for a value that is not shown. Sent back, it means: as it was. */
export const MASK = '********';

const SECRET_SECTIONS = ['headers', 'env'] as const;
const COMMAND_KEYS = ['command', 'args', 'env', 'cwd'] as const;

type Settings = Pick<DesiredServer, 'config' | 'enabled' | 'disabledTools'>;

/** A server's definition as it would have to be given to make the server what it is now, decisions included. */
export function definitionOf({ config, enabled, disabledTools }: Settings): PlainObject {
  const { type, ...rest } = JSON.parse(JSON.stringify(config)) as PlainObject;
  const tools = { ...(rest['tools'] as PlainObject), disabled: [...disabledTools].toSorted() };
  // The other types follow from `command` and `url`.
  const given = { ...(type === 'sse' ? { type } : {}), ...rest, enabled, tools };
  return escaped(given) as PlainObject;
}

/** The same for a configuration on its own. */
export const definitionOfConfig = (config: ServerConfig): PlainObject =>
  definitionOf({ config, enabled: config.enabled, disabledTools: new Set(config.tools.disabled) });

/** What may be shown of a definition. */
export function masked(definition: PlainObject): PlainObject {
  const hidden = SECRET_SECTIONS.filter((section) => isPlainObject(definition[section])).map((section) => {
    const names = Object.keys(definition[section] as PlainObject);
    return [section, Object.fromEntries(names.map((name) => [name, MASK]))];
  });
  return { ...definition, ...(Object.fromEntries(hidden) as PlainObject) };
}

/**
 * Puts the values back that were only shown masked. `given` is what the caller wrote itself: whatever secret it did not
 * write stays with the address it was meant for, or whoever may change the address could have it sent to himself.
 */
export function unmasked(
  wanted: PlainObject,
  given: PlainObject,
  current: PlainObject | undefined,
): PlainObject {
  const errors: FieldError[] = [];
  const moved = current !== undefined && wanted['url'] !== current['url'];
  const restored = SECRET_SECTIONS.filter((section) => isPlainObject(wanted[section])).map((section) => {
    const known = sectionOf(current, section);
    const written = sectionOf(given, section);
    const entries = Object.entries(wanted[section] as PlainObject).map(([name, value]) => {
      const isKept = value === MASK || written[name] === undefined;
      if (isKept && known[name] === undefined)
        errors.push({ field: `${section}.${name}`, message: 'is masked, and there is no value to keep' });
      else if (isKept && section === 'headers' && moved)
        errors.push({ field: `${section}.${name}`, message: 'must be given again when the url changes' });
      return [name, isKept ? known[name] : value];
    });
    return [section, Object.fromEntries(entries)];
  });
  const definition = { ...wanted, ...(Object.fromEntries(restored) as PlainObject) };
  errors.push(...redactedFields(given, ''));
  if (errors.length > 0) throw invalidInput(errors);
  return definition;
}

export const sameDefinition = (a: PlainObject, b: PlainObject): boolean => isDeepStrictEqual(a, b);

/** The names of what differs. */
export const changedKeys = (before: PlainObject, after: PlainObject): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );

/** Whether one of the two would start something that the other does not. */
export const sameCommand = (a: ServerConfig, b: ServerConfig): boolean =>
  a.type === 'stdio' &&
  b.type === 'stdio' &&
  COMMAND_KEYS.every((key) => isDeepStrictEqual(toPlain(a[key]), toPlain(b[key])));

const toPlain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

const sectionOf = (definition: PlainObject | undefined, section: string): PlainObject => {
  const found = definition?.[section];
  return isPlainObject(found) ? found : {};
};

/** What was redacted in an answer must not be stored as if it were the value. */
function redactedFields(value: unknown, field: string): FieldError[] {
  if (typeof value === 'string' && value.includes(REDACTED))
    return [{ field, message: 'holds the mark of a value that was redacted; give the value itself' }];
  if (Array.isArray(value)) return value.flatMap((item, index) => redactedFields(item, `${field}[${index}]`));
  if (!isPlainObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    redactedFields(item, field === '' ? name : `${field}.${name}`),
  );
}

/** A definition is read like the file, where `${` begins a variable. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map(escaped);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, escaped(item)]));
}
