import type { ServerSummary, SessionItem } from '../../client/admin-types.js';
import { withListsStale, withNotice, withServers } from './model-changes.js';
import type { ListId } from './list-row.js';
import type { Model } from './model.js';
import { isLoaded } from './paged-list.js';

type Data = Readonly<Record<string, unknown>>;

const EVERY_LIST: readonly ListId[] = [
  'servers',
  'tools',
  'disabled-tools',
  'prompts',
  'resources',
  'resource-templates',
  'subscriptions',
];

/** Lists that an event of the feed may have changed, to be loaded again. */
export function listsAffectedBy(kind: string, data: Data): readonly ListId[] {
  if (kind === 'project') return EVERY_LIST;
  if (kind === 'subscription') return ['subscriptions', 'resources'];
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

/** Applies events that contain the new state. */
export function withFeedEvent(model: Model, kind: string, data: Data): Model {
  switch (kind) {
    case 'server':
      return withServer(model, data);
    case 'session':
      return withSession(model, data);
    case 'config':
      return withConfigProblem(model, data);
    default:
      return model;
  }
}

function withConfigProblem(model: Model, { ok, problem }: Data): Model {
  if (ok !== false) return model;
  return withNotice(model, `configuration refused: ${typeof problem === 'string' ? problem : ''}`, 'bad');
}

function withServer(model: Model, data: Data): Model {
  const { paged } = model.lists.servers;
  // The list of servers that is loaded later includes this change.
  if (!isLoaded(paged)) return model;
  const isFresh = paged.pages.every((page) => page.isFresh);
  const id = String(data['id']);
  const others = model.servers.filter((server) => server.id !== id);
  if (data['removed'] === true) return withServers(model, others, isFresh);
  const server = data as unknown as ServerSummary;
  const at = model.servers.findIndex((known) => known.id === id);
  const servers = at === -1 ? [...others, server] : model.servers.with(at, server);
  const next = withServers(model, servers, isFresh);
  if (model.serverDetail?.detail.id !== id) return next;
  // Details are loaded again when their version is not that of the list of servers, and -1 never is.
  return { ...next, serverDetail: { ...model.serverDetail, version: -1 } };
}

function withSession(model: Model, data: Data): Model {
  const sessions = new Map(model.sessions);
  const id = String(data['id']);
  if (data['closed'] === true) sessions.delete(id);
  else sessions.set(id, data as unknown as SessionItem);
  const next = { ...model, sessions };
  // The subscriptions of a closed session end with it.
  return data['closed'] === true ? withListsStale(next, ['subscriptions']) : next;
}
