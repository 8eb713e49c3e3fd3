import type { Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import { findByKey, lowerBound, partitionPoint } from '../../lib/sorted/binary-search.js';
import type { UriTemplate } from '../../lib/uri-template/uri-template.js';
import type { ResourceTemplate } from './resource-template.js';

/**
 * What a text is matched with. `uri`: the own URI template, whose instances are own URIs. `id`: the identifier of the
 * template, whose instances are identifiers.
 */
export type TemplateForm = 'uri' | 'id';

/** An instance of a template, by its own URI. */
export interface TemplateInstance {
  readonly template: ResourceTemplate;
  readonly uri: string;
}

const OPEN_BRACE = 0x7b;
/** Stands for the character code after the last character of a text. */
const END_OF_TEXT = -1;

/**
 * The cost of comparing the last literal of a template with the end of the text. The unit of cost is the time in which a
 * match examines one character.
 */
const COST_OF_LAST_LITERAL = 4;
/** Characters that a search for a literal examines at a cost of 1. */
const SEARCHED_CHARACTERS_PER_COST = 32;

/**
 * The templates of one server in two arrays: sorted by URI template, and sorted by identifier. A literal is text outside
 * expressions. A search examines only templates whose first literal is a prefix of the given text, so its duration does
 * not grow with the number of other templates.
 */
export class TemplateIndex {
  private constructor(
    private readonly byUri: readonly ResourceTemplate[],
    private readonly byId: readonly ResourceTemplate[],
    private readonly onLimit: () => void,
  ) {}

  /** `onLimit` is called for every search that exceeds its limit. */
  static *build(
    templates: readonly ResourceTemplate[],
    onLimit: () => void = () => {},
  ): Steps<TemplateIndex> {
    const byUri = yield* sortSteps(templates, (a, b) => compare(a.uriTemplate, b.uriTemplate));
    const byId = yield* sortSteps(templates, (a, b) => compare(a.id, b.id));
    return new TemplateIndex(byUri, byId, onLimit);
  }

  findByUri(uriTemplate: string): ResourceTemplate | undefined {
    return findByKey(this.byUri, uriTemplate, uriOf);
  }

  findById(id: string): ResourceTemplate | undefined {
    return findByKey(this.byId, id, idOf);
  }

  /** Whether the first literal of a template starts with the prefix. */
  hasLiteralStartingWith(prefix: string): boolean {
    // No literal contains `{`. If a template begins with a text without `{`, its first literal begins with that text.
    if (prefix.includes('{')) return false;
    const next = this.byUri[lowerBound(this.byUri, prefix, uriOf)];
    return next?.uriTemplate.startsWith(prefix) ?? false;
  }

  search(text: string, form: TemplateForm): TemplateSearch {
    const [sorted, keyOf] = form === 'uri' ? [this.byUri, uriOf] : [this.byId, idOf];
    const ranges = [...rangesThatMayMatch(sorted, keyOf, text)];
    return new TemplateSearch(sorted, ranges, text, form, this.onLimit);
  }
}

/** Searches for the best match of one text among the templates of one server. */
class TemplateSearch {
  /** Number of templates that may match. */
  readonly size: number;

  constructor(
    private readonly templates: readonly ResourceTemplate[],
    private readonly ranges: readonly Range[],
    private readonly text: string,
    private readonly form: TemplateForm,
    private readonly onLimit: () => void,
  ) {
    this.size = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
  }

  /**
   * Returns the match with the most literal characters, and the cost of the search. If the cost exceeds the limit,
   * returns no match, because a template that was not examined could match better.
   */
  run(costLimit: number): { readonly instance?: TemplateInstance; readonly cost: number } {
    const { text } = this;
    let cost = 0;
    const possible: Candidate[] = [];
    for (const candidate of this.candidates()) {
      const { matcher } = candidate;
      const costOfInnerLiteral = text.length / SEARCHED_CHARACTERS_PER_COST;
      cost += COST_OF_LAST_LITERAL + innerLiteralCount(matcher) * costOfInnerLiteral;
      if (cost > costLimit) return this.unfinished(cost);
      if (hasLiterals(matcher, text)) possible.push(candidate);
    }
    for (const { template, matcher } of possible.toSorted(compareSpecificity)) {
      cost += text.length * (matcher.expressions.length + 1);
      if (cost > costLimit) return this.unfinished(cost);
      const values = matcher.match(text);
      if (!values) continue;
      const uri = this.form === 'uri' ? text : template.matcher.fill(values);
      return { cost, instance: { template, uri } };
    }
    return { cost };
  }

  private unfinished(cost: number): { readonly cost: number } {
    this.onLimit();
    return { cost };
  }

  private *candidates(): Iterable<Candidate> {
    for (const [from, to] of this.ranges)
      for (let at = from; at < to; at++) {
        const template = this.templates[at]!;
        const matcher = this.form === 'uri' ? template.matcher : template.idMatcher;
        if (matcher) yield { template, matcher };
      }
  }
}

interface Candidate {
  readonly template: ResourceTemplate;
  readonly matcher: UriTemplate;
}

type Range = readonly [from: number, to: number];

/**
 * The ranges of templates that may match the text. A template with an expression is among them if its first literal is a
 * prefix of the text, a template without an expression if it equals the text. In each round, `from` and `to` enclose
 * the templates that begin with the first `at` characters of the text.
 */
function* rangesThatMayMatch(
  sorted: readonly ResourceTemplate[],
  keyOf: (template: ResourceTemplate) => string,
  text: string,
): Iterable<Range> {
  let from = 0;
  let to = sorted.length;
  for (let at = 0; from < to; at++) {
    const codeAt = (index: number): number => {
      const key = keyOf(sorted[index]!);
      return at < key.length ? key.charCodeAt(at) : END_OF_TEXT;
    };
    const rangeOf = (code: number): Range => {
      const start = partitionPoint(from, to, (index) => codeAt(index) < code);
      return [start, partitionPoint(start, to, (index) => codeAt(index) <= code)];
    };
    const withExpressionHere = rangeOf(OPEN_BRACE);
    if (withExpressionHere[0] < withExpressionHere[1]) yield withExpressionHere;
    const next = at < text.length ? text.charCodeAt(at) : END_OF_TEXT;
    // No literal contains `{`, so no other template can match.
    if (next === OPEN_BRACE) return;
    const range = rangeOf(next);
    if (next === END_OF_TEXT) {
      if (range[0] < range[1]) yield range;
      return;
    }
    [from, to] = range;
  }
}

/** The number of literals that have to be searched. The first and the last literal have known positions in the text. */
const innerLiteralCount = ({ literals }: UriTemplate): number => Math.max(0, literals.length - 2);

/**
 * Whether the text contains the literals in their order. A cheap check before `match`: if not, the template cannot
 * match.
 */
function hasLiterals({ literals }: UriTemplate, text: string): boolean {
  const last = literals.length - 1;
  let at = literals[0]!.length;
  for (let index = 1; index < last; index++) {
    const found = text.indexOf(literals[index]!, at);
    if (found === -1) return false;
    at = found + literals[index]!.length;
  }
  return last === 0 || (at + literals[last]!.length <= text.length && text.endsWith(literals[last]!));
}

const uriOf = ({ uriTemplate }: ResourceTemplate): string => uriTemplate;
const idOf = ({ id }: ResourceTemplate): string => id;
const compare = (a: string, b: string): number => (a < b ? -1 : 1);

/** Sorts by number of literal characters, highest first, then by URI template, so that the order is always the same. */
const compareSpecificity = ({ template: a }: Candidate, { template: b }: Candidate): number =>
  b.matcher.literalLength - a.matcher.literalLength || compare(a.uriTemplate, b.uriTemplate);
