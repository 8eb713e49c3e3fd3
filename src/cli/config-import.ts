import { parse } from 'yaml';
import { ConfigError } from '../config/config-error.js';
import { readConfig } from '../config/load-config.js';
import { allKeysOf, RESERVED_NAMES } from '../config/schema/shape.js';
import { SERVER_ID, SERVER_SHAPE } from '../config/servers-config.js';
import { translateClientKey, type TranslatedKey } from '../config/source/client-keys.js';
import { isEditorVariable } from '../config/source/client-variables.js';
import {
  BARE_VARIABLE_NOTE,
  hasBareVariable,
  isGeminiDefinition,
  KEYS_WITH_VARIABLES,
  withBraces,
} from '../config/source/gemini-variables.js';
import { withoutJsonComments } from '../config/source/json-comments.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

interface ImportResult {
  readonly config: { readonly mcpServers: Record<string, ServerDefinition> };
  /** What was changed or left out, as texts for the user. */
  readonly notes: readonly string[];
  /** Errors that the gateway would report for this configuration. */
  readonly problems: readonly string[];
}

type ServerDefinition = Record<string, unknown>;

/**
 * Converts a configuration of Claude Desktop, Claude Code, Cursor, Windsurf, VS Code, Cline, Roo Code or Gemini CLI. Their
 * formats differ only in a few names. Servers and tools that the file disables stay disabled. Throws a RangeError if the
 * file has no servers.
 */
export function importServers(text: string, file: string): ImportResult {
  const document = parseDocument(text, file);
  const servers = [document['mcpServers'], document['servers'], memberOf(document['mcp'], 'servers')].find(
    isJsonObject,
  );
  if (!servers) throw new RangeError(`${file} has neither mcpServers nor servers`);
  const notes = new Set<string>();
  const translator = new VariableTranslator(notes, inputsOf(document), isGeminiFile(document, servers, file));
  const mcpServers: Record<string, ServerDefinition> = {};
  for (const [name, entry] of Object.entries(servers)) {
    const id = idFor(name, mcpServers);
    if (id !== name) notes.add(`${name}: renamed to ${id}, a valid and unique server id`);
    if (isJsonObject(entry))
      mcpServers[id] = {
        ...convertEntry(id, entry, translator, notes),
        ...(isSwitchedOff(document, name) ? { enabled: false } : {}),
      };
    else notes.add(`${name}: left out, not a server definition`);
  }
  return { config: { mcpServers }, notes: [...notes], problems: validationProblems(mcpServers) };
}

function parseDocument(text: string, file: string): ServerDefinition {
  let document: unknown;
  try {
    // Every JSON text is YAML. The YAML parser also accepts trailing commas, which editors allow.
    document = parse(withoutJsonComments(text), { stringKeys: true });
  } catch (cause) {
    throw new RangeError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
  if (!isJsonObject(document)) throw new RangeError(`${file} does not contain a JSON object`);
  return document;
}

/** Converts the definition of one server. Keys without an equivalent are left out and noted. */
function convertEntry(
  id: string,
  entry: ServerDefinition,
  translator: VariableTranslator,
  notes: Set<string>,
): ServerDefinition {
  const result: ServerDefinition = {};
  const given = Object.entries(entry).filter(([, value]) => value !== undefined && value !== null);
  for (const [name, value] of given) if (KNOWN_KEYS.has(name)) result[name] = value;
  for (const [name, value] of given) {
    const translated = KNOWN_KEYS.has(name) ? undefined : translateClientKey(name, value);
    if (translated?.note !== undefined) notes.add(`${id}.${name} ${translated.note}`);
    if (translated) setTranslated(result, translated);
    else if (RESTRICTING_KEYS.has(name)) {
      result['enabled'] = false;
      notes.add(
        `${id}.${name}: left out, and ${id} is disabled, because this value has no equivalent; list the tools that are off in tools.disabled, then enable the server`,
      );
    } else if (!KNOWN_KEYS.has(name)) notes.add(`${id}.${name}: left out, no such setting`);
  }
  // Without `type`, a server with `command` is stdio and a server with `url` is http. Only `sse` has to be given.
  if (result['type'] !== 'sse') delete result['type'];
  // Servers are enabled by default.
  if (result['enabled'] === true) delete result['enabled'];
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [
      name,
      KEYS_WITH_VARIABLES.includes(name) ? translator.translate(value, `${id}.${name}`) : value,
    ]),
  );
}

/** Keys that disable the server or restrict its tools. If the value cannot be translated, the server is disabled. */
const RESTRICTING_KEYS: ReadonlySet<string> = new Set([
  'disabled',
  'disabledTools',
  'excludeTools',
  'includeTools',
  'enabledTools',
  'allowedTools',
]);

