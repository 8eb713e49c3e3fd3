import { readdir, readFile } from 'node:fs/promises';

/** Memory and CPU time of the processes of one group. */
export interface GroupUsage {
  residentBytes: number;
  /** Includes children that have ended, if their parent is in the group and has waited for them. */
  cpuSeconds: number;
}

/** `USER_HZ` of Linux: the unit of times in /proc. */
const TICKS_PER_SECOND = 100;
/** Indexes of fields in /proc/PID/stat, counted from 0 after the name of the program: see proc_pid_stat(5). */
const GROUP_FIELD = 2;
/** User and system time, of the process and of its ended children. */
const CPU_FIELDS = { from: 11, to: 15 };
const BYTES_PER_KB = 1024;
/** Number of processes whose files are read at the same time. */
const BATCH_SIZE = 16;

type ReadText = (path: string) => Promise<string>;

/** By id of the process group: its usage, read in one pass over /proc. Empty on a system without /proc. */
export async function readGroupUsage(
  groups: ReadonlySet<number>,
  directory = '/proc',
  read: ReadText = (path) => readFile(path, 'latin1'),
): Promise<ReadonlyMap<number, GroupUsage>> {
  const usages = new Map<number, GroupUsage>();
  if (groups.size === 0) return usages;
  const entries = await readdir(directory).catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name));
  for (let start = 0; start < pids.length; start += BATCH_SIZE)
    await Promise.all(
      pids
        .slice(start, start + BATCH_SIZE)
        .map((pid) => addProcess(`${directory}/${pid}`, groups, usages, read)),
    );
  return usages;
}

/** Adds the usage of one process to that of its group. Does nothing if the process has ended. */
async function addProcess(
  path: string,
  groups: ReadonlySet<number>,
  usages: Map<number, GroupUsage>,
  read: ReadText,
): Promise<void> {
  const stat = await read(`${path}/stat`).catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const group = Number(fields[GROUP_FIELD]);
  if (!groups.has(group)) return;
  const status = await read(`${path}/status`).catch(() => '');
  const residentKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  const ticks = fields.slice(CPU_FIELDS.from, CPU_FIELDS.to).reduce((sum, field) => sum + Number(field), 0);
  const usage = usages.get(group) ?? { residentBytes: 0, cpuSeconds: 0 };
  usage.residentBytes += residentKb * BYTES_PER_KB;
  usage.cpuSeconds += ticks / TICKS_PER_SECOND;
  usages.set(group, usage);
}
