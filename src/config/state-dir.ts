import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { StartError } from './start-error.js';

/** The directory of the durable state. */
export class StateDir {
  readonly path: string;

  /** A relative path is resolved against the working directory of the gateway. */
  constructor(path: string) {
    this.path = resolve(path);
  }

  /** Creates the directory if it is missing. Throws a StartError if it cannot be created or written. */
  requireWritable(): void {
    try {
      makeDirectory(this.path);
      // A write checks the rights of the effective user. `fs.access` would check those of the real user.
      rmdirSync(mkdtempSync(join(this.path, '.write-check-')));
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const remedy = code === 'ENOSPC' ? 'free space' : 'give this user the right to write';
      throw new StartError(
        `cannot write to stateDir ${this.path} (${code}): ${remedy} there, ` +
          'or choose another directory with stateDir or GATEHOUSE__STATEDIR',
        { cause },
      );
    }
  }

  /**
   * Creates the directory with mode 0700. An existing directory keeps its mode; a warning is logged if the mode gives other
   * users access.
   */
  create(): this {
    makeDirectory(this.path);
    const mode = statSync(this.path).mode & 0o777;
    const isOpenToOthers = (mode & 0o077) !== 0;
    if (process.platform !== 'win32' && isOpenToOthers)
      new Logger('State').warn({
        message:
          'stateDir gives rights to other users, and the files in it are secret; restrict it to its owner',
        path: this.path,
        mode: mode.toString(8).padStart(4, '0'),
        fix: `chmod 700 ${this.path}`,
      });
    return this;
  }
}

/**
 * Creates a directory and its parents. The `recursive` option of `mkdirSync` is not used: with it, the call never returns if an
 * existing parent refuses the new directory with ENOENT, as `/proc` does.
 */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeDirectory(parent);
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    const isMadeMeanwhile = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (!isMadeMeanwhile) throw error;
  }
}
