import type { ServerDetail, ServerSummary } from '../../admin/server-views.js';
import type { SessionView } from '../../admin/session-admin.js';
import type { Entry, ListId } from './entry.js';
import { NEW_LIST, selectedEntry, type ListState } from './list-state.js';

export type PanelId = 'servers' | 'tools' | 'prompts' | 'resources' | 'subscriptions';

/** A panel shows one list, and some a second one below it. */
export interface PanelPlan {
  readonly id: PanelId;
  readonly title: string;
  readonly main: ListId;
  readonly second?: {
    readonly list: ListId;
    readonly title: string;
    /** For the line of keys. */
    readonly label: string;
  };
}

export const PANELS: readonly PanelPlan[] = [
  { id: 'servers', title: 'Servers', main: 'servers' },
  {
    id: 'tools',
    title: 'Tools',
    main: 'tools',
    second: { list: 'off-tools', title: 'Switched off', label: 'off' },
  },
  { id: 'prompts', title: 'Prompts', main: 'prompts' },
  {
    id: 'resources',
    title: 'Resources',
    main: 'resources',
    second: { list: 'resource-templates', title: 'Templates', label: 'templates' },
  },
  { id: 'subscriptions', title: 'Subscriptions', main: 'subscriptions' },
];

export const planOf = (id: PanelId): PanelPlan => PANELS.find((plan) => plan.id === id)!;

/** What somebody looks for in a panel. */
export interface PanelState {
  readonly section: 'main' | 'second';
  readonly query: string;
  readonly server: string | undefined;
}

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'lost'; readonly problem: string; readonly retryAt: number };

/** What is done to the gateway once somebody has confirmed it. */
export type Deed =
  | { readonly kind: 'server'; readonly action: 'enable' | 'disable' | 'reconnect'; readonly server: string }
  | {
      readonly kind: 'tool';
      readonly action: 'enable' | 'disable';
      readonly server: string;
      /** The server's own name for it. */
      readonly tool: string;
    }
  | { readonly kind: 'end-subscription'; readonly id: string; readonly uri: string };

/** What lies over the panel and takes the keys. */
export type Overlay =
  | { readonly kind: 'help'; readonly scroll: number }
  | { readonly kind: 'confirm'; readonly deed: Deed; readonly question: string; readonly effect: string }
  | { readonly kind: 'servers'; readonly options: readonly (string | undefined)[]; readonly selected: number }
  | { readonly kind: 'search'; readonly before: string };

export interface Preview {
  readonly uri: string;
  /** Undefined while it is on its way. */
  readonly lines: readonly string[] | undefined;
  readonly problem: string | undefined;
}

export interface Details {
  readonly isOpen: boolean;
  /** Whether the keys scroll it, rather than move in the list. */
  readonly hasFocus: boolean;
  readonly scroll: number;
  readonly preview: Preview | undefined;
}

export interface Notice {
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'plain';
  /** When it has been read. */
  readonly until: number;
}

export interface Model {
  readonly gateway: string;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly now: number;
  readonly connection: Connection;
  readonly panel: PanelId;
  readonly panels: Readonly<Record<PanelId, PanelState>>;
  readonly lists: Readonly<Record<ListId, ListState>>;
  /** All of them, whatever the panel shows. */
  readonly servers: readonly ServerSummary[];
  /** The one whose details are open, with what only a closer look tells. */
  readonly serverDetail: { readonly version: number; readonly detail: ServerDetail } | undefined;
  readonly sessions: ReadonlyMap<string, SessionView>;
  readonly sessionsVersion: { readonly wanted: number; readonly held: number };
  /** How many there are without any filter, for the tabs. */
  readonly totals: Readonly<Partial<Record<ListId, { readonly version: number; readonly total: number }>>>;
  readonly details: Details;
  readonly overlay: Overlay | undefined;
  /** Being done right now. */
  readonly deed: Deed | undefined;
  readonly notice: Notice | undefined;
  readonly isOver: boolean;
}

const NEW_PANEL: PanelState = { section: 'main', query: '', server: undefined };
export const CLOSED: Details = { isOpen: false, hasFocus: false, scroll: 0, preview: undefined };

export const newModel = (gateway: string, size: Model['size'], now: number): Model => ({
  gateway,
  size,
  now,
  connection: { state: 'connecting' },
  panel: 'servers',
  panels: {
    servers: NEW_PANEL,
    tools: NEW_PANEL,
    prompts: NEW_PANEL,
    resources: NEW_PANEL,
    subscriptions: NEW_PANEL,
  },
  lists: {
    servers: NEW_LIST,
    tools: NEW_LIST,
    'off-tools': NEW_LIST,
    prompts: NEW_LIST,
    resources: NEW_LIST,
    'resource-templates': NEW_LIST,
    subscriptions: NEW_LIST,
  },
  servers: [],
  serverDetail: undefined,
  sessions: new Map(),
  sessionsVersion: { wanted: 1, held: 0 },
  totals: {},
  details: CLOSED,
  overlay: undefined,
  deed: undefined,
  notice: undefined,
  isOver: false,
});

export const currentPanel = ({ panel, panels }: Model): PanelState => panels[panel];

/** The list that the keys move in. */
export function currentList(model: Model): ListId {
  const plan = planOf(model.panel);
  return currentPanel(model).section === 'second' && plan.second ? plan.second.list : plan.main;
}

export const currentEntry = (model: Model): Entry | undefined =>
  selectedEntry(model.lists[currentList(model)]);
