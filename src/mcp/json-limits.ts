import type { JsonLimits } from '../lib/json-text/json-scanner.js';

const MAX_DEPTH = 64;

/** Limits of one body of a client or an administrator. */
export const CLIENT_JSON_LIMITS: JsonLimits = { maxDepth: MAX_DEPTH, maxMembers: 100_000 };

/** Limits of one message of a server: a page of a list may have fifty thousand resources with dozens of members each. */
export const SERVER_JSON_LIMITS: JsonLimits = { maxDepth: MAX_DEPTH, maxMembers: 2_000_000 };
