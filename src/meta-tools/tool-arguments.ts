import { isUriTooLong, MAX_URI_BYTES } from '../core/resources/resource-uri.js';
import type { Params } from '../mcp/json-rpc.js';

const LONGEST_QUERY = 256;
const LONGEST_NAME = 8192;
/** What is found is the less worth the further down it comes. */
const USUAL_RESULTS = 20;
const MOST_RESULTS = 100;
/** As many as a page of the lists may have. */
export const MOST_ON_PAGE = 1000;

/** What a model got wrong. It is told, and can do better. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** The arguments of a call, read with care: they are what a model made up. */
export class ToolArguments {
  constructor(private readonly values: Params) {}

  get query(): string {
    const query = this.required('query', LONGEST_QUERY).trim();
    if (query === '') throw new ArgumentError('query must not be empty');
    return query;
  }

  /** As long as it may be everywhere else, which counts in bytes. */
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

  /** Whatever it is, the one who opens it decides. */
  get cursor(): unknown {
    return this.values['cursor'];
  }

  /** Of results of a search. */
  get limit(): number {
    return this.limitWithin(USUAL_RESULTS, MOST_RESULTS);
  }

  /** Of cards on a page of a catalog. */
  pageSize(usual: number): number {
    return this.limitWithin(usual, MOST_ON_PAGE);
  }

  private limitWithin(usual: number, most: number): number {
    const limit = this.values['limit'] ?? usual;
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > most)
      throw new ArgumentError(`limit must be a whole number from 1 to ${most}`);
    return limit;
  }

  required(key: string, longest = LONGEST_NAME): string {
    const value = this.optional(key, longest);
    if (value === undefined) throw new ArgumentError(`${key} is required`);
    return value;
  }

  private optional(key: string, longest = LONGEST_NAME): string | undefined {
    const value = this.values[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') throw new ArgumentError(`${key} must be a string`);
    if (value.length > longest)
      throw new ArgumentError(`${key} must not be longer than ${longest} characters`);
    return value;
  }
}
