import { readdir, readFile } from 'node:fs/promises';

/**
 * Whether anybody in a process group still runs. kill(2) cannot say so: it also finds the dead whom nobody has
 * collected, and an orphan waits for PID 1, which in a container may take its time or never come.
 */
export async function hasLivingMember(group: number): Promise<boolean> {
  try {
    for (const entry of await readdir('/proc')) {
      if (isNumber(entry) && (await runsIn(group, entry))) return true;
    }
    return false;
  } catch {
    // No /proc on this system: believe kill(2).
    return true;
  }
}

const isNumber = (text: string): boolean => /^\d+$/.test(text);

async function runsIn(group: number, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // `pid (name) state parent group …`, and the name may hold anything, brackets too.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  return Number(processGroup) === group && state !== 'Z' && state !== 'X';
}
