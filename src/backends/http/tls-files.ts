import { readFileSync } from 'node:fs';
import type { buildConnector } from 'undici';
import { fingerprintOf } from '../../config/config-reloader.js';
import type { ServerTls } from '../../config/http-server-config.js';

type TlsMaterial = Readonly<Partial<Record<keyof ServerTls, Buffer>>>;

/** The certificates and the key for connections to one server. Files are read again when they have changed. */
export class TlsFiles {
  private fingerprint: string | undefined;
  private material: TlsMaterial = {};

  constructor(private readonly paths: ServerTls) {}

  /** The contents of the files: the same object as long as no file has changed. Throws when a file cannot be read. */
  current(): TlsMaterial {
    const paths = Object.entries(this.paths) as [keyof ServerTls, string | undefined][];
    const configured = paths.flatMap(([name, path]) => (path === undefined ? [] : [[name, path] as const]));
    const fingerprint = configured.map(([, path]) => fingerprintOf(path)).join();
    if (fingerprint === this.fingerprint) return this.material;
    this.material = Object.fromEntries(configured.map(([name, path]) => [name, readFileSync(path)]));
    this.fingerprint = fingerprint;
    return this.material;
  }
}

/** Like `create`, but each connection uses the current contents of the files. */
export function withTlsFiles(create: typeof buildConnector, files: TlsFiles): typeof buildConnector {
  /** What the latest connection of all connectors used. */
  let latestMaterial: TlsMaterial | undefined;
  return (options = {}) => {
    let connect: buildConnector.connector | undefined;
    /** What `connect` uses. */
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
