import { MAX_SERVER_ID_LENGTH } from '../../core/naming/naming.js';
import { MAX_URI_BYTES } from '../../core/resources/resource-uri.js';

/** Limits of one fetched list. */
export interface ListLimits {
  /** A list with more pages is truncated. */
  readonly maxPages: number;
  /** A list with more items is truncated. */
  readonly maxItems: number;
  /** Timeout of the request for one page. If it expires, the fetch of the list fails. */
  readonly timeoutMs: number;
  /** A definition with more characters is left out. */
  readonly maxDefinitionLength: number;
  /** A list with more characters, cursors included, is truncated, because one server must not use too much memory. */
  readonly maxTotalLength: number;
}

const KB = 1024;
const MB = 1024 * KB;

/** Limits for tools and prompts. The schema of a tool may be long. */
export const DEFAULT_LIST_LIMITS: ListLimits = {
  maxPages: 1000,
  maxItems: 100_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 256 * KB,
  maxTotalLength: 128 * MB,
};

/** Limits for resources: enough for a million resources of the usual three hundred characters. */
export const RESOURCE_LIST_LIMITS: ListLimits = {
  maxPages: 20_000,
  maxItems: 1_000_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 64 * KB,
  maxTotalLength: 512 * MB,
};

/** Limits for templates. They allow fewer items, because a URI may be matched against all templates. */
export const TEMPLATE_LIST_LIMITS: ListLimits = {
  ...DEFAULT_LIST_LIMITS,
  maxItems: 10_000,
  maxDefinitionLength: 64 * KB,
};

/**
 * Limits for each list of one link owner (`isolation: session`). If a list exceeds them, the owner keeps its previous list or,
 * if it has none, uses the list of the shared link.
 */
export const SESSION_LIST_LIMITS: ListLimits = {
  maxPages: 100,
  maxItems: 10_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 256 * KB,
  maxTotalLength: 4 * MB,
};

/** A list with a longer cursor is truncated. All cursors of a list are kept in memory during the fetch, to detect a loop. */
export const MAX_CURSOR_LENGTH = 8192;

/**
 * A definition with a longer name or own URI is left out, so that the public URI, `resource://<server>/<own URI>`, fits
 * into the URI limit.
 */
export const MAX_KEY_BYTES = MAX_URI_BYTES - 'resource://'.length - MAX_SERVER_ID_LENGTH - '/'.length;
