import type { TemplateForm, TemplateIndex, TemplateInstance } from './template-index.js';

/**
 * The cost of matching in one lookup, over all servers: about the number of characters that matchers examine. Templates come
 * from servers and texts from clients: without this limit, thousands of templates and one long text would block the event
 * loop. It takes about 10 ms.
 */
const MAX_MATCH_COST = 2 ** 18;
/** What every server gets that is searched at all: enough to match a long text with one template. */
const MIN_SERVER_COST = MAX_MATCH_COST / 8;

/**
 * Finds the templates that match the text and have the most literal characters, at most one per server. More than one
 * result is ambiguous: the gateway does not choose between servers. Servers with few possible templates are searched first,
 * and each gets an equal share of the cost that is left, so that no server uses up the share of another.
 */
export function bestInstances(
  indexes: readonly TemplateIndex[],
  text: string,
  form: TemplateForm,
): readonly TemplateInstance[] {
  if (text === '') return [];
  const searches = indexes.map((index) => index.search(text, form)).filter(({ size }) => size > 0);
  const found: TemplateInstance[] = [];
  let left = MAX_MATCH_COST;
  for (const [index, search] of searches.toSorted((a, b) => a.size - b.size).entries()) {
    if (left <= 0) break;
    const share = left / (searches.length - index);
    const { instance, cost } = search.run(Math.max(share, MIN_SERVER_COST));
    if (instance) found.push(instance);
    left -= cost;
  }
  const most = Math.max(...found.map(literalLengthOf));
  return found.filter((instance) => literalLengthOf(instance) === most);
}

const literalLengthOf = ({ template }: TemplateInstance): number => template.matcher.literalLength;
