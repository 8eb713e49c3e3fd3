import type { ListName } from '../../client/admin-types.js';
import type { ListId } from './list-row.js';
import { computeLayout } from './layout.js';
import type { ListState } from './list-state.js';
import { selectedRow, panelDefinition, type TuiAction, type Model } from './model.js';
import { isLoaded, knownLength, nextMissingPage, type PagePosition } from './paged-list.js';

/**
 * A request to the gateway. While a request with the same key is running, no other one is started. The key of a request for a
 * list does not contain the version of the list, so that a change of the list does not abort the running request.
 */
export type TuiRequest = { readonly key: string } & (
  | { readonly kind: 'servers'; readonly version: number }
  | {
      readonly kind: 'page';
      readonly list: ListName;
      readonly position: PagePosition;
      readonly generation: number;
      readonly version: number;
      readonly limit: number;
      readonly query: string;
      readonly server: string | undefined;
    }
  | {
      readonly kind: 'disabled-tools';
      readonly servers: readonly string[];
      readonly generation: number;
      readonly version: number;
    }
  | { readonly kind: 'server'; readonly id: string; readonly version: number }
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'total'; readonly list: ListName; readonly version: number }
  | { readonly kind: 'preview'; readonly uri: string }
  | { readonly kind: 'action'; readonly action: TuiAction }
);

const PAGE_SIZE = 200;
/** Page size while a list is loaded to its end. */
const LARGE_PAGE_SIZE = 1000;

/**
 * The requests that the current screen needs. A pure function of the model. After every event, `TuiSession` compares its
 * result with the running requests, starts the new ones and aborts those that are not needed any more.
 */
export function requestsFor(model: Model): TuiRequest[] {
  const definition = panelDefinition(model.panel);
  const lists = [definition.main, ...(definition.second ? [definition.second.list] : [])];
  const action: TuiRequest[] = model.runningAction
    ? [{ kind: 'action', key: `action ${JSON.stringify(model.runningAction)}`, action: model.runningAction }]
    : [];
  if (model.connection.state !== 'live') return action;
  return [
    ...action,
    ...(needsLoading(model.lists.servers) ? [serversRequest(model)] : []),
    ...lists.flatMap((list) => listRequests(model, list)),
    ...detailRequests(model),
    ...totalRequests(model),
  ];
}

/** The request for all servers, which every panel needs. */
function serversRequest({ lists }: Model): TuiRequest {
  const { version } = lists.servers;
  return { kind: 'servers', key: 'servers', version };
}

/** For a list that is loaded as a whole. Such a list has at most one page. */
const needsLoading = ({ paged, problem }: ListState): boolean =>
  problem === undefined && nextMissingPage(paged, 0, 0) !== undefined;

function listRequests(model: Model, list: ListId): TuiRequest[] {
  const state = model.lists[list];
  const { query, server } = model.panels[model.panel];
  const { generation, version } = state;
  if (list === 'servers' || state.problem !== undefined) return [];
  if (list === 'disabled-tools') return disabledToolsRequests(model);
  const { mainRows, secondRows } = computeLayout(model);
  const height = list === panelDefinition(model.panel).main ? mainRows : secondRows;
  // The visible rows, with as many rows before and after them. While the list is loaded to its end: all rows that are
  // missing.
  const [from, to] = state.isLoadingToEnd
    ? [knownLength(state.paged), Infinity]
    : [Math.max(0, state.top - height), state.top + 2 * height];
  const position = nextMissingPage(state.paged, from, to);
  if (!position) return [];
  const key = `${list} ${generation} ${position.index}`;
  const limit = state.isLoadingToEnd ? LARGE_PAGE_SIZE : PAGE_SIZE;
  return [{ kind: 'page', key, list, position, generation, version, limit, query, server }];
}

/** The admin API lists disabled tools for one server at a time. The request names only servers that have disabled tools. */
function disabledToolsRequests({ lists, servers, panels }: Model): TuiRequest[] {
  const { generation, version } = lists['disabled-tools'];
  if (!needsLoading(lists['disabled-tools']) || !isLoaded(lists.servers.paged)) return [];
  const filter = panels.tools.server;
  const ids = servers
    .filter(({ id, counts }) => counts.disabledTools > 0 && (filter === undefined || id === filter))
    .map(({ id }) => id);
  return [{ kind: 'disabled-tools', key: `disabled-tools ${generation}`, servers: ids, generation, version }];
}

function detailRequests(model: Model): TuiRequest[] {
  const { details, serverDetail, subscriberSession } = model;
  const row = selectedRow(model);
  const requests: TuiRequest[] = [];
  if (details.isOpen && row?.kind === 'subscription' && subscriberSession?.id !== row.item.client) {
    const id = row.item.client;
    requests.push({ kind: 'session', key: `session ${id}`, id });
  }
  if (details.isOpen && row?.kind === 'server') {
    const { version } = model.lists.servers;
    const isDetailLoaded = serverDetail?.detail.id === row.key && serverDetail.version === version;
    if (!isDetailLoaded) requests.push({ kind: 'server', key: `server ${row.key}`, id: row.key, version });
  }
  const { preview } = details;
  if (preview && preview.lines === undefined && preview.problem === undefined)
    requests.push({ kind: 'preview', key: `preview ${preview.uri}`, uri: preview.uri });
  return requests;
}

function totalRequests({ lists, totals }: Model): TuiRequest[] {
  return (['resources', 'subscriptions', 'sessions'] as const)
    .filter((list) => totals[list]?.version !== lists[list].version)
    .map((list) => {
      const { version } = lists[list];
      return { kind: 'total', key: `total ${list}`, list, version };
    });
}
