import type { ConfigStatusDto } from '../admin/config.controller.js';
import type { PlainObject } from '../admin/plain-object.js';
import type { ServerDetailDto, ServerDto, ServerToolDto } from '../admin/server-views.js';
import type { SessionDto } from '../admin/session-admin.js';

export type ServerSummary = ServerDto;
export type ServerDetail = ServerDetailDto;
export type ServerTool = ServerToolDto;
export type SessionItem = SessionDto;
export type ConfigStatus = ConfigStatusDto;

/** A tool or a prompt. */
export interface NamedItem {
  readonly name: string;
  readonly server: string;
  readonly own: string;
  readonly definition: PlainObject;
}

export interface ResourceItem {
  readonly uri: string;
  readonly server: string;
  /** The server's own URI. */
  readonly original: string;
  readonly id: string;
  /** A gateway may be older than this program. */
  readonly subscribers?: number;
  readonly definition: PlainObject;
}

export interface TemplateItem {
  readonly uriTemplate: string;
  readonly server: string;
  readonly original: string;
  readonly id: string;
  readonly definition: PlainObject;
}

export interface SubscriptionItem {
  readonly id: string;
  /** As sessions are called in the list of sessions. */
  readonly client: string;
  readonly server: string;
  readonly uri: string;
  readonly original: string;
  readonly since: string;
}

/** The lists that come in pages, by their path; the member is where an answer holds the rows. */
export interface AdminLists {
  tools: NamedItem;
  prompts: NamedItem;
  resources: ResourceItem;
  'resource-templates': TemplateItem;
  subscriptions: SubscriptionItem;
}
export type ListName = keyof AdminLists;

export interface PageQuery {
  readonly server?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  readonly q?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor?: string;
  /** How many there are on all pages; not every list counts. */
  readonly total?: number;
}

/** One part of /health. */
export interface HealthPart {
  readonly status: 'up' | 'down' | 'degraded';
  readonly [fact: string]: unknown;
}

export interface Health {
  readonly status: string;
  readonly details: Readonly<Record<string, HealthPart>>;
}
