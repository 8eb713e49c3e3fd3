import { isUriTooLong, MAX_URI_BYTES } from '../core/resources/resource-uri.js';
import type { Params } from '../mcp/json-rpc.js';

export const MAX_QUERY_LENGTH = 256;
const MAX_NAME_LENGTH = 8192;

export const DEFAULT_RESULTS = 20;
export const MAX_RESULTS = 100;
export const DEFAULT_SUMMARIES_PER_PAGE = 50;
export const MAX_PAGE_SIZE = 1000;

/**
 * The error for an invalid argument. Its message becomes a tool result with `isError`, so that the model can correct
 * it.
 */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** Validated access to the arguments of a meta tool call. */
export class ToolArguments {
  constructor(private readonly values: Params) {}

  get query(): string {
    const query = this.required('query', MAX_QUERY_LENGTH).trim();
    if (query === '') throw new ArgumentError('query must not be empty');
    return query;
  }

  /** The maximum length of a URI is in bytes, as everywhere in the gateway, so there is no maximum in characters. */
  get uri(): string {
    const uri = this.required('uri', Infinity);
    if (isUriTooLong(uri)) throw new ArgumentError(`uri must not be longer than ${MAX_URI_BYTES} bytes`);
    return uri;
  }

  get serverId(): string | undefined {
    return this.optional('serverId');
  }

  get mimeType(): string | undefined {
    return this.optional('mimeType');
  }

  /** Not validated here: `SummaryPager` verifies cursors. */
  get cursor(): unknown {
    return this.values['cursor'];
  }

  /** Maximum number of search results. */
  get limit(): number {
    return this.limitUpTo(MAX_RESULTS, DEFAULT_RESULTS);
  }

  /** Maximum number of summaries per page. */
  pageSize(defaultSize: number): number {
    return this.limitUpTo(MAX_PAGE_SIZE, defaultSize);
  }

  private limitUpTo(maximum: number, defaultLimit: number): number {
    const limit = this.values['limit'] ?? defaultLimit;
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > maximum)
      throw new ArgumentError(`limit must be a whole number from 1 to ${maximum}`);
    return limit;
  }

  required(key: string, maxLength = MAX_NAME_LENGTH): string {
    const value = this.optional(key, maxLength);
    if (value === undefined) throw new ArgumentError(`${key} is required`);
    return value;
  }

  private optional(key: string, maxLength = MAX_NAME_LENGTH): string | undefined {
    const value = this.values[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') throw new ArgumentError(`${key} must be a string`);
    if (value.length > maxLength)
      throw new ArgumentError(`${key} must not be longer than ${maxLength} characters`);
    return value;
  }
}
