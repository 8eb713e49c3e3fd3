import type { ServerSummary, SessionItem } from '../../client/admin-types.js';
import { oneLine } from '../../client/format.js';
import { withList, withNotice, withServers } from './model-changes.js';
import { listRow, type ListId, type ListRow } from './list-row.js';
import type { Model } from './model.js';
import { isLoaded, mapRows, rowIndexOf } from './paged-list.js';

type Data = Readonly<Record<string, unknown>>;

const EVERY_LIST: readonly ListId[] = [
  'servers',
  'tools',
  'disabled-tools',
  'prompts',
  'resources',
  'resource-templates',
  'subscriptions',
  'sessions',
];

/** The lists that an event of the feed may have changed, so that they have to be loaded again. */
export function listsAffectedBy(kind: string, data: Data, model: Model): readonly ListId[] {
  if (kind === 'project') return EVERY_LIST;
  if (kind === 'subscription') return ['subscriptions', 'resources'];
  if (kind === 'session') return listsWithSession(data, model);
  // Decisions and the configuration can change the scopes of sessions. The lists of tools show the decision about each tool.
  if (kind === 'decisions' || kind === 'config') return ['sessions', 'tools', 'disabled-tools'];
  if (kind !== 'catalog') return [];
  const changedList = data['kind'];
  switch (changedList) {
    case 'tools':
      return ['tools', 'disabled-tools', 'servers'];
    case 'prompts':
      return ['prompts', 'servers'];
    default:
      return ['resources', 'resource-templates', 'servers'];
  }
}

/**
 * The lists that have to be loaded again after an event about a session. For an open session whose row is in memory, there
 * are none, because `withFeedEvent` replaces that row. An event without id says that many sessions have changed.
 */
function listsWithSession({ id, closed }: Data, { lists }: Model): readonly ListId[] {
  if (closed === true) return ['sessions', 'subscriptions'];
  const isInMemory = typeof id === 'string' && rowIndexOf(lists.sessions.paged, id) !== undefined;
  return isInMemory ? [] : ['sessions'];
}

/** Applies an event that contains the new state of a server, a session or the configuration. */
export function withFeedEvent(model: Model, kind: string, data: Data): Model {
  switch (kind) {
    case 'server':
      return withServer(model, data);
    case 'session':
      return withSession(model, data);
    case 'config':
      return withConfigOutcome(model, data);
    default:
      return model;
  }
}

function withConfigOutcome(model: Model, { ok, problem }: Data): Model {
  if (ok === false) return withNotice(model, `configuration refused: ${oneLine(problem)}`, 'bad');
  return withNotice(model, 'configuration accepted', 'good');
}

function withServer(model: Model, data: Data): Model {
  const { paged } = model.lists.servers;
  // The list of servers is not loaded yet. When it is loaded, it includes this change.
  if (!isLoaded(paged)) return model;
  const isFresh = paged.pages.every((page) => page.isFresh);
  const id = String(data['id']);
  const others = model.servers.filter((server) => server.id !== id);
  if (data['removed'] === true) return withServers(model, others, isFresh);
  const server = data as unknown as ServerSummary;
  const index = model.servers.findIndex((each) => each.id === id);
  const servers = index === -1 ? [...others, server] : model.servers.with(index, server);
  const next = withServers(model, servers, isFresh);
  if (model.serverDetail?.detail.id !== id) return next;
  return { ...next, serverDetail: { ...model.serverDetail, version: OUTDATED } };
}

/** The version of outdated details. No list of servers has this version, so the details are loaded again. */
const OUTDATED = -1;

/** Replaces the rows that show a session. The rows of a closed session disappear when the lists are loaded again. */
function withSession(model: Model, data: Data): Model {
  if (data['closed'] === true || data['id'] === undefined) return model;
  const session = data as unknown as SessionItem;
  const { id, hasStream } = session;
  const withClient = replaceRows(model, 'sessions', (row) =>
    row.key === id ? listRow('sessions', session) : row,
  );
  const next = replaceRows(withClient, 'subscriptions', (row) =>
    row.kind === 'subscription' && row.item.client === id && row.item.hasStream !== hasStream
      ? listRow('subscriptions', { ...row.item, hasStream })
      : row,
  );
  return next.subscriberSession?.id === id ? { ...next, subscriberSession: { id, item: session } } : next;
}

const replaceRows = (model: Model, list: ListId, change: (row: ListRow) => ListRow): Model =>
  withList(model, list, (state) => {
    const paged = mapRows(state.paged, change);
    return paged === state.paged ? state : { ...state, paged };
  });
