import { mkdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';

/** The directory of the durable state. */
export class StateDir {
  readonly path: string;

  /** A relative path is resolved against the working directory of the gateway. */
  constructor(path: string) {
    this.path = resolve(path);
  }

  /**
   * Creates the directory with mode 0700. An existing directory keeps its mode; a mode that gives others access is
   * reported.
   */
  create(): this {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const mode = statSync(this.path).mode & 0o777;
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
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
