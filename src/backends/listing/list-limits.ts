import { MAX_URI_BYTES } from '../../core/resources/resource-uri.js';

/** How much of a list is taken. A server that pages for ever, or offers more than this, is cut off there. */
export interface ListLimits {
  readonly maxPages: number;
  readonly maxItems: number;
  readonly timeoutMs: number;
  /** Characters of one definition. A page of the gateway has up to a thousand of them and has to stay one text. */
  readonly maxDefinitionLength: number;
  /** Characters of the whole list, cursors included: what one server may take of everybody's memory. */
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

/** A million at the three hundred characters that they usually have, and some to spare. */
export const RESOURCE_LIST_LIMITS: ListLimits = {
  maxPages: 20_000,
  maxItems: 1_000_000,
  timeoutMs: 30_000,
  maxDefinitionLength: 64 * KB,
  maxTotalLength: 512 * MB,
};

/** Any of them may be what a URI is an instance of, so that all of them are looked at. */
export const TEMPLATE_LIST_LIMITS: ListLimits = {
  ...DEFAULT_LIST_LIMITS,
  maxItems: 10_000,
  maxDefinitionLength: 64 * KB,
};

/** All cursors of a list are remembered, to see when it goes in circles. */
export const MAX_CURSOR_LENGTH = 8192;

/** Nobody could ask for what has a longer name: what a URI may have includes the server before it. */
export const MAX_KEY_BYTES = MAX_URI_BYTES - 'resource://'.length - 64 - '/'.length;
