import type {
  AdminLists,
  ListName,
  PromptItem,
  ResourceItem,
  ServerSummary,
  ServerTool,
  SessionItem,
  SubscriptionItem,
  TemplateItem,
  ToolItem,
} from '../../client/admin-types.js';

/** One row of any list. The key identifies it within the list while its contents change. */
export type ListRow =
  | { readonly kind: 'server'; readonly key: string; readonly item: ServerSummary }
  | { readonly kind: 'tool'; readonly key: string; readonly item: ToolItem }
  | { readonly kind: 'disabled-tool'; readonly key: string; readonly item: DisabledTool }
  | { readonly kind: 'prompt'; readonly key: string; readonly item: PromptItem }
  | { readonly kind: 'resource'; readonly key: string; readonly item: ResourceItem }
  | { readonly kind: 'template'; readonly key: string; readonly item: TemplateItem }
  | { readonly kind: 'subscription'; readonly key: string; readonly item: SubscriptionItem }
  | { readonly kind: 'client'; readonly key: string; readonly item: SessionItem };

/** A disabled tool. The catalog of the gateway does not contain it; the admin API lists it with the tools of its server. */
export interface DisabledTool extends ServerTool {
  readonly server: string;
}

/** `servers` and `disabled-tools` are loaded as a whole, the other lists in pages. */
export type ListId = 'servers' | 'disabled-tools' | ListName;

const ROW_BUILDERS: { readonly [L in ListName]: (item: AdminLists[L]) => ListRow } = {
  tools: (item) => ({ kind: 'tool', key: item.name, item }),
  prompts: (item) => ({ kind: 'prompt', key: item.name, item }),
  resources: (item) => ({ kind: 'resource', key: item.uri, item }),
  'resource-templates': (item) => ({ kind: 'template', key: item.uriTemplate, item }),
  subscriptions: (item) => ({ kind: 'subscription', key: item.id, item }),
  sessions: (item) => ({ kind: 'client', key: item.id, item }),
};

export const listRow = <L extends ListName>(list: L, item: AdminLists[L]): ListRow =>
  ROW_BUILDERS[list](item);

export const serverRow = (item: ServerSummary): ListRow => ({ kind: 'server', key: item.id, item });

export const disabledToolRow = (item: DisabledTool): ListRow => ({
  kind: 'disabled-tool',
  key: JSON.stringify([item.server, item.ownName]),
  item,
});
