import { readdir, readFile } from 'node:fs/promises';

/** Memory and CPU time of the processes of one group. */
export interface GroupUsage {
  residentBytes: number;
  /** Ended children included, if their parent is in the group and has waited for them. */
  cpuSeconds: number;
}

/** `USER_HZ` of Linux: the unit of times in /proc. */
const TICKS_PER_SECOND = 100;
/** Fields of /proc/PID/stat after the name of the program, from 0: see proc_pid_stat(5). */
const GROUP_FIELD = 2;
const CPU_FIELDS = { from: 11, to: 15 };
const BYTES_PER_KB = 1024;
/** Files that are read at the same time. */
const BATCH = 16;

type ReadText = (path: string) => Promise<string>;

/**
 * The usage of these process groups, by the id of the group. One pass over /proc, which in a container has the processes of
 * the container. Empty where there is no /proc.
 */
export async function readGroupUsage(
  groups: ReadonlySet<number>,
  directory = '/proc',
  read: ReadText = (path) => readFile(path, 'latin1'),
): Promise<ReadonlyMap<number, GroupUsage>> {
  const found = new Map<number, GroupUsage>();
  if (groups.size === 0) return found;
  const entries = await readdir(directory).catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name));
  for (let at = 0; at < pids.length; at += BATCH)
    await Promise.all(
      pids.slice(at, at + BATCH).map((pid) => addProcess(`${directory}/${pid}`, groups, found, read)),
    );
  return found;
}

/** A process that ends meanwhile is left out. */
async function addProcess(
  path: string,
  groups: ReadonlySet<number>,
  found: Map<number, GroupUsage>,
  read: ReadText,
): Promise<void> {
  const stat = await read(`${path}/stat`).catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const group = Number(fields[GROUP_FIELD]);
  if (!groups.has(group)) return;
  const status = await read(`${path}/status`).catch(() => '');
  const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  const ticks = fields.slice(CPU_FIELDS.from, CPU_FIELDS.to).reduce((sum, field) => sum + Number(field), 0);
  const usage = found.get(group) ?? { residentBytes: 0, cpuSeconds: 0 };
  usage.residentBytes += resident * BYTES_PER_KB;
  usage.cpuSeconds += ticks / TICKS_PER_SECOND;
  found.set(group, usage);
}
