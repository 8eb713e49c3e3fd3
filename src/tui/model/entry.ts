import type { ServerSummary, ServerTool } from '../../admin/server-views.js';
import type {
  ListName,
  Lists,
  NamedItem,
  ResourceItem,
  SubscriptionItem,
  TemplateItem,
} from '../../client/admin-answers.js';

/** One row of any list. The key tells it from the others of its list, whatever else changes. */
export type Entry =
  | { readonly kind: 'server'; readonly key: string; readonly item: ServerSummary }
  | { readonly kind: 'tool'; readonly key: string; readonly item: NamedItem }
  | { readonly kind: 'off-tool'; readonly key: string; readonly item: OffTool }
  | { readonly kind: 'prompt'; readonly key: string; readonly item: NamedItem }
  | { readonly kind: 'resource'; readonly key: string; readonly item: ResourceItem }
  | { readonly kind: 'template'; readonly key: string; readonly item: TemplateItem }
  | { readonly kind: 'subscription'; readonly key: string; readonly item: SubscriptionItem };

/** A tool that was switched off: clients do not see it, so no list of the gateway holds it. */
export interface OffTool extends ServerTool {
  readonly server: string;
}

/** Lists by what they hold. `servers` and `off-tools` come whole, the others in pages. */
export type ListId = 'servers' | 'off-tools' | ListName;

const READERS: { readonly [L in ListName]: (item: Lists[L]) => Entry } = {
  tools: (item) => ({ kind: 'tool', key: item.name, item }),
  prompts: (item) => ({ kind: 'prompt', key: item.name, item }),
  resources: (item) => ({ kind: 'resource', key: item.uri, item }),
  'resource-templates': (item) => ({ kind: 'template', key: item.uriTemplate, item }),
  subscriptions: (item) => ({ kind: 'subscription', key: item.id, item }),
};

export const entryOf = <L extends ListName>(list: L, item: Lists[L]): Entry => READERS[list](item);

export const serverEntry = (item: ServerSummary): Entry => ({ kind: 'server', key: item.id, item });

export const offToolEntry = (item: OffTool): Entry => ({
  kind: 'off-tool',
  key: JSON.stringify([item.server, item.own]),
  item,
});
