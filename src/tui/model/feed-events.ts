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
  switch (data['kind']) {
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
      return withConfig(model, data);
    default:
      return model;
  }
}

function withConfig(model: Model, { ok, problem }: Data): Model {
  if (ok !== false) return model;
  return withNotice(model, `configuration refused: ${typeof problem === 'string' ? problem : ''}`, 'bad');
}

function withServer(model: Model, data: Data): Model {
  const id = String(data['id']);
  const isFresh = model.lists.servers.paged.pages.every((page) => page.isFresh);
  // The list of servers that is loaded later includes this change.
  if (!isLoaded(model.lists.servers.paged)) return model;
  const others = model.servers.filter((server) => server.id !== id);
  if (data['removed'] === true) return withServers(model, others, isFresh);
  const server = data as unknown as ServerSummary;
  const at = model.servers.findIndex((known) => known.id === id);
  const servers = at === -1 ? [...others, server] : model.servers.with(at, server);
  const next = withServers(model, servers, isFresh);
  // The loaded details of the server are out of date: no list has version -1, so they are requested again.
  if (model.serverDetail?.detail.id !== id) return next;
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
