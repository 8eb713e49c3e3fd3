import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { removeQuietly } from './durable-write.js';
import { rivalsOf, type Rival } from './lock-rivals.js';
import type { LockTiming } from './lock-timing.js';
import { ownIdentity } from './process-identity.js';

/** A file that says that this process uses a directory. It beats as long as the process does. */
export class LockClaim {
  private readonly beating: NodeJS.Timeout;
  private readonly removeAtExit = (): void => {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // The next gateway sees that this process is gone.
    }
  };

  private constructor(
    private readonly path: string,
    private readonly text: string,
    private readonly file: FileHandle,
    private readonly timing: LockTiming,
  ) {
    this.beating = setInterval(() => void this.beat(), timing.beat).unref();
    process.once('exit', this.removeAtExit);
  }

  /** The claim appears whole or not at all. Ends with `withdraw`. */
  static async place(directory: string, timing: LockTiming): Promise<LockClaim> {
    // Never the same name twice: who removes the claim of a dead process cannot hit that of a living one.
    const path = join(directory, `lock-${randomBytes(8).toString('hex')}`);
    const text = `${JSON.stringify(ownIdentity())}\n`;
    const unnamed = `${path}.tmp`;
    const file = await open(unnamed, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await rename(unnamed, path);
    } catch (error) {
      await file.close();
      await removeQuietly(unnamed);
      throw error;
    }
    return new LockClaim(path, text, file, timing);
  }

  /** False once somebody took this process for dead and removed the claim. */
  async stands(): Promise<boolean> {
    const { nlink } = await this.file.stat();
    return nlink > 0;
  }

  async rivals(): Promise<Rival[]> {
    const { mtimeMs } = await this.file.stat();
    return rivalsOf(this.path, mtimeMs, this.timing.lease);
  }

  async withdraw(): Promise<void> {
    clearInterval(this.beating);
    process.off('exit', this.removeAtExit);
    await removeQuietly(this.path);
    await this.file.close();
  }

  /** By writing and not by setting the time, so that all times come from the one clock of the file system. */
  private async beat(): Promise<void> {
    await this.file.write(this.text, 0).catch(() => undefined);
  }
}
