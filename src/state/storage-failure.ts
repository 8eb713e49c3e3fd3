import { GatewayError } from '../core/errors.js';
import { StateError } from './state-error.js';

/** Disk full, user quota, or file size limit of the process. */
const FULL_ERRNOS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The errno of a failed system call; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  return 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

/**
 * Converts a StateError, or the error of a failed system call, to a GatewayError of the kind `storage-full` or
 * `storage-unavailable`. Returns any other error unchanged.
 */
export function storageFailure(error: unknown, path: string): unknown {
  if (error instanceof StateError) return storageUnavailable(error.message, { cause: error });
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  return FULL_ERRNOS.has(errno)
    ? storageFull(`no space left for ${path} (${errno})`, { cause: error })
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

/**
 * Whether the error is such a GatewayError. False for a StateError (unusable content, or a lock of another gateway) that
 * `storageFailure` has not converted.
 */
export const isStorageError = (error: unknown): boolean =>
  error instanceof GatewayError && (error.kind === 'storage-full' || error.kind === 'storage-unavailable');
