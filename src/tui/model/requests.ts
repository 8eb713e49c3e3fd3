import type { ListName } from '../../client/admin-answers.js';
import type { ListId } from './entry.js';
import { layoutOf } from './layout.js';
import type { ListState } from './list-state.js';
import { currentEntry, planOf, type Deed, type Model } from './model.js';
import { isLoaded, knownLength, wantedPage, type Wanted } from './paged-list.js';

/**
 * What is to be asked of the gateway. The key tells whether it is being asked already: a question that is on its way is
 * not given up because something changed meanwhile, or where much changes nothing would ever be answered.
 */
export type Request = { readonly key: string } & (
  | { readonly kind: 'servers'; readonly version: number }
  | {
      readonly kind: 'page';
      readonly list: ListName;
      readonly wanted: Wanted;
      readonly generation: number;
      readonly version: number;
      readonly limit: number;
      readonly query: string;
      readonly server: string | undefined;
    }
  | {
      readonly kind: 'off-tools';
      readonly servers: readonly string[];
      readonly generation: number;
      readonly version: number;
    }
  | { readonly kind: 'server'; readonly id: string; readonly version: number }
  | { readonly kind: 'sessions'; readonly version: number }
  | { readonly kind: 'total'; readonly list: ListName; readonly version: number }
  | { readonly kind: 'preview'; readonly uri: string }
  | { readonly kind: 'deed'; readonly deed: Deed }
);

const PAGE = 200;
/** On the way to the end. */
const LARGE_PAGE = 1000;

/**
 * Everything that is missing on the screen as it is now. Asked after every change: what is wanted no longer is given up,
 * and nothing has to remember what it waits for.
 */
export function requestsFor(model: Model): Request[] {
  const plan = planOf(model.panel);
  const lists = [plan.main, ...(plan.second ? [plan.second.list] : [])];
  const deed: Request[] = model.deed
    ? [{ kind: 'deed', key: `deed ${JSON.stringify(model.deed)}`, deed: model.deed }]
    : [];
  if (model.connection.state !== 'live') return deed;
  return [
    ...deed,
    ...(isStale(model.lists.servers) ? [servers(model)] : []),
    ...lists.flatMap((list) => pages(model, list)),
    ...closerLooks(model),
    ...totals(model),
  ];
}

/** Servers come whole, and their state is on every panel. */
function servers({ lists }: Model): Request {
  const { version } = lists.servers;
  return { kind: 'servers', key: 'servers', version };
}

const isStale = ({ paged, problem }: ListState): boolean =>
  problem === undefined && wantedPage(paged, 0, 0) !== undefined;

function pages(model: Model, list: ListId): Request[] {
  const state = model.lists[list];
  const { query, server } = model.panels[model.panel];
  const { generation, version } = state;
  if (list === 'servers' || state.problem !== undefined) return [];
  if (list === 'off-tools') {
    if (!isStale(state) || !isLoaded(model.lists.servers.paged)) return [];
    const withSome = model.servers.filter(({ counts }) => counts.disabledTools > 0).map(({ id }) => id);
    const wantedServers = withSome.filter((id) => server === undefined || id === server);
    return [
      {
        kind: 'off-tools',
        key: `off-tools ${generation}`,
        servers: wantedServers,
        generation,
        version,
      },
    ];
  }
  const { mainRows, secondRows } = layoutOf(model);
  const height = list === planOf(model.panel).main ? mainRows : secondRows;
  // One screen ahead, so that whoever walks does not wait.
  const to = state.toEnd ? Infinity : state.top + 2 * height;
  const wanted = wantedPage(
    state.paged,
    state.toEnd ? knownLength(state.paged) : Math.max(0, state.top - height),
    to,
  );
  if (!wanted) return [];
  const key = `${list} ${generation} ${wanted.index}`;
  const limit = state.toEnd ? LARGE_PAGE : PAGE;
  return [{ kind: 'page', key, list, wanted, generation, version, limit, query, server }];
}

function closerLooks(model: Model): Request[] {
  const { details, serverDetail, sessionsVersion } = model;
  const entry = currentEntry(model);
  const found: Request[] = [];
  if (model.panel === 'subscriptions' && sessionsVersion.held !== sessionsVersion.wanted)
    found.push({
      kind: 'sessions',
      key: 'sessions',
      version: sessionsVersion.wanted,
    });
  if (details.isOpen && entry?.kind === 'server') {
    const { version } = model.lists.servers;
    const isHeld = serverDetail?.detail.id === entry.key && serverDetail.version === version;
    if (!isHeld) found.push({ kind: 'server', key: `server ${entry.key}`, id: entry.key, version });
  }
  const { preview } = details;
  if (preview && preview.lines === undefined && preview.problem === undefined)
    found.push({ kind: 'preview', key: `preview ${preview.uri}`, uri: preview.uri });
  return found;
}

function totals({ lists, totals: held }: Model): Request[] {
  return (['resources', 'subscriptions'] as const)
    .filter((list) => held[list]?.version !== lists[list].version)
    .map((list) => {
      const { version } = lists[list];
      return { kind: 'total', key: `total ${list}`, list, version };
    });
}
