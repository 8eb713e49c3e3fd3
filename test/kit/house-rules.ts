/** One file of `src/`: its path there, what it imports from there, and what from packages. */
export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
}

/** Rooms from the floor up. A room may import its own files and any room on a lower floor. */
const FLOORS = [
  ['core'],
  ['config', 'cluster', 'metrics', 'mcp'],
  ['registry'],
  ['backends'],
  ['tools', 'resources', 'prompts', 'completion', 'discovery', 'subscriptions', 'projects'],
  ['edge'],
  ['admin'],
  ['health'],
];
/** Programs beside the server, above how they speak to it: they may use any room, and only the start imports them. */
const PROGRAMS = [['client'], ['cli', 'tui']];

/** Files of no room: the start, which may import everything and is imported by nobody in a room. */
const START = [
  'main.ts',
  'serve.ts',
  'app.module.ts',
  'process-signals.ts',
  'start-tracing.ts',
  'json-logger.ts',
];
/** Files of no room that everybody may import; they themselves import nothing of the house. */
const COMMON_GROUND = ['version.ts'];

const SDK = '@modelcontextprotocol/';
const SDK_ROOMS = ['mcp', 'edge', 'backends', 'client'];
const CORE_PACKAGES = ['node:crypto'];
const NAMELESS = /^(utils?|helpers?|common|shared|misc|types?|constants?|interfaces?|index)$/;
const MOST_LINES = 400;

/** Everything in which the files break the rules of the house; nothing when the house is in order. */
export function problemsOf(files: readonly SourceFile[]): string[] {
  return [...files.flatMap(problemsOfFile), ...unknownFiles(files), ...cyclesOf(files)];
}

function problemsOfFile(file: SourceFile): string[] {
  const { path } = file;
  return [
    ...(floorOf(path) === undefined ? [`${path} stands on no floor`] : []),
    ...file.imports
      .filter((other) => !mayImport(path, other))
      .map((other) => `${path} may not import ${other}`),
    ...file.packages
      .filter((name) => !mayUse(path, name))
      .map((name) => `${path} may not import the package ${name}`),
    ...(path.split('/').some((part) => NAMELESS.test(part.replace(/\.tsx?$/, '')))
      ? [`${path} has a name that says nothing`]
      : []),
    ...(file.lines > MOST_LINES ? [`${path} has ${file.lines} lines, more than ${MOST_LINES}`] : []),
  ];
}

function mayImport(from: string, to: string): boolean {
  if (COMMON_GROUND.includes(from)) return false;
  if (COMMON_GROUND.includes(to)) return roomOf(from) !== 'core';
  const [room, other] = [roomOf(from), roomOf(to)];
  if (START.includes(from) || room === other) return true;
  return (floorOf(to) ?? Infinity) < (floorOf(from) ?? 0);
}

function mayUse(from: string, name: string): boolean {
  const room = roomOf(from);
  if (room === 'core') return CORE_PACKAGES.includes(name);
  return !name.startsWith(SDK) || SDK_ROOMS.includes(room);
}

/** The folder right below `src/`; a file that stands there itself is its own room. */
const roomOf = (path: string): string => path.split('/', 1)[0]!;

/** Lower is further down; the programs and the start stand above everything, and so are imported by nobody. */
function floorOf(path: string): number | undefined {
  const room = roomOf(path);
  if (COMMON_GROUND.includes(path)) return 0;
  const floors = [...FLOORS, ...PROGRAMS];
  if (START.includes(path)) return floors.length;
  const floor = floors.findIndex((rooms) => rooms.includes(room));
  return floor === -1 ? undefined : floor;
}

function unknownFiles(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((other) => !known.has(other))
      .map((other) => `${path} imports ${other}, which is no source`),
  );
}

/** Each cycle once, by the files along it. */
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
