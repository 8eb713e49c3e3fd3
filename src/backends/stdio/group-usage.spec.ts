import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { tempDir } from '../../../test/kit/temp-dir.js';
import { until } from '../../../test/kit/until.js';
import { readGroupUsage } from './group-usage.js';

type Process = [pid: number, group: number, ticks: number, kb: number];

/** A directory like /proc with these processes: id, group, CPU ticks (four fields) and memory. */
function procWith(...processes: Process[]): string {
  const directory = tempDir();
  for (const [pid, group, ticks, kb] of processes) {
    mkdirSync(join(directory, String(pid)));
    const times = Array(4).fill(ticks).join(' ');
    writeFileSync(
      join(directory, `${pid}/stat`),
      `${pid} (a ) b) S 1 ${group} 1 0 -1 0 1 2 3 4 ${times} 20 0 1 0`,
    );
    writeFileSync(join(directory, `${pid}/status`), `Name:\ta\nVmRSS:\t${kb} kB\nThreads:\t1\n`);
  }
  // Like /proc/self, another name of a process.
  symlinkSync(String(processes[0]![0]), join(directory, 'self'));
  mkdirSync(join(directory, '999'));
  return directory;
}

describe('readGroupUsage', () => {
  it('adds up the processes of each group', async () => {
    const directory = procWith([10, 10, 100, 4], [11, 10, 25, 8], [20, 20, 50, 1], [30, 30, 9, 9]);
    expect(await readGroupUsage(new Set([10, 20, 40]), directory)).toEqual(
      new Map([
        [10, { residentBytes: 12 * 1024, cpuSeconds: 5 }],
        [20, { residentBytes: 1024, cpuSeconds: 2 }],
      ]),
    );
  });

  it('reads at most 16 files at the same time', async () => {
    const directory = procWith(...Array.from({ length: 40 }, (_, index): Process => [index + 1, 1, 1, 1]));
    let [open, most] = [0, 0];
    const read = async (path: string): Promise<string> => {
      most = Math.max(most, ++open);
      const content = await readFile(path, 'latin1').finally(() => open--);
      return content;
    };
    const usage = await readGroupUsage(new Set([1]), directory, read);
    expect([most, usage.get(1)!.residentBytes]).toEqual([16, 40 * 1024]);
  });

  it('returns nothing and reads no file without groups, and returns nothing without /proc', async () => {
    const paths: string[] = [];
    const read = (path: string): Promise<string> => Promise.resolve(String(paths.push(path)));
    expect(await readGroupUsage(new Set(), procWith([10, 10, 1, 1]), read)).toEqual(new Map());
    expect(paths).toEqual([]);
    expect(await readGroupUsage(new Set([10]), join(tempDir(), 'none'))).toEqual(new Map());
  });

  it('counts no memory of a process that ends while it is read', async () => {
    const directory = procWith([10, 10, 100, 4], [11, 10, 100, 4]);
    const ended = join(directory, '11/status');
    const read = (path: string): Promise<string> =>
      path === ended ? Promise.reject(new Error('ESRCH')) : readFile(path, 'latin1');
    const usage = await readGroupUsage(new Set([10]), directory, read);
    expect(usage.get(10)).toEqual({ residentBytes: 4096, cpuSeconds: 8 });
  });

  it('reads a real process and its child', async () => {
    const child = spawn('sh', ['-c', 'sleep 60 & wait'], { detached: true, stdio: 'ignore' });
    onCleanup(() => void process.kill(-child.pid!, 'SIGKILL'));
    // A process has less memory until it runs its program.
    const usage = await until('the programs run', async () => {
      const found = (await readGroupUsage(new Set([child.pid!]))).get(child.pid!);
      return found && found.residentBytes > 100_000 && found;
    });
    expect(usage.cpuSeconds).toBeGreaterThanOrEqual(0);
  });
});
