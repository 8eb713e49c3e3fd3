import { isDeepStrictEqual } from 'node:util';
import type { DesiredServer } from '../backends/desired-servers.js';
import { ConfigError } from '../config/config-error.js';
import { readServer } from '../config/read-server.js';
import { SERVER_ID, type ServerConfig } from '../config/servers-config.js';
import { isJsonObject, type JsonObject } from '../lib/json-text/json-value.js';
import { maskArgs, maskParts } from '../lib/secrets/secret-parts.js';
import { invalidInput, type FieldError } from './admin-problem.js';
import { MASK, NOT_STORED, restoreArgs } from './restore-args.js';
import { REDACTED } from './secret-redactor.js';

const SECRET_SECTIONS = ['headers', 'env'] as const;
const URL_KEYS: ReadonlySet<string> = new Set(['url', 'proxy']);
const COMMAND_KEYS = ['command', 'args', 'env', 'cwd'] as const;

type Settings = Pick<DesiredServer, 'config' | 'enabled' | 'disabledTools'>;

/** The definition of the server with the decisions of administrators applied to it. */
export function definitionOf({ config, enabled, disabledTools }: Settings): JsonObject {
  const { type, ...rest } = JSON.parse(JSON.stringify(config)) as JsonObject;
  const tools = { ...(rest['tools'] as JsonObject), disabled: [...disabledTools].toSorted() };
  // The types `stdio` and `http` follow from `command` and `url`.
  const definition = { ...(type === 'sse' ? { type } : {}), ...rest, enabled, tools };
  return escapeVariables(definition) as JsonObject;
}

/** The definition that `config` describes, without decisions of administrators. */
export const definitionOfConfig = (config: ServerConfig): JsonObject =>
  definitionOf({ config, enabled: config.enabled, disabledTools: new Set(config.tools.disabled) });

/** Validates a definition by the rules of the configuration file; errors name the fields. */
export function readDefinition(id: string, definition: JsonObject): ServerConfig {
  if (!SERVER_ID.pattern.test(id)) throw invalidInput([{ field: 'id', message: SERVER_ID.requirement }]);
  try {
    return readServer(id, definition);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw invalidInput(error.problems.map(({ path, message }) => ({ field: path, message })));
  }
}

/** How a definition is masked for the caller that reads it. */
export interface Masking {
  /** Masks the secrets known to `SecretRedactor` that this caller must not see. */
  readonly maskText: (text: string) => string;
  /** Whether texts that look like secrets are masked too: passwords in arguments, keys in URLs. */
  readonly masksArgsAndUrls: boolean;
}

/** Returns a copy in which every value of `headers` and `env`, and every secret in another text, is masked. */
export function maskSecrets(definition: JsonObject, { maskText, masksArgsAndUrls }: Masking): JsonObject {
  const maskMember = (name: string, value: unknown): unknown => {
    if (typeof value === 'string')
      return maskText(masksArgsAndUrls && URL_KEYS.has(name) ? maskParts(value, MASK) : value);
    if (!Array.isArray(value)) return value;
    return (masksArgsAndUrls ? maskArgs(value as string[], MASK) : (value as string[])).map(maskText);
  };
  const members = Object.entries(definition).map(([name, value]) => [name, maskMember(name, value)]);
  const sections = SECRET_SECTIONS.filter((section) => isJsonObject(definition[section])).map((section) => {
    const names = Object.keys(definition[section] as JsonObject);
    return [section, Object.fromEntries(names.map((name) => [name, MASK]))];
  });
  return Object.fromEntries([...members, ...sections]) as JsonObject;
}

/** A request to change a definition. */
interface DefinitionChange {
  /** The whole new definition, in which values may be masked. */
  readonly desired: JsonObject;
  /** The members that the caller sent: all members of `desired` for a PUT, some for a PATCH. */
  readonly sent: JsonObject;
  /** The stored definition; undefined for a new server. */
  readonly current: JsonObject | undefined;
  /** The masked forms of `current`, one for each role that may read it. */
  readonly shownForms: readonly JsonObject[];
}

