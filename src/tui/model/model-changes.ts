import type { ServerSummary } from '../../client/admin-types.js';
import { serverRow, type ListRow, type ListId } from './list-row.js';
import { matchesQuery } from './highlight.js';
import { withListReset, withPagesStale, withRows, type ListState } from './list-state.js';
import { panelDefinition, type Model, type Notice, type PanelState } from './model.js';
import { wholeList } from './paged-list.js';

const NOTICE_DURATION_MS = 8_000;
const PROBLEM_DURATION_MS = 20_000;

export function withList(model: Model, id: ListId, change: (list: ListState) => ListState): Model {
  const before = model.lists[id];
  const after = change(before);
  return after === before ? model : { ...model, lists: { ...model.lists, [id]: after } };
}

export const withListsStale = (model: Model, ids: readonly ListId[]): Model =>
  ids.reduce((next, id) => withList(next, id, withPagesStale), model);

/** Replaces all rows of a list that is loaded as a whole. `isFresh` is false if the list has changed since the request. */
export function withAllRows(list: ListState, entries: readonly ListRow[], isFresh: boolean): ListState {
  const paged = wholeList(entries);
  const pages = paged.pages.map((page) => ({ ...page, isFresh }));
  return withRows(list, { ...paged, pages });
}

/** Stores all servers. The servers panel shows those that match its search. */
export function withServers(model: Model, servers: readonly ServerSummary[], isFresh: boolean): Model {
  const { query } = model.panels.servers;
  const matching = servers.filter(({ id, state, transport, reason = '' }) =>
    matchesQuery([id, state, transport, reason], query),
  );
  const next = withList({ ...model, servers }, 'servers', (list) =>
    withAllRows(list, matching.map(serverRow), isFresh),
  );
  return disabledToolCounts(model.servers) === disabledToolCounts(servers)
    ? next
    : withListsStale(next, ['disabled-tools']);
}

/** A text that changes when the number of disabled tools of a server changes. */
const disabledToolCounts = (servers: readonly ServerSummary[]): string =>
  servers.map(({ id, counts }) => `${id} ${counts.disabledTools}`).join('\n');

/** Stores the total of a list, and the version that the list had when the total was requested. */
export const withTotal = (model: Model, list: ListId, total: number, version: number): Model => ({
  ...model,
  totals: { ...model.totals, [list]: { total, version } },
});

export const withNotice = (model: Model, text: string, tone: Notice['tone']): Model => ({
  ...model,
  notice: { text, tone, until: model.now + (tone === 'bad' ? PROBLEM_DURATION_MS : NOTICE_DURATION_MS) },
});

/** Changes search or filter of the current panel, whose lists are then loaded from the start. */
export function withSearch(model: Model, search: Partial<Pick<PanelState, 'query' | 'server'>>): Model {
  const { main, second } = panelDefinition(model.panel);
  const before = model.panels[model.panel];
  const after = { ...before, ...search };
  if (after.query === before.query && after.server === before.server) return model;
  const next = { ...model, panels: { ...model.panels, [model.panel]: after } };
  // Servers need no request, because the model already contains all of them.
  if (main === 'servers') return withServers(withList(next, 'servers', withListReset), next.servers, true);
  const lists = [main, ...(second ? [second.list] : [])];
  return lists.reduce((changed, id) => withList(changed, id, withListReset), next);
}
