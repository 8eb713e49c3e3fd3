import { MAX_URI_BYTES } from '../../core/resources/resource-uri.js';

/** Limits of one fetched list. A list that exceeds a limit is truncated. */
export interface ListLimits {
  readonly maxPages: number;
  readonly maxItems: number;
  /** Timeout of the request for one page. */
  readonly timeoutMs: number;
  /** Maximum characters of one definition. A page for clients joins up to a thousand definitions. */
  readonly maxDefinitionLength: number;
  /** Maximum characters of the whole list, cursors included. Limits the memory that one server may use. */
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

/** Enough for a million resources of the usual three hundred characters. */
export const RESOURCE_LIST_LIMITS: ListLimits = {
  maxPages: 20_000,
  maxItems: 1_000_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 64 * KB,
  maxTotalLength: 512 * MB,
};

/** Fewer items, because a URI is matched against all templates. */
export const TEMPLATE_LIST_LIMITS: ListLimits = {
  ...DEFAULT_LIST_LIMITS,
  maxItems: 10_000,
  maxDefinitionLength: 64 * KB,
};

/** Limited because all cursors of a list are kept while it is fetched, to detect a loop. */
export const MAX_CURSOR_LENGTH = 8192;

/** Limits names and own URIs, so that the public URI, `resource://<server>/<own URI>`, fits into the URI limit. */
export const MAX_KEY_BYTES = MAX_URI_BYTES - 'resource://'.length - 64 - '/'.length;
