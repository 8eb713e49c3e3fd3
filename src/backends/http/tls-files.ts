import { readFileSync } from 'node:fs';
import type { buildConnector } from 'undici';
import { fingerprintOf } from '../../config/config-reloader.js';
import type { ServerTls } from '../../config/http-server-config.js';

type TlsMaterial = Readonly<Partial<Record<keyof ServerTls, Buffer>>>;

/** The certificates and the key of one server. Files are read again when they change. */
export class TlsFiles {
  private fingerprint: string | undefined;
  private material: TlsMaterial = {};

  constructor(private readonly paths: ServerTls) {}

  /** The same object as before while no file has changed. Throws when a file cannot be read. */
  current(): TlsMaterial {
    const paths = Object.entries(this.paths) as [keyof ServerTls, string | undefined][];
    const used = paths.flatMap(([name, path]) => (path === undefined ? [] : [[name, path] as const]));
    const fingerprint = used.map(([, path]) => fingerprintOf(path)).join();
    if (fingerprint === this.fingerprint) return this.material;
    this.material = Object.fromEntries(used.map(([name, path]) => [name, readFileSync(path)]));
    this.fingerprint = fingerprint;
    return this.material;
  }
}

/** Like `create`, with the current files for every connection. */
export function withTlsFiles(create: typeof buildConnector, files: TlsFiles): typeof buildConnector {
  let lastUsed: TlsMaterial | undefined;
  return (options = {}) => {
    let connect: buildConnector.connector | undefined;
    let usedHere: TlsMaterial | undefined;
    return (target, callback) => {
      let material: TlsMaterial;
      try {
        material = files.current();
      } catch (error) {
        queueMicrotask(() => callback(error as Error, null));
        return;
      }
      if (material !== usedHere || !connect) {
        // A resumed session would skip the verification with the new certificates.
        const session = material === lastUsed ? (options as { session?: Buffer }).session : undefined;
        connect = create({ ...options, ...material, session });
        usedHere = material;
        lastUsed = material;
      }
      connect(target, callback);
    };
  };
}
