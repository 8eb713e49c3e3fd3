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
    private readonly token: string,
    private readonly viewerToken?: string,
  ) {
    const viewer =
      viewerToken === undefined ? [] : [{ role: 'viewer' as const, digest: digestOf(viewerToken) }];
    this.digests = [{ role: 'admin', digest: digestOf(token) }, ...viewer];
  }

  /** Uses the token of the configuration, otherwise that of the file in `directory`. A missing file gets a generated token. */
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
    // Compares with every digest, each in constant time.
    const matching = this.digests.filter((known) => timingSafeEqual(known.digest, digest));
    return matching[0]?.role;
  }

  /** Values that must not appear in a log or a response. */
  get secrets(): readonly string[] {
    return this.viewerToken === undefined ? [this.token] : [this.token, this.viewerToken];
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

async function readOrCreateToken(directory: string, logger: LoggerService): Promise<string> {
  const path = join(directory, ADMIN_TOKEN_FILE);
  const existing = await readToken(path, logger);
  if (existing !== undefined) return existing;
  const token = await createToken(path, randomBytes(TOKEN_BYTES).toString('base64url'));
  if (token === undefined) return readOrCreateToken(directory, logger);
  await syncDirectory(directory);
  logger.log({ message: 'an admin token was generated', path }, 'Admin');
  return token;
}

/** Writes the file atomically. Resolves with undefined when another gateway has created it first. */
async function createToken(path: string, token: string): Promise<string | undefined> {
  const temporaryPath = `${path}.${randomUUID()}`;
  await writeDurably(temporaryPath, `${token}\n`);
  try {
    await link(temporaryPath, path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return undefined;
    if (!NO_HARD_LINKS.has(errno)) throw error;
    await rename(temporaryPath, path);
  } finally {
    await removeQuietly(temporaryPath);
  }
  return token;
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
