import type { SessionItem } from '../../client/admin-types.js';
import { formatAge, formatCount, formatLastSeen, formatListen, formatScope } from '../../client/format.js';
import { programOf, subscriberName } from './client-columns.js';
import type { DetailPage } from './detail-page.js';
import type { ListRow } from './list-row.js';
import type { Model } from './model.js';

export function describeSubscription(
  row: Extract<ListRow, { kind: 'subscription' }>,
  model: Model,
  page: DetailPage,
): void {
  const { id, client: sessionId, server, uri, ownUri, since, hasStream } = row.item;
  page.field('URI', uri, 'bold');
  page.field('own URI', ownUri);
  page.field('server', server);
  page.field('since', `${since} (${formatAge(since, model.now)} ago)`);
  page.field('id', id);
  page.heading('Client');
  page.field('session', sessionId);
  page.field('stream', hasStream ? 'open' : 'none: updates wait until the client opens one');
  const { subscriberSession } = model;
  const session = subscriberSession?.id === sessionId ? subscriberSession.item : undefined;
  if (session) describeSession(session, model, page);
  else page.field('program', subscriberName(row, model));
}

export function describeClient(session: SessionItem, model: Model, page: DetailPage): void {
  const { id, streams, hasStream, subscriptions, calls, inFlight } = session;
  page.field('client', programOf(session), 'bold');
  page.field('session', id);
  page.field(
    'streams',
    hasStream ? formatCount(streams) : `${formatCount(streams)}, none for notifications`,
    hasStream || subscriptions === 0 ? 'plain' : 'bad',
  );
  page.field('subscribed', formatCount(subscriptions));
  page.field('calls', `${formatCount(calls)} (${inFlight} running)`);
  page.field('last seen', formatLastSeen(session, model.now));
  describeSession(session, model, page);
}

/** The fields of a session that the details of a client and of a subscription have in common. */
function describeSession(session: SessionItem, { now, panel }: Model, page: DetailPage): void {
  if (panel !== 'clients') page.field('program', programOf(session));
  page.field('principal', session.principal);
  page.field('project', session.project);
  for (const part of session.scope) page.field('scope', formatScope(part));
  if (session.scope.length === 0) page.field('scope', 'no servers', 'bad');
  page.field('protocol', `${session.protocolVersion} (era ${session.era})`);
  page.field('listens to', formatListen(session));
  page.field('connected', `${formatAge(session.opened, now)} ago`);
  for (const { method, entries } of session.unfinishedLists)
    page.field('unread pages', `${method}, only ${formatCount(entries)} entries were read`, 'bad');
}
