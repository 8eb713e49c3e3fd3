import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../storage-failure.js';

/** Paths of the files of an audit log. Each full file gets the next number, so that no file replaces an earlier one. */
export class AuditFiles {
  readonly directory: string;
  /** Path of the file that names the last written entry: see `readHead`. */
  readonly headPath: string;

  constructor(readonly currentPath: string) {
    this.directory = dirname(currentPath);
    this.headPath = `${currentPath.replace(/\.jsonl$/, '')}.head`;
  }

  /** Path of the full file with this number. */
  fullFilePath(number: number): string {
    return `${this.currentPath}.${number}`;
  }

  /** Path of the file to which an incomplete line at the end of the log is moved. A crash may leave such a line. */
  tornPath(time: Date): string {
    return `${this.currentPath}.torn-${time.toISOString().replaceAll(':', '-')}`;
  }

  /** The number of the latest full file; 0 if there is none. */
  async lastFullNumber(): Promise<number> {
    const prefix = `${basename(this.currentPath)}.`;
    const names = (await namesIn(this.directory)).filter((name) => name.startsWith(prefix));
    const numbers = names.map((name) => name.slice(prefix.length)).filter((suffix) => /^\d+$/.test(suffix));
    return Math.max(0, ...numbers.map(Number));
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
