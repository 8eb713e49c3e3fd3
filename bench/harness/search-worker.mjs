// Run by the search suite, one process per measurement (`node --expose-gc`). Arguments: engine, number of documents.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import { search } from '../../build/lib/text-index/search.js';
import { SearchIndex } from '../../build/lib/text-index/search-index.js';
import { SEARCH_SCHEMA } from '../../build/meta-tools/search-fields.js';
import { resourceText, SERVERS } from './resources.mjs';
import { median } from './statistics.mjs';

const engineName = process.argv[2];
const count = Number(process.argv[3]);
const LIMIT = 20;
/** Documents added or removed before yielding to the event loop. */
const SLICE = 64;
const FIELDS = ['name', 'title', 'description', 'uri', 'mimeType'];

const byUri = (a, b) => (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0);

const ENGINES = {
  /** One index per server, as in the gateway. */
  ours: () => {
    const indexes = Array.from({ length: SERVERS }, () => new SearchIndex(SEARCH_SCHEMA, byUri));
    return {
      add: (document) => {
        const { server, ...fields } = document;
        indexes[server].add(document, fields, fields.mimeType);
      },
      remove: (document) => indexes[document.server].remove(document),
      search: ({ query, mimeType }) =>
        search(indexes, query, { limit: LIMIT, isKind: mimeType && ((kind) => kind === mimeType) }),
    };
  },
  /** The same fields, weights and prefixes, without fuzzy matching. */
  minisearch: () => {
    const index = new MiniSearch({
      fields: FIELDS,
      storeFields: ['mimeType'],
      searchOptions: {
        boost: { name: 4, title: 3, uri: 1.5 },
        prefix: (word, at, words) => at === words.length - 1 || word.length >= 3,
      },
    });
    return {
      add: (document) => index.add(document),
      remove: (document) => index.remove(document),
      search: ({ query, mimeType }) => {
        const filter = (document) => document.mimeType === mimeType;
        return index.search(query, mimeType && { filter }).slice(0, LIMIT);
      },
    };
  },
};

/** CPU time of this process, at most the elapsed time: other processes share the machine. */
function timed(work) {
  const beganAt = performance.now();
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: Math.min(performance.now() - beganAt, (user + system) / 1000) };
}

async function inSlices(documents, work) {
  let total = 0;
  let longest = 0;
  for (let from = 0; from < documents.length; from += SLICE) {
    await yieldToEventLoop();
    const { ms } = timed(() => documents.slice(from, from + SLICE).forEach(work));
    total += ms;
    longest = Math.max(longest, ms);
  }
  return { total, longest };
}

function memoryInUse() {
  for (let run = 0; run < 3; run++) globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function measure(documents, { queries, runs, warmUps, withRemoval }) {
  const engine = ENGINES[engineName]();
  const before = memoryInUse();
  const adding = await inSlices(documents, engine.add);
  const bytesEach = (memoryInUse() - before) / documents.length;
  const times = queries.map((query) => {
    const all = Array.from({ length: runs + warmUps }, () => timed(() => engine.search(query)).ms);
    return { first: all[0], median: median(all.slice(warmUps)) };
  });
  const removing = withRemoval
    ? await inSlices(
        documents.filter((_, index) => index % 3 > 0),
        engine.remove,
      )
    : undefined;
  return { adding, bytesEach, times, removing };
}

/** The documents of all servers, sorted as they are listed. */
function allDocuments(perServer) {
  return Array.from({ length: SERVERS }, (_, server) =>
    Array.from({ length: perServer }, (__, index) => {
      return { id: `${server} ${index}`, server, ...JSON.parse(resourceText(server, index)) };
    }).toSorted(byUri),
  ).flat();
}

async function runJob(job) {
  process.send(await measure(allDocuments(count / SERVERS), job), () => process.disconnect());
}

process.once('message', (job) => void runJob(job));
