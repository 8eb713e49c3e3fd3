import type { Era } from '../../core/errors.js';
import { MODERN_VERSION } from '../envelope.js';
import { JsonRpcError } from '../json-rpc-error.js';
import type { Revision } from './revision.js';

/** The methods of the requests of revision 2026-07-28. */
const METHODS: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
]);

const ERA: Era = '2026';

/**
 * Revision 2026-07-28. What differs in its results is not among these members: `modernResult` adds what the revision requires
 * in a result.
 */
export const MODERN_REVISION: Revision = {
  version: MODERN_VERSION,
  era: ERA,
  allowsBatches: false,
  methods: METHODS,
  errorOf: (exception) => JsonRpcError.from(exception, ERA),
  primer: () => undefined,
};

export const MODERN_VERSIONS: readonly string[] = [MODERN_REVISION.version];

/**
 * Whether the text is the version of a revision without sessions: 2026-07-28 or a later date. The gateway does not support the
 * later revisions.
 */
export const isModernVersion = (version: string): boolean =>
  version === MODERN_REVISION.version ||
  (version > MODERN_REVISION.version && /^\d{4}-\d\d-\d\d$/.test(version));
