// Run by the catalog suite, one process per measurement. Argument: a run of the suite as JSON.
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { Naming } from '../../build/config/naming.js';
import { UNFETCHED_LISTING } from '../../build/core/catalog/catalog.js';
import { ResourceList } from '../../build/core/resources/resource-list.js';
import { parseTemplates } from '../../build/core/resources/resource-template.js';
import { EVERYTHING, scopeOf } from '../../build/core/scope.js';
import { sliceScheduler } from '../../build/lib/slices/slices.js';
import { Registry } from '../../build/registry/registry.service.js';
import { StallMeter } from './stall-meter.mjs';

const { servers, tools, resources, style, naming, overlap } = JSON.parse(process.argv[2]);
const registry = new Registry(Object.assign(new Naming(), { resources: style }));

const definition = (key, name) => ({
  name,
  text: JSON.stringify({ [key]: name, name, description: `What ${name} is for` }),
});
const each = (count, create) => Array.from({ length: count }, (_, n) => create(n));

/** With `overlap`, each two servers list the same URIs. */
async function listingOf(server, index) {
  const owner = overlap ? Math.floor(index / 2) : server;
  const uris = each(resources / servers, (n) => `file:///srv/${n}/${owner}`);
  const { templates } = await parseTemplates(
    server,
    each(resources > 0 ? 5 : 0, (n) => definition('uriTemplate', `file:///${n}/${server}/{name}`)),
    sliceScheduler.start(),
  );
  const listed = uris.concat(resources > 0 ? 'config://settings' : []).map((uri) => definition('uri', uri));
  return {
    tools: each(tools / servers, (n) => definition('name', `tool_${n}`)),
    resources: await ResourceList.build(server, listed, sliceScheduler.start()),
    templates,
  };
}

/** Servers list each kind on its own, and all of them at about the same time. */
async function putAll(listings) {
  const done = [];
  const known = new Map();
  for (const kind of ['tools', 'resources', 'templates'])
    for (const [rank, [id, all]] of listings.entries()) {
      const listing = { ...UNFETCHED_LISTING, ...known.get(id), [kind]: all[kind] };
      known.set(id, listing);
      done.push(registry.put({ id, rank, listing, style: naming, disabledTools: new Set() }));
      await yieldToEventLoop();
    }
  await Promise.all(done);
}

const listings = [];
for (let n = 0; n < servers; n++) {
  const id = `server-${n}`;
  listings.push([id, await listingOf(id, n)]);
}
registry.setServers(listings.map(([id]) => id));
const meter = new StallMeter();

async function measure(act) {
  await sleep(20);
  meter.takeLongest();
  const cpuBefore = meter.cpuMs();
  await act();
  await sleep(20);
  return { cpuMs: meter.cpuMs() - cpuBefore, stallMs: meter.takeLongest().own };
}

async function firstPages(scope) {
  const { catalog } = registry;
  for (const list of [catalog.tools.view(scope), catalog.resources.view(scope).resources]) {
    await list.prepare(() => sliceScheduler.start());
    list.page('tools', '', 1000, String);
  }
}
/** Everything, and the projects without one of the servers. */
const scopes = [
  EVERYTHING,
  ...each(Math.min(5, servers - 1), (n) => scopeOf(listings.map(([id]) => id).toSpliced(n, 1))),
];
async function firstPagesOfAll() {
  for (const scope of scopes) {
    await firstPages(scope);
    await yieldToEventLoop();
  }
}
const built = await measure(() => putAll(listings));
const listed = await measure(firstPagesOfAll);
const removed = await measure(() => {
  registry.remove('server-0');
  return registry.whenBuilt();
});
process.send({ built, listed, removed }, () => process.exit(0));
