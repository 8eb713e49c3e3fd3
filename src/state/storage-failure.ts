import { GatewayError } from '../core/errors.js';
import { StateError } from './state-error.js';

/** The disk, the user's quota or the process's own limit on files: in each case something has to make room. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What the operating system called a failure. Undefined when it was not the operating system. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  return 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

/** Says in the gateway's words that something could not be kept. What is no failure of storage stays what it is. */
export function storageFailure(error: unknown, path: string): unknown {
  if (error instanceof StateError) return storageUnavailable(error.message, { cause: error });
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  return FULL.has(errno)
    ? storageFull(`there is no room for ${path} (${errno})`, { cause: error })
    : storageUnavailable(`${path} cannot be written (${errno})`, { cause: error });
}

const storageFull = (why: string, options?: ErrorOptions): GatewayError =>
  new GatewayError('storage-full', `STORAGE_FULL: ${why}`, { code: 'STORAGE_FULL' }, options);

export const storageUnavailable = (why: string, options?: ErrorOptions): GatewayError =>
  new GatewayError(
    'storage-unavailable',
    `STORAGE_UNAVAILABLE: ${why}`,
    { code: 'STORAGE_UNAVAILABLE' },
    options,
  );

/** Whether it was the storage that refused, and not the content. */
export const isStorageFailure = (error: unknown): boolean =>
  error instanceof GatewayError && (error.kind === 'storage-full' || error.kind === 'storage-unavailable');
