import type { Era } from '../../core/errors.js';
import { MODERN_VERSION } from '../envelope.js';
import { JsonRpcError } from '../json-rpc-error.js';
import type { Revision } from './revision.js';

/** Requests of the revisions without sessions. */
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

/** Revision 2026-07-28. `modernResult` adds the members that only results of this revision have. */
export const MODERN_REVISION: Revision = {
  version: MODERN_VERSION,
  era: ERA,
  allowsBatches: false,
  methods: METHODS,
  errorOf: (exception) => JsonRpcError.from(exception, ERA),
  primer: () => undefined,
};

export const MODERN_VERSIONS: readonly string[] = [MODERN_REVISION.version];

/** Whether the text is the version of a revision without sessions, which the gateway may not know. Versions are dates. */
export const isModernVersion = (version: string): boolean =>
  version === MODERN_REVISION.version ||
  (version > MODERN_REVISION.version && /^\d{4}-\d\d-\d\d$/.test(version));
