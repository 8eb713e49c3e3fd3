import type { Era } from '../../core/errors.js';

/** What differs between the revisions a session can be on. Nothing else compares version strings. */
export interface Revision {
  readonly version: string;
  /** Which numbers its errors have. */
  readonly era: Era;
  /** Several messages in one POST, as an array. */
  readonly batches: boolean;
  /** A stream begins with an empty event, so that a client can resume before the first message. */
  readonly primesStreams: boolean;
}

export const LATEST: Revision = { version: '2025-11-25', era: '2025', batches: false, primesStreams: true };

/** Newest first. */
const REVISIONS: readonly Revision[] = [
  LATEST,
  { version: '2025-06-18', era: '2025', batches: false, primesStreams: false },
  { version: '2025-03-26', era: '2025', batches: true, primesStreams: false },
  { version: '2024-11-05', era: '2025', batches: false, primesStreams: false },
  { version: '2024-10-07', era: '2025', batches: false, primesStreams: false },
];

export const revisionOf = (version: unknown): Revision | undefined =>
  REVISIONS.find((revision) => revision.version === version);

export const SUPPORTED_VERSIONS: readonly string[] = REVISIONS.map((revision) => revision.version);
