import { parse } from 'yaml';
import { ConfigError } from '../config/config-error.js';
import { readConfig } from '../config/load-config.js';
import { RESERVED_NAMES } from '../config/schema/shape.js';
import { SERVER_ID } from '../config/servers-config.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

interface ImportResult {
  readonly config: { readonly mcpServers: Record<string, ServerDefinition> };
  /** Changes and omissions, for the user. */
  readonly notes: readonly string[];
  /** Errors that the gateway would report for this configuration. */
  readonly problems: readonly string[];
}

type ServerDefinition = Record<string, unknown>;

/** A string, or a comment: from two slashes to the end of the line, or between comment marks. */
const STRING_OR_COMMENT = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** Keys with the same meaning in the configuration of the gateway. Other keys belong to the program that wrote the file. */
const KEPT_KEYS = ['command', 'args', 'env', 'cwd', 'url', 'headers'];
/** Names of other programs for `url`. */
const URL_ALIASES = ['serverUrl', 'httpUrl'];

/**
 * Converts a configuration of Claude Desktop, Claude Code, Cursor, Windsurf or VS Code, which differ only in a few names.
 * Throws a RangeError if the file has no servers.
 */
export function importServers(text: string, file: string): ImportResult {
  const document = parseDocument(text, file);
  const servers = [document['mcpServers'], document['servers'], memberOf(document['mcp'], 'servers')].find(
    isJsonObject,
  );
  if (!servers) throw new RangeError(`${file} has neither mcpServers nor servers`);
  const notes = new Set<string>();
  const translator = new VariableTranslator(notes, inputsOf(document));
  const mcpServers: Record<string, ServerDefinition> = {};
  for (const [name, entry] of Object.entries(servers)) {
    const id = idFor(name, mcpServers);
    if (id !== name) notes.add(`${name}: renamed to ${id}, because public names start with it`);
    if (isJsonObject(entry)) mcpServers[id] = convertEntry(id, entry, translator, notes);
    else notes.add(`${name}: left out, not a server definition`);
  }
  return { config: { mcpServers }, notes: [...notes], problems: validationProblems(mcpServers) };
}

/** Blanks out the comments of JSON with comments; line numbers stay the same. */
const withoutComments = (text: string): string =>
  text.replace(
    STRING_OR_COMMENT,
    (found, string: string | undefined) => string ?? found.replace(/[^\n]/g, ' '),
  );