/** Keys in the gateway's definition of a server. A key of another client with one of these names has the same meaning. */
const KNOWN_KEYS: ReadonlySet<string> = new Set(allKeysOf(SERVER_SHAPE).keys());

/**
 * Sets the translated value. If the key of the gateway has a value already, two lists are united, and of two values of
 * `enabled`, false is kept. Any other key keeps the value that it has.
 */
function setTranslated(result: ServerDefinition, { path: [key, member], value }: TranslatedKey): void {
  if (member !== undefined) {
    const section = { ...(isJsonObject(result[key]) ? result[key] : {}) };
    const existing = Array.isArray(section[member]) ? (section[member] as unknown[]) : [];
    result[key] = { ...section, [member]: [...new Set([...existing, ...(value as unknown[])])] };
  } else if (key === 'enabled') result[key] = value === true && result[key] !== false;
  else result[key] ??= value;
}

/** Whether a file of Gemini CLI disables the server: `mcp.excluded` contains it, or `mcp.allowed` exists without it. */
function isSwitchedOff(document: ServerDefinition, name: string): boolean {
  const [allowed, excluded] = ['allowed', 'excluded'].map((list) => memberOf(document['mcp'], list));
  return (
    (Array.isArray(excluded) && excluded.includes(name)) ||
    (Array.isArray(allowed) && !allowed.includes(name))
  );
}

/** Whether the file belongs to Gemini CLI, which reads `$NAME` as a variable. */
const isGeminiFile = (document: ServerDefinition, servers: ServerDefinition, file: string): boolean =>
  /(^|[/\\])\.gemini[/\\]/.test(file) ||
  ['allowed', 'excluded'].some((list) => memberOf(document['mcp'], list) !== undefined) ||
  Object.values(servers).some((server) => isJsonObject(server) && isGeminiDefinition(Object.keys(server)));

/** Translates variable references of other programs to `${NAME}`. */
class VariableTranslator {
  constructor(
    private readonly notes: Set<string>,
    private readonly inputs: ReadonlyMap<string, string>,
    private readonly isGemini: boolean,
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
    if (!this.isGemini && hasBareVariable(text)) this.notes.add(`${path} ${BARE_VARIABLE_NOTE}`);
    const given = this.isGemini ? withBraces(text) : text;
    return given.replace(/\$\{([^}]*)\}/g, (reference, inside: string) =>
      this.translateReference(reference, inside, path),
    );
  }

  /**
   * Translates `${…}`, of which `inside` is the text between the braces. A reference such as `${NAME}` or
   * `${NAME:-default}` has the same meaning in the gateway.
   */
  private translateReference(reference: string, inside: string, path: string): string {
    const [kind = '', name = ''] = inside.split(':', 2);
    if (/^[A-Za-z_]\w*(:-.*)?$/s.test(inside) && !isEditorVariable(inside)) return reference;
    if (kind === 'env' && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`;
    if (kind === 'input') return this.translateInput(name);
    const replacement = PATH_VARIABLES[inside];
    if (replacement === undefined) {
      this.notes.add(`${path}: \${${inside}} has no equivalent and stays plain text`);
      // `$${` is an escaped `${`.
      return `$${reference}`;
    }
    if (replacement.note)
      this.notes.add(`${path}: \${${inside}} became ${replacement.text}; ${replacement.note}`);
    return replacement.text;
  }

  /** Replaces an input of VS Code, for which VS Code asks the user, by an environment variable. */
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

/** Variables of editors about paths, each with the text that replaces it. */
const PATH_VARIABLES: Readonly<Record<string, { readonly text: string; readonly note?: string }>> = {
  userHome: { text: '${HOME}' },
  '/': { text: '/' },
  pathSeparator: { text: '/' },
  workspaceFolder: { text: '.', note: 'a relative path starts at the working directory of the gateway' },
  workspaceRoot: { text: '.', note: 'a relative path starts at the working directory of the gateway' },
};

/** The descriptions of the inputs of VS Code, by their ids. */
function inputsOf(document: ServerDefinition): ReadonlyMap<string, string> {
  const inputs = document['inputs'] ?? memberOf(document['mcp'], 'inputs');
  const inputObjects = Array.isArray(inputs) ? inputs.filter(isJsonObject) : [];
  return new Map(
    inputObjects.map(({ id, description }) => [
      String(id),
      typeof description === 'string' ? description : '',
    ]),
  );
}

/** A valid server id for a name that other clients accept. It is not one of the ids in `taken`. */
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
      ({ message }) => !/^the environment variable \w+ is not set\b/.test(message),
    );
    const unset = error.problems.filter((problem) => !others.includes(problem)).map(({ path }) => path);
    // Other problems at the path of an unset variable are left out, because the value cannot be validated without the
    // variable.
    return others
      .filter(({ path }) => !unset.includes(path))
      .map(({ path, message }) => `${path}: ${message}`);
  }
}

const memberOf = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);
