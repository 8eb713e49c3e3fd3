import { UriTemplate } from '../../lib/uri-template/uri-template.js';

/** Stands for every resource of a server whose URI fits. */
export interface ResourcePattern {
  readonly text: string;
  /** What every URI that fits begins with. */
  readonly prefix: string;
  matches(uri: string): boolean;
}

/**
 * `file:///logs/*` stands for everything that begins with `file:///logs/`, a lone `*` for everything, and a template
 * for its instances. Undefined for the URI of a single resource. It follows from the text alone, so that one URI
 * never means two things at once.
 */
export function patternOf(uri: string): ResourcePattern | undefined {
  if (uri.endsWith('*')) return new Beginning(uri);
  const brace = uri.indexOf('{');
  const template = brace === -1 ? undefined : UriTemplate.parse(uri);
  return template && new Instances(uri, uri.slice(0, brace), template);
}

/**
 * Whether a subscription to `uri` covers `updated`, which is known to begin with it: as the same resource, or as a
 * part of it. `file:///a/b` has the parts `file:///a/b/c` and `file:///a/b#c`, but not `file:///a/bc`.
 */
export const isSameOrPart = (uri: string, updated: string): boolean =>
  uri.length === updated.length || isBorder(updated, uri.length) || isBorder(uri, uri.length - 1);

function isBorder(text: string, at: number): boolean {
  const character = text.charAt(at);
  return character === '/' || character === '?' || character === '#';
}

class Beginning implements ResourcePattern {
  readonly prefix: string;

  constructor(readonly text: string) {
    this.prefix = text.slice(0, -1);
  }

  matches(uri: string): boolean {
    return uri.startsWith(this.prefix);
  }
}

class Instances implements ResourcePattern {
  constructor(
    readonly text: string,
    readonly prefix: string,
    private readonly template: UriTemplate,
  ) {}

  matches(uri: string): boolean {
    return this.template.match(uri) !== undefined;
  }
}
