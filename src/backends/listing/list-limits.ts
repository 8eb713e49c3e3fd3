import { MAX_URI_BYTES } from '../../core/resources/resource-uri.js';

/** Limits of one fetched list. A list that exceeds them is truncated there. */
export interface ListLimits {
  readonly maxPages: number;
  readonly maxItems: number;
  /** Of one page. */
  readonly timeoutMs: number;
  /** Characters of one definition: up to a thousand definitions are joined to one page for clients. */
  readonly maxDefinitionLength: number;
  /** Characters of the whole list, cursors included: the memory that one server may use. */
  readonly maxTotalLength: number;
}

const KB = 1024;
const MB = 1024 * KB;

/** Tools have schemas, which may be long. */
export const DEFAULT_LIST_LIMITS: ListLimits = {
  maxPages: 1000,
  maxItems: 100_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 256 * KB,
  maxTotalLength: 128 * MB,
};

/** A million resources of the usual three hundred characters, with a margin. */
export const RESOURCE_LIST_LIMITS: ListLimits = {
  maxPages: 20_000,
  maxItems: 1_000_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 64 * KB,
  maxTotalLength: 512 * MB,
};

/** Fewer items: a URI is matched against all templates. */
export const TEMPLATE_LIST_LIMITS: ListLimits = {
  ...DEFAULT_LIST_LIMITS,
  maxItems: 10_000,
  maxDefinitionLength: 64 * KB,
};

/** All cursors of a list are kept while it is fetched, to detect a loop. */
export const MAX_CURSOR_LENGTH = 8192;

/** Names and own URIs: the public URI, with scheme and server before the own one, must fit into the URI limit. */
export const MAX_KEY_BYTES = MAX_URI_BYTES - 'resource://'.length - 64 - '/'.length;