/** Returns `desired` with stored values in place of the masked ones. Throws a problem that names all invalid fields. */
export function restoreMasked(change: DefinitionChange): JsonObject {
  const { desired, sent } = change;
  const errors: FieldError[] = [];
  const sections = SECRET_SECTIONS.filter((section) => isJsonObject(desired[section])).map((section) => [
    section,
    restoreSection(section, change, errors),
  ]);
  const texts = restoreTexts(change, errors);
  errors.push(...redactedFields(sent, ''));
  if (errors.length > 0) throw invalidInput(errors);
  return Object.fromEntries([...Object.entries(desired), ...texts, ...sections]) as JsonObject;
}

/**
 * Restores the masked values of headers or environment. A change of the URL requires new header values: otherwise, a caller
 * that may not read a secret header could have it sent to a server of its choice.
 */
function restoreSection(
  section: (typeof SECRET_SECTIONS)[number],
  { desired, sent, current }: DefinitionChange,
  errors: FieldError[],
): JsonObject {
  const isUrlChanged = current !== undefined && desired['url'] !== current['url'];
  const stored = sectionOf(current, section);
  const sentSection = sectionOf(sent, section);
  const entries = Object.entries(desired[section] as JsonObject).map(([name, value]) => {
    const isStoredValueKept = value === MASK || sentSection[name] === undefined;
    if (!isStoredValueKept) return [name, value];
    const field = `${section}.${name}`;
    if (stored[name] === undefined) errors.push({ field, message: NOT_STORED });
    else if (section === 'headers' && isUrlChanged)
      errors.push({ field, message: 'must be given again when the url changes' });
    return [name, stored[name]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** The restored members outside headers and environment: the arguments, and texts that contain the mask. */
function restoreTexts(
  { sent, current, shownForms }: DefinitionChange,
  errors: FieldError[],
): [string, unknown][] {
  return Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'args' && Array.isArray(value))
      return [[name, restoreArgs(value, argsOf(current), shownForms.map(argsOf), errors)]];
    if (typeof value !== 'string' || !value.includes(MASK)) return [];
    const isShownForm = shownForms.some((form) => form[name] === value);
    if (isShownForm) return [[name, current?.[name]]];
    errors.push({ field: name, message: NOT_STORED });
    return [];
  });
}

export const isSameDefinition = (a: JsonObject, b: JsonObject): boolean => isDeepStrictEqual(a, b);

/** The names of the members that differ. */
export const changedKeys = (before: JsonObject, after: JsonObject): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );

/** Whether both servers start the same child process. */
export const hasSameCommand = (a: ServerConfig, b: ServerConfig): boolean =>
  a.type === 'stdio' &&
  b.type === 'stdio' &&
  COMMAND_KEYS.every((key) => isDeepStrictEqual(toPlain(a[key]), toPlain(b[key])));

const toPlain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

const argsOf = (definition: JsonObject | undefined): readonly string[] =>
  (definition?.['args'] ?? []) as readonly string[];

const sectionOf = (definition: JsonObject | undefined, section: string): JsonObject => {
  const value = definition?.[section];
  return isJsonObject(value) ? value : {};
};

/** Finds values that an earlier response had redacted. Such a value must not be stored. */
function redactedFields(value: unknown, field: string): FieldError[] {
  if (typeof value === 'string' && value.includes(REDACTED))
    return [{ field, message: 'contains a redacted value; send the value itself' }];
  if (Array.isArray(value)) return value.flatMap((item, index) => redactedFields(item, `${field}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    redactedFields(item, field === '' ? name : `${field}.${name}`),
  );
}

/** Escapes `${`, which starts a variable reference in a definition. */
function escapeVariables(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map(escapeVariables);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, escapeVariables(item)]));
}
