import type { ResourceOffer } from './resource-offer.js';
import type { ResourceTemplate } from './resource-template.js';
import { resourceForm, type ResourceStyle } from './resource-uri.js';
import type { Yield } from '../../lib/slices/slices.js';

/** Which of one server's templates, and of their identifiers, something else is called, too. */
export interface TemplateContests {
  readonly texts: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
}

interface Known {
  readonly style: ResourceStyle;
  /** By server: in which order they come makes no difference. */
  readonly lists: ReadonlyMap<string, readonly ResourceTemplate[]>;
  readonly contests: ReadonlyMap<string, TemplateContests>;
}

/** Templates seldom change: what was found last mostly holds. */
let last: Known | undefined;

/** So many take no noticeable time. */
const FEW = 2048;
const STEPS_BETWEEN_PAUSES = 256;

/** For each offer. All their names are looked at, whosever they are. */
export function templateContests(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
): readonly TemplateContests[] {
  const before = foundBefore(offers, style);
  if (before) return before;
  const steps = findContests(offers, style);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return remember(offers, style, step.value);
}

/** Whether `templateContests` can say it without holding anybody up. */
export const areContestsKnown = (offers: readonly ResourceOffer[], style: ResourceStyle): boolean =>
  offers.reduce((sum, { templates }) => sum + templates.length, 0) <= FEW ||
  foundBefore(offers, style) !== undefined;

/** Finds it out ahead of time. */
export async function findContestsSlowly(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
  yieldIfDue: Yield,
): Promise<void> {
  const steps = findContests(offers, style);
  let step = steps.next();
  for (; !step.done; step = steps.next()) await yieldIfDue();
  remember(offers, style, step.value);
}

function* findContests(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
): Generator<void, readonly TemplateContests[]> {
  const ids = new Names();
  const texts = new Names();
  // In this style a template's own text is in one room with the forms and identifiers of all others.
  const others = new Set<string>();
  let step = 0;
  for (const { templates } of offers)
    for (const { server, uriTemplate, id } of templates) {
      if (++step % STEPS_BETWEEN_PAUSES === 0) yield;
      ids.add(id);
      if (style !== 'original') continue;
      texts.add(uriTemplate);
      others.add(resourceForm({ server, uri: uriTemplate })).add(id);
    }
  const contests: TemplateContests[] = [];
  for (const { templates } of offers) {
    const own = { texts: new Set<string>(), ids: new Set<string>() };
    contests.push(own);
    for (const { uriTemplate, id } of templates) {
      if (++step % STEPS_BETWEEN_PAUSES === 0) yield;
      if (texts.repeated.has(uriTemplate) || others.has(uriTemplate)) own.texts.add(uriTemplate);
      if (ids.repeated.has(id)) own.ids.add(id);
    }
  }
  return contests;
}

/** Names, and those of them that came more than once. */
class Names {
  readonly repeated = new Set<string>();
  private readonly seen = new Set<string>();

  add(name: string): void {
    if (this.seen.has(name)) this.repeated.add(name);
    else this.seen.add(name);
  }
}

function foundBefore(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
): readonly TemplateContests[] | undefined {
  const known = last?.style === style && last.lists.size === offers.length ? last : undefined;
  const isSame = offers.every(({ server, templates }) => templates === known?.lists.get(server));
  return known && isSame ? offers.map(({ server }) => known.contests.get(server)!) : undefined;
}

function remember(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
  contests: readonly TemplateContests[],
): readonly TemplateContests[] {
  last = {
    style,
    lists: new Map(offers.map(({ server, templates }) => [server, templates])),
    contests: new Map(offers.map(({ server }, index) => [server, contests[index]!])),
  };
  return contests;
}
