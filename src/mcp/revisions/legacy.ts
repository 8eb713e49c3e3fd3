import type { Era } from '../../core/errors.js';
import { primingFrame, type EventFrame } from '../event-frame.js';
import { JsonRpcError } from '../json-rpc-error.js';

/** The methods of the requests of the revisions with sessions. */
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
]);

/** What differs between the revisions with sessions. */
interface RevisionDifferences {
  readonly version: string;
  readonly allowsBatches?: boolean;
  /** Whether a stream begins with an event without data. */
  readonly primesStreams?: boolean;
}

const ERA: Era = '2025';

const legacyRevision = ({ version, allowsBatches = false, primesStreams = false }: RevisionDifferences) => ({
  version,
  era: ERA,
  allowsBatches,
  methods: METHODS,
  errorOf: (exception: unknown): JsonRpcError => JsonRpcError.from(exception, ERA),
  primer: (stream: string, retryMs?: number): EventFrame | undefined =>
    primesStreams ? primingFrame(stream, retryMs) : undefined,
});

/** The revisions up to 2025-11-25, newest first. */
export const LEGACY_REVISIONS = [
  legacyRevision({ version: '2025-11-25', primesStreams: true }),
  legacyRevision({ version: '2025-06-18' }),
  legacyRevision({ version: '2025-03-26', allowsBatches: true }),
  legacyRevision({ version: '2024-11-05' }),
  legacyRevision({ version: '2024-10-07' }),
] as const;
