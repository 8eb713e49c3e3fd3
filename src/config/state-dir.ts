import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/** The directory of the durable state. */
export class StateDir {
  readonly path: string;

  /** A relative path is resolved against the working directory of the gateway. */
  constructor(path: string) {
    this.path = resolve(path);
  }

  /** Creates the directory with mode 0700. */
  create(): this {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    return this;
  }
}
