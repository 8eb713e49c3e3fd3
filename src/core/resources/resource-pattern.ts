import { UriTemplate } from '../../lib/uri-template/uri-template.js';
import type { ResourceAddress } from './resource-uri.js';

/** Matches own URIs of a server. */
export interface ResourcePattern {
  readonly text: string;
  /** Prefix of every URI that matches. */
  readonly prefix: string;
  matches(uri: string): boolean;
}

/**
 * Parses a pattern: `file:///logs/*` matches every URI that starts with `file:///logs/`, `*` matches every URI, and a
 * template matches its instances. Undefined for every other text, which is the URI of a single resource. Only the form
 * of the text decides, not whether such a resource exists.
 */
export function patternOf(text: string): ResourcePattern | undefined {
  if (text.endsWith('*')) return new PrefixPattern(text);
  const brace = text.indexOf('{');
  const template = brace === -1 ? undefined : UriTemplate.parse(text);
  return template && new TemplatePattern(text, text.slice(0, brace), template);
}

/** What a client can subscribe to: a resource of a server, or a pattern of its resources. */
export interface SubscribableAddress extends ResourceAddress {
  /** Set if the URI has the form of a pattern, but was the URI of a listed resource when the client subscribed. */
  readonly isExact?: true;
}

/** The pattern of an address; undefined for a single resource. */
export const patternAt = ({
  uri,
  isExact,
}: Omit<SubscribableAddress, 'server'>): ResourcePattern | undefined =>
  isExact ? undefined : patternOf(uri);

/** The address of a listed resource. Its URI may have the form of a pattern. */
export const exactAddress = ({ server, uri }: ResourceAddress): SubscribableAddress =>
  patternOf(uri) ? { server, uri, isExact: true } : { server, uri };

/**
 * Whether a subscription to `uri` covers an update of `updated`, because it is the same resource or a part of it.
 * `updated` must start with `uri`. `file:///a/b/c` and `file:///a/b#c` are parts of `file:///a/b`, `file:///a/bc` is
 * not.
 */
export const isSameOrPart = (uri: string, updated: string): boolean =>
  uri.length === updated.length || isSeparator(updated, uri.length) || isSeparator(uri, uri.length - 1);

function isSeparator(text: string, at: number): boolean {
  const character = text.charAt(at);
  return character === '/' || character === '?' || character === '#';
}

class PrefixPattern implements ResourcePattern {
  readonly prefix: string;

  constructor(readonly text: string) {
    this.prefix = text.slice(0, -1);
  }

  matches(uri: string): boolean {
    return uri.startsWith(this.prefix);
  }
}

class TemplatePattern implements ResourcePattern {
  constructor(
    readonly text: string,
    readonly prefix: string,
    private readonly template: UriTemplate,
  ) {}

  matches(uri: string): boolean {
    return this.template.match(uri) !== undefined;
  }
}
