import { readFileSync } from 'node:fs';
import type { buildConnector } from 'undici';
import { fingerprintOf } from '../../config/config-reloader.js';
import type { ServerTls } from '../../config/http-server-config.js';

type TlsMaterial = Readonly<Partial<Record<keyof ServerTls, Buffer>>>;

/** The certificates and the key for connections to one server. Files are read again when they have changed. */
export class TlsFiles {
  /** The versions of the files from which `material` was read. */
  private versions: string | undefined;
  private material: TlsMaterial = {};

  constructor(private readonly paths: ServerTls) {}

  /** The contents of the files: the same object as long as no file has changed. Throws when a file cannot be read. */
  current(): TlsMaterial {
    const paths = Object.entries(this.paths) as [keyof ServerTls, string | undefined][];
    const configured = paths.flatMap(([name, path]) => (path === undefined ? [] : [[name, path] as const]));
    const versions = configured.map(([, path]) => fingerprintOf(path)).join();
    if (versions === this.versions) return this.material;
    this.material = Object.fromEntries(configured.map(([name, path]) => [name, readFileSync(path)]));
    this.versions = versions;
    return this.material;
  }
}

/** Like `create`, but each connection uses the current contents of the files. */
export function withTlsFiles(create: typeof buildConnector, files: TlsFiles): typeof buildConnector {
  /** The material of the latest connection, whichever connector opened it. */
  let latestMaterial: TlsMaterial | undefined;
  return (options = {}) => {
    let connect: buildConnector.connector | undefined;
    /** The material of `connect`. */
    let connectMaterial: TlsMaterial | undefined;
    return (target, callback) => {
      let material: TlsMaterial;
      try {
        material = files.current();
      } catch (error) {
        queueMicrotask(() => callback(error as Error, null));
        return;
      }
      if (material !== connectMaterial || !connect) {
        // A resumed TLS session would skip the verification with the new certificates.
        const session = material === latestMaterial ? (options as { session?: Buffer }).session : undefined;
        connect = create({ ...options, ...material, session });
        connectMaterial = material;
        latestMaterial = material;
      }
      connect(target, callback);
    };
  };
}
