import type { components } from './admin-schema.js';

type Schemas = components['schemas'];

export type ServerSummary = Schemas['Server'];
export type ServerDetail = Schemas['ServerDetail'];
export type ServerTool = Schemas['ServerTool'];
export type SessionItem = Schemas['Session'];
export type GatewaySummary = Schemas['Summary'];
export type ProjectItem = Schemas['Project'];
export type ConfigStatus = Schemas['Config'];
export type DecisionList = Schemas['Decisions'];
export type KeyItem = Schemas['Key'];
export type PatchedServer = Schemas['PatchedServer'];
export type SessionDetail = Schemas['SessionDetail'];
export type AdminDecision = Schemas['Decision'];
export type ToolItem = Schemas['Tool'];
export type PromptItem = Schemas['CatalogItem'];
export type ResourceItem = Schemas['Resource'];
export type TemplateItem = Schemas['ResourceTemplate'];
export type SubscriptionItem = Schemas['Subscription'];

/**
 * The lists that come in pages, by the last part of their path: what servers offer, subscriptions of clients, and sessions.
 */
export interface AdminLists {
  tools: ToolItem;
  prompts: PromptItem;
  resources: ResourceItem;
  'resource-templates': TemplateItem;
  subscriptions: SubscriptionItem;
  sessions: SessionItem;
}
export type ListName = keyof AdminLists;

export interface PageQuery {
  /** For tools and resources: only those that the client of this session sees. */
  readonly session?: string | undefined;
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
  /** Number of rows on all pages; absent for tools and prompts. */
  readonly total?: number;
}

/** One indicator of `/health`. */
interface HealthPart {
  readonly status: 'up' | 'down' | 'degraded';
  readonly [fact: string]: unknown;
}

export interface Health {
  readonly status: string;
  readonly details: Readonly<Record<string, HealthPart>>;
}
