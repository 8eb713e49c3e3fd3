import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { chmod, link, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoggerService } from '@nestjs/common';
import { removeQuietly, syncDirectory, writeDurably } from '../state/durable-write.js';
import { StateError } from '../state/state-error.js';
import { errnoOf } from '../state/storage-failure.js';
import type { AdminSettings } from '../config/admin-settings.js';
import { readBearerToken } from '../edge/auth/bearer-token.js';

/** `admin` has all rights, `viewer` may only read. */
export type AdminRole = (typeof ADMIN_ROLES)[number];
export const ADMIN_ROLES = ['admin', 'viewer'] as const;

/** Name of the file in stateDir with the generated admin token. */
export const ADMIN_TOKEN_FILE = 'admin-token';
const TOKEN_BYTES = 32;
const VALID_TOKEN = /^[\x21-\x7e]{16,512}$/;
/** Error codes of file systems without hard links. */
const NO_HARD_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Authenticates administrators and viewers by their bearer tokens. */
export class AdminTokens {
  private readonly digests: readonly { readonly role: AdminRole; readonly digest: Buffer }[];

  constructor(
    readonly adminToken: string,
    private readonly viewerToken?: string,
  ) {
    const viewer =
      viewerToken === undefined ? [] : [{ role: 'viewer' as const, digest: digestOf(viewerToken) }];
    this.digests = [{ role: 'admin', digest: digestOf(adminToken) }, ...viewer];
  }

  /**
   * Uses the admin token of the configuration. If it has none, uses the token in the file `ADMIN_TOKEN_FILE` of `directory`.
   * If this file does not exist, creates it with a generated token.
   */
  static async open(
    { token, viewerToken }: AdminSettings,
    directory: string,
    logger: LoggerService,
  ): Promise<AdminTokens> {
    return new AdminTokens(token ?? (await readOrCreateToken(directory, logger)), viewerToken);
  }

  /** The role of an Authorization header; undefined for an unknown token. */
  roleOf(authorization: string | undefined): AdminRole | undefined {
    const bearer = readBearerToken(authorization);
    if (bearer.kind !== 'token') return undefined;
    const digest = digestOf(bearer.token);
    // Compares with all digests, each in constant time, so that the duration does not tell which token matches.
    const matching = this.digests.filter((entry) => timingSafeEqual(entry.digest, digest));
    return matching[0]?.role;
  }

  /** Values that must not appear in a log or a response. */
  get secrets(): readonly string[] {
    return this.viewerToken === undefined ? [this.adminToken] : [this.adminToken, this.viewerToken];
  }
}

/** Digests have the same length for tokens of any length, as `timingSafeEqual` requires. */
const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

async function readOrCreateToken(directory: string, logger: LoggerService): Promise<string> {
  const path = join(directory, ADMIN_TOKEN_FILE);
  const existing = await readToken(path, logger);
  if (existing !== undefined) return existing;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  // If another gateway has created the file in the meantime, its token is used.
  if (!(await createTokenFile(path, token))) return readOrCreateToken(directory, logger);
  await syncDirectory(directory);
  logger.log({ message: 'an admin token was generated', path }, 'Admin');
  return token;
}

/** Creates the file atomically. Resolves with false when it exists already. */
async function createTokenFile(path: string, token: string): Promise<boolean> {
  const temporaryPath = `${path}.${randomUUID()}`;
  await writeDurably(temporaryPath, `${token}\n`);
  try {
    await link(temporaryPath, path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return false;
    if (!NO_HARD_LINKS.has(errno)) throw error;
    await rename(temporaryPath, path);
  } finally {
    await removeQuietly(temporaryPath);
  }
  return true;
}

async function readToken(path: string, logger: LoggerService): Promise<string | undefined> {
  try {
    const token = (await readFile(path, 'utf8')).trim();
    if (!VALID_TOKEN.test(token))
      throw new StateError(
        path,
        'it contains no valid token',
        'Delete the file to have a new token generated.',
      );
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      logger.warn(
        { message: 'the admin token file was readable by other users; its mode is now 0600', path },
        'Admin',
      );
      await chmod(path, 0o600);
    }
    return token;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