function parseDocument(text: string, file: string): ServerDefinition {
  let document: unknown;
  try {
    // JSON is YAML; the YAML parser also accepts the trailing commas that editors allow.
    document = parse(withoutComments(text), { stringKeys: true });
  } catch (cause) {
    throw new RangeError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
  if (!isJsonObject(document)) throw new RangeError(`${file} does not contain a JSON object`);
  return document;
}

function convertEntry(
  id: string,
  entry: ServerDefinition,
  translator: VariableTranslator,
  notes: Set<string>,
): ServerDefinition {
  const url = entry['url'] ?? URL_ALIASES.map((name) => entry[name]).find((value) => value !== undefined);
  const withUrl: ServerDefinition = { ...entry, ...(url === undefined ? {} : { url }) };
  const kept = KEPT_KEYS.filter((name) => withUrl[name] !== undefined && withUrl[name] !== null);
  const { type } = entry;
  const isDisabled = entry['disabled'] === true || entry['enabled'] === false;
  for (const name of Object.keys(entry).filter((key) => !isKnownKey(key)))
    notes.add(`${id}.${name}: left out, no such setting`);
  return {
    // The other types follow from `command` and `url`.
    ...(type === 'sse' ? { type } : {}),
    ...Object.fromEntries(kept.map((name) => [name, translator.translate(withUrl[name], `${id}.${name}`)])),
    ...(isDisabled ? { enabled: false } : {}),
  };
}

const isKnownKey = (key: string): boolean =>
  [...KEPT_KEYS, ...URL_ALIASES, 'type', 'disabled', 'enabled'].includes(key);

/** Translates variable references of other programs to `${NAME}`. */
class VariableTranslator {
  constructor(
    private readonly notes: Set<string>,
    private readonly inputs: ReadonlyMap<string, string>,
  ) {}

  translate(value: unknown, path: string): unknown {
    if (typeof value === 'string') return this.translateText(value, path);
    if (Array.isArray(value)) return value.map((item) => this.translate(item, path));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        // Other programs accept numbers and booleans in env; the gateway accepts strings only.
        this.translate(
          typeof item === 'number' || typeof item === 'boolean' ? String(item) : item,
          `${path}.${name}`,
        ),
      ]),
    );
  }

  private translateText(text: string, path: string): string {
    return text.replace(/\$\{([^}]*)\}/g, (reference, inside: string) =>
      this.translateReference(reference, inside, path),
    );
  }

  private translateReference(reference: string, inside: string, path: string): string {
    const [kind = '', name = ''] = inside.split(':', 2);
    if (/^[A-Za-z_]\w*(:-.*)?$/s.test(inside) && !EDITOR_VARIABLES.test(inside)) return reference;
    if (kind === 'env' && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`;
    if (kind === 'input') return this.translateInput(name);
    const replacement = PATH_VARIABLES[inside];
    if (replacement === undefined) {
      this.notes.add(`${path}: \${${inside}} has no equivalent and stays plain text`);
      return `$${reference}`;
    }
    if (replacement.note)
      this.notes.add(`${path}: \${${inside}} became ${replacement.text}; ${replacement.note}`);
    return replacement.text;
  }

  private translateInput(name: string): string {
    const variable = name
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
      .toUpperCase();
    const description = this.inputs.get(name);
    this.notes.add(
      `set the environment variable ${variable}${description ? ` (${description})` : ''}, an input of VS Code`,
    );
    return `\${${variable}}`;
  }
}

/** Variables with a value only inside an editor, such as the open file. */
const EDITOR_VARIABLES =
  /^(userHome|pathSeparator|workspace\w*|file\w*|relativeFile\w*|cwd|execPath|lineNumber|selectedText|defaultBuildTask)$/;

const PATH_VARIABLES: Readonly<Record<string, { readonly text: string; readonly note?: string }>> = {
  userHome: { text: '${HOME}' },
  '/': { text: '/' },
  pathSeparator: { text: '/' },
  workspaceFolder: { text: '.', note: 'a relative path starts at the working directory of the gateway' },
  workspaceRoot: { text: '.', note: 'a relative path starts at the working directory of the gateway' },
};

function inputsOf(document: ServerDefinition): ReadonlyMap<string, string> {
  const inputs = document['inputs'] ?? memberOf(document['mcp'], 'inputs');
  const descriptions = Array.isArray(inputs) ? inputs.filter(isJsonObject) : [];
  return new Map(
    descriptions.map(({ id, description }) => [
      String(id),
      typeof description === 'string' ? description : '',
    ]),
  );
}

function idFor(name: string, taken: ServerDefinition): string {
  const cleaned = name.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
  const base = (RESERVED_NAMES.includes(cleaned) ? `${cleaned}-server` : cleaned).slice(0, 60) || 'server';
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!Object.hasOwn(taken, id) && SERVER_ID.pattern.test(id)) return id;
  }
}

/** Problems that the gateway would report, except variables that are not set on this machine. */
function validationProblems(mcpServers: Record<string, ServerDefinition>): string[] {
  try {
    readConfig({ text: JSON.stringify({ mcpServers }), source: 'import', env: {} });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const others = error.problems.filter(
      ({ what }) => !/^the environment variable \w+ is not set$/.test(what),
    );
    const unset = error.problems.filter((problem) => !others.includes(problem)).map(({ path }) => path);
    // A value with an unset variable cannot be validated.
    return others.filter(({ path }) => !unset.includes(path)).map(({ path, what }) => `${path}: ${what}`);
  }
}

const memberOf = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);
