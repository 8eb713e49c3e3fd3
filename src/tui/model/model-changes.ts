import type { ServerSummary } from '../../client/admin-types.js';
import { serverRow, type ListRow, type ListId } from './list-row.js';
import { matchesQuery } from './highlight.js';
import { withRows, withPagesStale, type ListState } from './list-state.js';
import type { Model, Notice } from './model.js';
import { wholeList } from './paged-list.js';

const NOTICE_MS = 8_000;
const PROBLEM_MS = 20_000;

export function withList(model: Model, id: ListId, change: (list: ListState) => ListState): Model {
  const before = model.lists[id];
  const after = change(before);
  return after === before ? model : { ...model, lists: { ...model.lists, [id]: after } };
}

export const withListsStale = (model: Model, ids: readonly ListId[]): Model =>
  ids.reduce((next, id) => withList(next, id, withPagesStale), model);

/** For lists that come whole. */
export function withAllRows(list: ListState, entries: readonly ListRow[], isFresh: boolean): ListState {
  const paged = wholeList(entries);
  const pages = paged.pages.map((page) => ({ ...page, isFresh }));
  return withRows(list, { ...paged, pages });
}

/** The servers there are, and those among them that the panel shows. */
export function withServers(model: Model, servers: readonly ServerSummary[], isFresh: boolean): Model {
  const { query } = model.panels.servers;
  const found = servers.filter(({ id, state, transport, reason = '' }) =>
    matchesQuery([id, state, transport, reason], query),
  );
  const next = withList({ ...model, servers }, 'servers', (list) =>
    withAllRows(list, found.map(serverRow), isFresh),
  );
  return switchedOff(model.servers) === switchedOff(servers)
    ? next
    : withListsStale(next, ['disabled-tools']);
}

const switchedOff = (servers: readonly ServerSummary[]): string =>
  servers.map(({ id, counts }) => `${id} ${counts.disabledTools}`).join('\n');

export const withTotal = (model: Model, list: ListId, total: number, version: number): Model => ({
  ...model,
  totals: { ...model.totals, [list]: { total, version } },
});

export const withNotice = (model: Model, text: string, tone: Notice['tone']): Model => ({
  ...model,
  notice: { text, tone, until: model.now + (tone === 'bad' ? PROBLEM_MS : NOTICE_MS) },
});
