import { parse } from 'yaml';
import { ConfigError } from '../config/config-error.js';
import { readConfig } from '../config/load-config.js';
import { RESERVED_NAMES } from '../config/schema/shape.js';
import { SERVER_ID } from '../config/servers-config.js';
import { withoutComments } from './without-comments.js';

export interface ImportResult {
  readonly config: { readonly mcpServers: Record<string, ServerDefinition> };
  /** What whoever imports should know. */
  readonly notes: readonly string[];
  /** What our configuration does not accept as it stands. */
  readonly problems: readonly string[];
}

type ServerDefinition = Record<string, unknown>;

/** Taken over as they are. The rest belongs to the program the file comes from. */
const KEPT = ['command', 'args', 'env', 'cwd', 'url', 'headers'];
const REMOTE_TYPES = ['http', 'sse', 'streamable-http', 'streamableHttp'];
/** What other programs call the address. */
const OTHER_URLS = ['serverUrl', 'httpUrl'];

/**
 * Reads a file of Claude Desktop, Claude Code, Cursor, Windsurf or VS Code, which all hold the same thing under slightly
 * different names. Throws a RangeError when it holds no servers.
 */
export function importServers(text: string, file: string): ImportResult {
  const document = documentIn(text, file);
  const servers = [document['mcpServers'], document['servers'], inside(document['mcp'], 'servers')].find(
    isObject,
  );
  if (!servers) throw new RangeError(`${file} has neither mcpServers nor servers: is it the right file?`);
  const notes = new Set<string>();
  const translate = new Variables(notes, inputsOf(document));
  const mcpServers: Record<string, ServerDefinition> = {};
  for (const [name, entry] of Object.entries(servers)) {
    const id = idFor(name, mcpServers);
    if (id !== name) notes.add(`${name}: is called ${id} here, because tools are named after it`);
    if (isObject(entry)) mcpServers[id] = entryOf(id, entry, translate, notes);
    else notes.add(`${name}: left out, it is no server`);
  }
  return { config: { mcpServers }, notes: [...notes], problems: problemsIn(mcpServers) };
}

function documentIn(text: string, file: string): ServerDefinition {
  let document: unknown;
  try {
    // Every JSON is YAML, also with the commas at the end of lists that editors allow.
    document = parse(withoutComments(text), { stringKeys: true });
  } catch (cause) {
    throw new RangeError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(document)) throw new RangeError(`${file} holds no JSON object`);
  return document;
}

function entryOf(
  id: string,
  entry: ServerDefinition,
  translate: Variables,
  notes: Set<string>,
): ServerDefinition {
  const url = entry['url'] ?? OTHER_URLS.map((name) => entry[name]).find((value) => value !== undefined);
  const given: ServerDefinition = { ...entry, ...(url === undefined ? {} : { url }) };
  const kept = KEPT.filter((name) => given[name] !== undefined && given[name] !== null);
  const { type } = entry;
  const isOff = entry['disabled'] === true || entry['enabled'] === false;
  for (const name of Object.keys(entry).filter((key) => !isKnown(key)))
    notes.add(`${id}.${name}: left out, there is no such setting here`);
  return {
    ...(typeof type === 'string' && REMOTE_TYPES.includes(type) && type === 'sse' ? { type } : {}),
    ...Object.fromEntries(kept.map((name) => [name, translate.in(given[name], `${id}.${name}`)])),
    ...(isOff ? { enabled: false } : {}),
  };
}

const isKnown = (key: string): boolean =>
  [...KEPT, ...OTHER_URLS, 'type', 'disabled', 'enabled'].includes(key);

/** References to variables, from the words of other programs to ours. */
class Variables {
  constructor(
    private readonly notes: Set<string>,
    private readonly inputs: ReadonlyMap<string, string>,
  ) {}

  in(value: unknown, path: string): unknown {
    if (typeof value === 'string') return this.text(value, path);
    if (Array.isArray(value)) return value.map((item) => this.in(item, path));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        // Numbers and flags are fine for others; in an environment everything is text.
        this.in(
          typeof item === 'number' || typeof item === 'boolean' ? String(item) : item,
          `${path}.${name}`,
        ),
      ]),
    );
  }

  private text(text: string, path: string): string {
    return text.replace(/\$\{([^}]*)\}/g, (reference, inside: string) =>
      this.reference(reference, inside, path),
    );
  }

  private reference(reference: string, inside: string, path: string): string {
    const [kind = '', name = ''] = inside.split(':', 2);
    if (/^[A-Za-z_]\w*(:-.*)?$/s.test(inside) && !OF_EDITORS.test(inside)) return reference;
    if (kind === 'env' && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`;
    if (kind === 'input') return this.input(name);
    const place = PLACES[inside];
    if (place === undefined) {
      this.notes.add(`${path}: \${${inside}} means nothing here and is kept as plain text`);
      return `$${reference}`;
    }
    if (place.note) this.notes.add(`${path}: \${${inside}} became ${place.text}; ${place.note}`);
    return place.text;
  }

  private input(name: string): string {
    const variable = name
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
      .toUpperCase();
    const asked = this.inputs.get(name);
    this.notes.add(
      `set the environment variable ${variable}${asked ? ` (${asked})` : ''}: VS Code asks for it`,
    );
    return `\${${variable}}`;
  }
}

/** What editors know and we do not: the file that is open, for instance. */
const OF_EDITORS =
  /^(userHome|pathSeparator|workspace\w*|file\w*|relativeFile\w*|cwd|execPath|lineNumber|selectedText|defaultBuildTask)$/;

const PLACES: Readonly<Record<string, { readonly text: string; readonly note?: string }>> = {
  userHome: { text: '${HOME}' },
  '/': { text: '/' },
  pathSeparator: { text: '/' },
  workspaceFolder: { text: '.', note: 'a relative path starts where the gateway is started' },
  workspaceRoot: { text: '.', note: 'a relative path starts where the gateway is started' },
};

function inputsOf(document: ServerDefinition): ReadonlyMap<string, string> {
  const inputs = document['inputs'] ?? inside(document['mcp'], 'inputs');
  const known = Array.isArray(inputs) ? inputs.filter(isObject) : [];
  return new Map(
    known.map(({ id, description }) => [String(id), typeof description === 'string' ? description : '']),
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

/** Held against our own rules; that a variable is not set here is no fault of the file. */
function problemsIn(mcpServers: Record<string, ServerDefinition>): string[] {
  try {
    readConfig({ text: JSON.stringify({ mcpServers }), file: 'import', env: {} });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const others = error.problems.filter(
      ({ what }) => !/^the environment variable \w+ is not set$/.test(what),
    );
    const unset = error.problems.filter((problem) => !others.includes(problem)).map(({ path }) => path);
    // A value that is not known yet cannot be wrong either.
    return others.filter(({ path }) => !unset.includes(path)).map(({ path, what }) => `${path}: ${what}`);
  }
}

const isObject = (value: unknown): value is ServerDefinition =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inside = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
