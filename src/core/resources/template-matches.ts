import type { TemplateForm, TemplateIndex, TemplateInstance } from './template-index.js';

/**
 * Maximum cost of one lookup over all servers: about the number of characters that matchers examine. A lookup with this
 * cost takes about 10 ms. Without the limit, a client that sends a long text could block the event loop if servers have
 * thousands of templates.
 */
const MAX_MATCH_COST = 2 ** 18;
/** Lower bound of the limit for one server, until `MAX_MATCH_COST` is used up: enough to match a long text with one template. */
const MIN_SERVER_COST = MAX_MATCH_COST / 8;

/**
 * Finds the templates that match the text and have the most literal characters, at most one per server. If the
 * result has templates of several servers, the text is ambiguous. Servers with few possible templates are searched
 * first. The limit for each search is an equal share of the remaining cost, so that no server uses up the share of
 * another.
 */
export function bestInstances(
  indexes: readonly TemplateIndex[],
  text: string,
  form: TemplateForm,
): readonly TemplateInstance[] {
  if (text === '') return [];
  const searches = indexes.map((index) => index.search(text, form)).filter(({ size }) => size > 0);
  const found: TemplateInstance[] = [];
  let remainingCost = MAX_MATCH_COST;
  for (const [index, search] of searches.toSorted((a, b) => a.size - b.size).entries()) {
    const share = remainingCost / (searches.length - index);
    const { instance, cost } = search.run(remainingCost <= 0 ? 0 : Math.max(share, MIN_SERVER_COST));
    if (instance) found.push(instance);
    remainingCost -= cost;
  }
  const maxLiteralLength = Math.max(...found.map(literalLengthOf));
  return found.filter((instance) => literalLengthOf(instance) === maxLiteralLength);
}

const literalLengthOf = ({ template }: TemplateInstance): number => template.matcher.literalLength;
