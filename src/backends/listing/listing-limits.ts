import { LONGEST_URI } from '../../core/resources/uri-length.js';

/** How much of a list is taken. A server that pages for ever, or offers more than this, is cut off there. */
export interface ListingLimits {
  readonly pages: number;
  readonly items: number;
  readonly timeoutMs: number;
  /** Characters of one definition. A page of the gateway has up to a thousand of them and has to stay one text. */
  readonly definition: number;
  /** Characters of the whole list, cursors included: what one server may take of everybody's memory. */
  readonly total: number;
}

const KB = 1024;
const MB = 1024 * KB;

/** Tools have schemas, which may be long. */
export const LISTING_LIMITS: ListingLimits = {
  pages: 1000,
  items: 100_000,
  timeoutMs: 30_000,
  definition: 256 * KB,
  total: 128 * MB,
};

/** A million at the three hundred characters that they usually have, and some to spare. */
export const RESOURCE_LIMITS: ListingLimits = {
  pages: 20_000,
  items: 1_000_000,
  timeoutMs: 30_000,
  definition: 64 * KB,
  total: 512 * MB,
};

/** Any of them may be what a URI is an instance of, so that all of them are looked at. */
export const TEMPLATE_LIMITS: ListingLimits = { ...LISTING_LIMITS, items: 10_000, definition: 64 * KB };

/** All cursors of a list are remembered, to see when it goes in circles. */
export const LONGEST_CURSOR = 8192;

/** Nobody could ask for what has a longer name: what a URI may have includes the server before it. */
export const LONGEST_KEY = LONGEST_URI - 'resource://'.length - 64 - '/'.length;
