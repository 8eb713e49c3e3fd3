import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/** The directory for what must survive a restart. */
export class StateDir {
  readonly path: string;

  /** A relative path starts at the gateway's working directory. */
  constructor(path: string) {
    this.path = resolve(path);
  }

  /** Nobody but the gateway's own user may read what is kept there. */
  create(): this {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    return this;
  }
}
