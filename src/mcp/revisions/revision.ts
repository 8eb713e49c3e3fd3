import type { Era } from '../../core/errors.js';
import type { EventFrame } from '../event-frame.js';
import type { JsonRpcError } from '../json-rpc-error.js';
import { LEGACY_REVISIONS } from './legacy.js';

/** What differs between protocol revisions. Other code uses these members instead of comparing versions. */
export interface Revision {
  readonly version: string;
  /** The family of revisions: those of one era have the same methods and errors. */
  readonly era: Era;
  /** Whether a POST may hold several messages, as an array. */
  readonly allowsBatches: boolean;
  /** A request of any other method is answered with "method not found". */
  readonly methods: Pick<ReadonlySet<string>, 'has'>;
  /** The JSON-RPC error for an exception, with its code and HTTP status in this revision. */
  errorOf(exception: unknown): JsonRpcError;
  /** The event without data that begins a stream. Undefined in revisions whose clients may fail on such an event. */
  primer(stream: string, retryMs?: number): EventFrame | undefined;
}

/** The revisions that `initialize` may agree on, newest first. */
const REVISIONS: readonly Revision[] = LEGACY_REVISIONS;

/** The newest revision with `initialize`. Revision 2026-07-28 is newer, but has no `initialize`. */
export const [LATEST_REVISION]: readonly [Revision, ...Revision[]] = LEGACY_REVISIONS;

/** The revision with `initialize` that has this version; undefined if there is none. */
export const revisionOf = (version: unknown): Revision | undefined =>
  REVISIONS.find((revision) => revision.version === version);

/** The versions of the revisions with `initialize`, newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = REVISIONS.map((revision) => revision.version);
