/** One file of `src/`: its path below `src/`, the source files it imports, and the packages it imports. */
export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
  /** Names that the file declares and exports. */
  readonly exports: readonly string[];
}

/** Layers from the bottom up. A module may import its own files and any module of a lower layer. */
const LAYERS = [
  ['lib'],
  ['core'],
  ['config', 'state', 'metrics', 'mcp'],
  ['registry', 'decisions'],
  ['backends'],
  ['tools', 'resources', 'prompts', 'completion', 'meta-tools', 'subscriptions', 'projects'],
  ['edge'],
  ['admin'],
  ['health', 'start-page'],
];
/** Programs beside the server. They may import any server module; only the entry point imports them. */
const PROGRAMS = [['client'], ['cli', 'tui']];

/** Entry-point files outside any module. They may import everything and no module imports them. */
const ENTRY_POINT = [
  'main.ts',
  'serve.ts',
  'start-banner.ts',
  'app.module.ts',
  'process-signals.ts',
  'worker-thread-priority.ts',
  'start-tracing.ts',
  'json-logger.ts',
  'text-log-line.ts',
  'log-output.ts',
  'otlp-agent.ts',
];
const APP_MODULE = 'app.module.ts';
/** Files outside any module that every module above core may import; they import nothing themselves. */
const GLOBAL_FILES = ['version.ts'];

const SDK = '@modelcontextprotocol/';
/** Paths below a Nest package are its internals. */
const NEST_INTERNALS = /^@nestjs\/[^/]+\//;
const SDK_MODULES = ['mcp', 'edge', 'backends', 'client'];
/** Parts of the SDK that `backends` may not import, because they read messages of any size. */
const SDK_CLIENT = /^@modelcontextprotocol\/(client$|sdk\/client\/)/;
/** Packages that the pure layers may import. */
const PURE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  lib: ['node:buffer', 'node:crypto'],
  core: ['node:crypto'],
};
const MEANINGLESS_NAME = /^(utils?|helpers?|common|shared|misc|types?|constants?|interfaces?|index)$/;
const MAX_LINES = 400;
/** Written by `npm run openapi`; their length follows from the API. */
const GENERATED_FILES = ['client/admin-schema.ts'];

/** Every violation of the architecture rules; empty when there is none. */
export function violationsOf(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap(violationsOfFile),
    ...missingImports(files),
    ...missingModules(files),
    ...duplicateExports(files),
    ...cyclesOf(files),
  ];
}

function violationsOfFile(file: SourceFile): string[] {
  const { path } = file;
  return [
    ...(layerOf(path) === undefined ? [`${path} belongs to no layer`] : []),
    ...file.imports
      .filter((other) => !mayImport(path, other))
      .map((other) => `${path} may not import ${other}`),
    ...file.packages
      .filter((name) => !mayUse(path, name))
      .map((name) => `${path} may not import the package ${name}`),
    ...(path.split('/').some((part) => MEANINGLESS_NAME.test(part.replace(/\.tsx?$/, '')))
      ? [`${path} has a meaningless name`]
      : []),
    ...(file.lines > MAX_LINES && !GENERATED_FILES.includes(path)
      ? [`${path} has ${file.lines} lines, more than ${MAX_LINES}`]
      : []),
  ];
}

function mayImport(from: string, to: string): boolean {
  if (GLOBAL_FILES.includes(from)) return false;
  if (GLOBAL_FILES.includes(to)) return !(moduleOf(from) in PURE_PACKAGES);
  if (ENTRY_POINT.includes(from) || moduleOf(from) === moduleOf(to)) return true;
  return (layerOf(to) ?? Infinity) < (layerOf(from) ?? 0);
}

function mayUse(from: string, name: string): boolean {
  const module = moduleOf(from);
  const allowed = PURE_PACKAGES[module];
  if (allowed) return allowed.includes(name);
  if (NEST_INTERNALS.test(name)) return false;
  if (module === 'backends' && SDK_CLIENT.test(name)) return false;
  return !name.startsWith(SDK) || SDK_MODULES.includes(module);
}

/** The folder directly below `src/`. A file directly in `src/` is its own module. */
const moduleOf = (path: string): string => path.split('/', 1)[0]!;

/** Index of the layer, lowest first. Programs and the entry point are above every module. */
function layerOf(path: string): number | undefined {
  if (GLOBAL_FILES.includes(path)) return 0;
  const layers = [...LAYERS, ...PROGRAMS];
  if (ENTRY_POINT.includes(path)) return layers.length;
  const layer = layers.findIndex((modules) => modules.includes(moduleOf(path)));
  return layer === -1 ? undefined : layer;
}

/** Imports of files that are not sources: specs, the test kit, or files that do not exist. */
function missingImports(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map((file) => file.path));
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((other) => !known.has(other))
      .map((other) => `${path} imports ${other}, which is not a source file`),
  );
}

/** `AppModule` imports every Nest module directly, also those that other modules import. */
function missingModules(files: readonly SourceFile[]): string[] {
  const app = files.find(({ path }) => path === APP_MODULE);
  if (!app) return [];
  return files
    .filter(({ path }) => path.endsWith('.module.ts') && path !== APP_MODULE && !app.imports.includes(path))
    .map(({ path }) => `${APP_MODULE} does not import ${path}`);
}

/** Names that two files export: a name has one meaning in the whole code base. */
function duplicateExports(files: readonly SourceFile[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { path, exports } of files)
    for (const name of exports) owners.set(name, [...(owners.get(name) ?? []), path]);
  return [...owners]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}`);
}

/** Names of earlier versions that the glossary in ARCHITECTURE.md replaced. Ordinary English words are not listed. */
const RETIRED_WORDS = new Set(
  (
    'house wishes courier spreading hearing settling deed deeds gust gusts namesake namesakes contested twin twins ' +
    'makeshift forsake forsaken farewell misfit misfits tenure greeted rivals'
  ).split(' '),
);

/** Retired words in a text, with their line. Parts of identifiers count as words: `houseTools` contains `house`. */
export function retiredWordsIn(path: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      (line.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [])
        .filter((word) => RETIRED_WORDS.has(word.toLowerCase()))
        .map((word) => `${path}:${index + 1} uses the retired word ${word.toLowerCase()}`),
    );
}

/** Each import cycle once, as the files along it. */
function cyclesOf(files: readonly SourceFile[]): string[] {
  const imports = new Map(files.map((file) => [file.path, file.imports]));
  const done = new Set<string>();
  const trail: string[] = [];
  const cycles: string[] = [];
  const visit = (path: string): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt !== -1) cycles.push(`cycle: ${[...trail.slice(seenAt), path].join(' -> ')}`);
    if (seenAt !== -1 || done.has(path)) return;
    trail.push(path);
    for (const other of imports.get(path) ?? []) visit(other);
    trail.pop();
    done.add(path);
  };
  for (const path of imports.keys()) visit(path);
  return cycles;
}
