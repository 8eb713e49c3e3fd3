import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { removeQuietly } from './durable-write.js';
import { competingClaims, type CompetingClaim } from './competing-claims.js';
import { ownIdentity } from './process-identity.js';

export interface LockTiming {
  readonly heartbeatMs: number;
  /** How long a claim is valid without a heartbeat when its process is in another container or on another machine. */
  readonly leaseMs: number;
  /**
   * How long a process retries although another one was found running. Two processes that start at once both withdraw their
   * claims and retry after random delays, until one succeeds.
   */
  readonly contentionMs: number;
}

/** A file that claims a directory for this process. A heartbeat updates its modification time while the process runs. */
export class LockClaim {
  private readonly timer: NodeJS.Timeout;
  private readonly removeAtExit = (): void => {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // The next gateway detects that this process has ended.
    }
  };

  private constructor(
    private readonly path: string,
    private readonly text: string,
    private readonly file: FileHandle,
    private readonly timing: LockTiming,
  ) {
    this.timer = setInterval(() => void this.writeHeartbeat(), timing.heartbeatMs).unref();
    process.once('exit', this.removeAtExit);
  }

  /** Creates the claim atomically. It exists until `withdraw`, or until the process ends. */
  static async place(directory: string, timing: LockTiming): Promise<LockClaim> {
    // The name is unique, so that a process that removes the claim of a dead one cannot remove a newer claim.
    const path = join(directory, `lock-${randomBytes(8).toString('hex')}`);
    const text = `${JSON.stringify(ownIdentity())}\n`;
    const temporary = `${path}.tmp`;
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await rename(temporary, path);
    } catch (error) {
      await file.close();
      await removeQuietly(temporary);
      throw error;
    }
    return new LockClaim(path, text, file, timing);
  }

  /** False after another process has considered this process dead and removed the claim. */
  async isHeld(): Promise<boolean> {
    // The file stays open after its removal, and then has no name left.
    const { nlink: nameCount } = await this.file.stat();
    return nameCount > 0;
  }

  /** The valid claims of other processes. */
  async competing(): Promise<CompetingClaim[]> {
    // The claim was just written, so its modification time is the time of the file system.
    const { mtimeMs } = await this.file.stat();
    return competingClaims(this.path, mtimeMs, this.timing.leaseMs);
  }

  /** Removes the claim. */
  async withdraw(): Promise<void> {
    clearInterval(this.timer);
    process.off('exit', this.removeAtExit);
    await removeQuietly(this.path);
    await this.file.close();
  }

  /**
   * Writes the text again instead of setting the modification time, so that all times come from the clock of the file
   * system.
   */
  private async writeHeartbeat(): Promise<void> {
    await this.file.write(this.text, 0).catch(() => undefined);
  }
}
