import type { JsonLimits } from '../lib/json-text/json-scanner.js';

/** Maximum nesting of objects and arrays. */
const MAX_DEPTH = 64;

/** Limits of the body of one request of a client or an administrator. */
export const CLIENT_JSON_LIMITS: JsonLimits = { maxDepth: MAX_DEPTH, maxMembers: 100_000 };

/** Limits of one message of a server. One page of a list may have fifty thousand resources with dozens of members each. */
export const SERVER_JSON_LIMITS: JsonLimits = { maxDepth: MAX_DEPTH, maxMembers: 2_000_000 };
