import {
  withAllRows,
  withList,
  withListsStale,
  withNotice,
  withServers,
  withTotal,
} from './model-changes.js';
import { disabledToolRow, type ListId } from './list-row.js';
import type { TuiEvent } from './tui-event.js';
import { withFeedEvent } from './feed-events.js';
import { matchesQuery } from './highlight.js';
import { withKeyPressed } from './keys.js';
import { computeLayout } from './layout.js';
import { withRows, withSelectionInView, withPagesStale } from './list-state.js';
import { CLOSED_DETAILS, selectedRow, panelDefinition, UNKNOWN_TOTAL, type Model } from './model.js';
import { isLoaded, knownLength, withPage } from './paged-list.js';

/** The model after an event. A pure function: `requestsFor` says which requests to the gateway the new model needs. */
export function update(model: Model, event: TuiEvent): Model {
  const next = withSelectionsInView(applyEvent(model, event));
  const isOtherRow = model.panel !== next.panel || selectedRow(model)?.key !== selectedRow(next)?.key;
  return isOtherRow ? { ...next, details: { ...next.details, scroll: 0, preview: undefined } } : next;
}

type ResponseEvent = Extract<
  TuiEvent,
  { type: 'servers' | 'page' | 'disabled-tools' | 'server' | 'session' | 'total' | 'preview' }
>;
type FailedEvent = Extract<TuiEvent, { type: 'failed' }>;

function applyEvent(model: Model, event: TuiEvent): Model {
  switch (event.type) {
    case 'key':
      return withKeyPressed(model, event.key);
    case 'resized':
      return { ...model, size: { columns: event.columns, rows: event.rows } };
    case 'tick':
      return withTime(model, event.now);
    case 'connected':
      return withConnectionOpened(model);
    case 'lost':
      return { ...model, connection: { state: 'lost', problem: event.problem, retryAt: event.retryAt } };
    case 'feed':
      return withFeedEvent(model, event.kind, event.data);
    case 'lists-changed':
      return withListsStale(model, event.lists);
    case 'done':
      return withNotice({ ...model, runningAction: undefined }, event.text, 'good');
    case 'failed':
      return withFailure(model, event);
    default:
      return withResponse(model, event);
  }
}

function withResponse(model: Model, event: ResponseEvent): Model {
  switch (event.type) {
    case 'servers':
      return withServers(model, event.servers, model.lists.servers.version === event.version);
    case 'page':
      return withLoadedPage(model, event);
    case 'disabled-tools':
      return withDisabledTools(model, event);
    case 'server':
      return { ...model, serverDetail: { detail: event.detail, version: event.version } };
    case 'session':
      return { ...model, subscriberSession: { id: event.session.id, item: event.session } };
    case 'total':
      return withTotal(model, event.list, event.total, event.version);
    default:
      return withPreview(model, event.uri, { lines: event.lines });
  }
}

function withTime(model: Model, now: number): Model {
  const isExpired = model.notice !== undefined && model.notice.until <= now;
  return { ...model, now, ...(isExpired ? { notice: undefined } : {}) };
}

/** Marks all lists to be loaded again, because events may have been missed while there was no connection. */
function withConnectionOpened(model: Model): Model {
  const lists = Object.entries(model.lists).map(([id, list]) => [id, withPagesStale(list)]);
  return {
    ...model,
    connection: { state: 'live' },
    lists: Object.fromEntries(lists) as Model['lists'],
    subscriberSession: undefined,
  };
}

function withLoadedPage(model: Model, { request, page }: Extract<TuiEvent, { type: 'page' }>): Model {
  const { list: id, position, generation, version } = request;
  const next = withList(model, id, (list) => {
    // The loaded page is dropped if pages before it were removed since the request: otherwise the list would have a gap.
    if (list.generation !== generation || position.index > list.paged.pages.length) return list;
    return withRows(list, withPage(list.paged, position, page, list.version === version));
  });
  const isUnfiltered = request.query === '' && request.server === undefined;
  return isUnfiltered && page.total !== undefined ? withTotal(next, id, page.total, version) : next;
}

function withDisabledTools(
  model: Model,
  { request, tools }: Extract<TuiEvent, { type: 'disabled-tools' }>,
): Model {
  const { query } = model.panels.tools;
  return withList(model, 'disabled-tools', (list) => {
    if (list.generation !== request.generation) return list;
    const matching = tools.filter(({ ownName, title = '', description = '' }) =>
      matchesQuery([ownName, title, description], query),
    );
    return withAllRows(list, matching.map(disabledToolRow), list.version === request.version);
  });
}

function withFailure(model: Model, { request, problem }: FailedEvent): Model {
  switch (request.kind) {
    case 'action':
      return withNotice({ ...model, runningAction: undefined }, problem, 'bad');
    case 'preview':
      return withPreview(model, request.uri, { problem });
    case 'servers':
      return withList(model, 'servers', (list) => ({ ...list, problem }));
    case 'disabled-tools':
      return withList(model, 'disabled-tools', (list) => ({ ...list, problem }));
    case 'page':
      return withList(model, request.list, (list) =>
        list.generation === request.generation ? { ...list, problem } : list,
      );
    case 'total':
      // The old total gets the new version, so that the total is not requested again until the list changes.
      return withTotal(
        model,
        request.list,
        model.totals[request.list]?.total ?? UNKNOWN_TOTAL,
        request.version,
      );
    case 'session':
      // The session may be closed. Its id is stored, so that no second request is sent while its subscription is selected.
      return { ...model, subscriberSession: { id: request.id, item: undefined } };
    default:
      // The details of a server could not be loaded, perhaps because the server was removed.
      return withNotice({ ...model, details: CLOSED_DETAILS }, problem, 'bad');
  }
}

function withPreview(
  model: Model,
  uri: string,
  outcome: { lines?: readonly string[]; problem?: string },
): Model {
  const { preview } = model.details;
  if (preview?.uri !== uri) return model;
  return { ...model, details: { ...model.details, preview: { ...preview, ...outcome } } };
}

/** Scrolls to the selected rows, and moves the focus out of an empty second list. */
function withSelectionsInView(before: Model): Model {
  const definition = panelDefinition(before.panel);
  const model = definition.second ? withoutEmptySection(before, definition.second.list) : before;
  const { mainRows, secondRows } = computeLayout(model);
  const next = withList(model, definition.main, (list) => withSelectionInView(list, mainRows));
  return definition.second
    ? withList(next, definition.second.list, (list) => withSelectionInView(list, secondRows))
    : next;
}

function withoutEmptySection(model: Model, list: ListId): Model {
  const { paged } = model.lists[list];
  const state = model.panels[model.panel];
  if (state.section === 'main' || !isLoaded(paged) || knownLength(paged) > 0) return model;
  return { ...model, panels: { ...model.panels, [model.panel]: { ...state, section: 'main' } } };
}
