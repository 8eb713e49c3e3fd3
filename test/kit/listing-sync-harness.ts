import type { Listing } from '../../src/core/catalog/catalog.js';
import { ListingSync } from '../../src/backends/listing/listing-sync.js';
import { FakeLink, type Answers } from './fake-link.js';
import { flushPromises } from './promises.js';

const TOOLS_AND_PROMPTS = { capabilities: { tools: {}, prompts: {} } };

export const REFRESH_MS = 60_000;

/** A `ListingSync` of tools and prompts over links with the answers of the spec. */
export class ListingSyncHarness {
  readonly listings: Listing[] = [];
  failureChanges = 0;
  readonly sync = new ListingSync('db', {
    publish: async (listing) => void this.listings.push(listing),
    failuresChanged: () => void this.failureChanges++,
    refreshMs: () => REFRESH_MS,
  });

  /** The names that were published last: `<tools>/<prompts>`. */
  get names(): string {
    const listing = this.listings.at(-1);
    const of = (kind: 'tools' | 'prompts'): string => listing?.[kind].map(({ name }) => name).join() ?? '';
    return `${of('tools')}/${of('prompts')}`;
  }

  async attach(answers: Answers, facts: object = TOOLS_AND_PROMPTS): Promise<FakeLink> {
    const link = new FakeLink(answers, facts);
    this.sync.attach(link);
    await flushPromises();
    return link;
  }
}

export const listOf = (kind: 'tools' | 'prompts', ...names: string[]): object => ({
  [kind]: names.map((name) => ({ name, ...(kind === 'tools' && { inputSchema: { type: 'object' } }) })),
});

export const listAnswers = (tools: string, prompts: string): Answers => ({
  'tools/list': () => listOf('tools', tools),
  'prompts/list': () => listOf('prompts', prompts),
});
