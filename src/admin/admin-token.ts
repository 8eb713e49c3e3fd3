import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { chmod, link, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoggerService } from '@nestjs/common';
import { removeQuietly, syncDirectory, writeDurably } from '../state/durable-write.js';
import { StateError } from '../state/state-error.js';
import { errnoOf } from '../state/storage-failure.js';
import type { AdminSettings } from '../config/admin-settings.js';
import { readBearerToken } from '../edge/auth/bearer-token.js';

/** `admin` may do everything, `viewer` may look. */
export type AdminRole = 'admin' | 'viewer';

const FILE = 'admin-token';
const TOKEN_BYTES = 32;
const USABLE = /^[\x21-\x7e]{16,512}$/;
/** File systems without hard links say so in these words. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** What administrators prove themselves with. */
export class AdminToken {
  private readonly digests: readonly { readonly role: AdminRole; readonly digest: Buffer }[];

  constructor(
    private readonly token: string,
    private readonly viewerToken?: string,
  ) {
    const viewer =
      viewerToken === undefined ? [] : [{ role: 'viewer' as const, digest: digestOf(viewerToken) }];
    this.digests = [{ role: 'admin', digest: digestOf(token) }, ...viewer];
  }

  /** The token of the config, else the one in the directory, which is made when it is not there yet. */
  static async open(
    { token, viewerToken }: AdminSettings,
    directory: string,
    logger: LoggerService,
  ): Promise<AdminToken> {
    return new AdminToken(token ?? (await tokenIn(directory, logger)), viewerToken);
  }

  /** Who sends this Authorization header; undefined when nobody we know does. */
  roleOf(authorization: string | undefined): AdminRole | undefined {
    const bearer = readBearerToken(authorization);
    if (bearer.kind !== 'token') return undefined;
    const digest = digestOf(bearer.token);
    // Every digest is compared, and each in constant time.
    const found = this.digests.filter((known) => timingSafeEqual(known.digest, digest));
    return found[0]?.role;
  }

  /** What must not appear in any log or answer. */
  get secrets(): readonly string[] {
    return this.viewerToken === undefined ? [this.token] : [this.token, this.viewerToken];
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

async function tokenIn(directory: string, logger: LoggerService): Promise<string> {
  const path = join(directory, FILE);
  const found = await readToken(path, logger);
  if (found !== undefined) return found;
  const token = await keep(path, randomBytes(TOKEN_BYTES).toString('base64url'));
  await syncDirectory(directory);
  logger.log({ message: 'an admin token was generated', path }, 'Admin');
  return token ?? (await tokenIn(directory, logger));
}

/** Nobody ever sees half a token, and of two gateways that start at once both end up with the same. */
async function keep(path: string, token: string): Promise<string | undefined> {
  const draft = `${path}.${randomUUID()}`;
  await writeDurably(draft, `${token}\n`);
  try {
    await link(draft, path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return undefined;
    if (!NO_LINKS.has(errno)) throw error;
    await rename(draft, path);
  } finally {
    await removeQuietly(draft);
  }
  return token;
}

async function readToken(path: string, logger: LoggerService): Promise<string | undefined> {
  try {
    const token = (await readFile(path, 'utf8')).trim();
    if (!USABLE.test(token))
      throw new StateError(path, 'it holds no token', 'Delete it to have a new one generated.');
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      logger.warn({ message: 'others could read the admin token; they no longer can', path }, 'Admin');
      await chmod(path, 0o600);
    }
    return token;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
