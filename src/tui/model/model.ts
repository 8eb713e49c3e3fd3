import type { ServerDetail, ServerSummary, SessionItem } from '../../client/admin-types.js';
import type { ListRow, ListId } from './list-row.js';
import { INITIAL_LIST, selectedRowOf, type ListState } from './list-state.js';

export type PanelId = 'servers' | 'tools' | 'prompts' | 'resources' | 'subscriptions';

/** A panel shows one list, and some a second one below it. */
export interface PanelDefinition {
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

export const PANELS: readonly PanelDefinition[] = [
  { id: 'servers', title: 'Servers', main: 'servers' },
  {
    id: 'tools',
    title: 'Tools',
    main: 'tools',
    second: { list: 'disabled-tools', title: 'Switched off', label: 'off' },
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

export const panelDefinition = (id: PanelId): PanelDefinition => PANELS.find((plan) => plan.id === id)!;

/** What somebody looks for in a panel. */
export interface PanelState {
  readonly section: 'main' | 'second';
  readonly query: string;
  readonly server: string | undefined;
}

export type FeedConnection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'lost'; readonly problem: string; readonly retryAt: number };

/** What is done to the gateway once somebody has confirmed it. */
export type PendingAction =
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
  | {
      readonly kind: 'confirm';
      readonly action: PendingAction;
      readonly question: string;
      readonly effect: string;
    }
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
  readonly connection: FeedConnection;
  readonly panel: PanelId;
  readonly panels: Readonly<Record<PanelId, PanelState>>;
  readonly lists: Readonly<Record<ListId, ListState>>;
  /** All of them, whatever the panel shows. */
  readonly servers: readonly ServerSummary[];
  /** The one whose details are open, with what only a closer look tells. */
  readonly serverDetail: { readonly version: number; readonly detail: ServerDetail } | undefined;
  readonly sessions: ReadonlyMap<string, SessionItem>;
  readonly sessionsVersion: { readonly wanted: number; readonly held: number };
  /** How many there are without any filter, for the tabs. */
  readonly totals: Readonly<Partial<Record<ListId, { readonly version: number; readonly total: number }>>>;
  readonly details: Details;
  readonly overlay: Overlay | undefined;
  /** Being done right now. */
  readonly pendingAction: PendingAction | undefined;
  readonly notice: Notice | undefined;
  readonly isClosing: boolean;
}

const INITIAL_PANEL: PanelState = { section: 'main', query: '', server: undefined };
export const CLOSED_DETAILS: Details = { isOpen: false, hasFocus: false, scroll: 0, preview: undefined };

export const newModel = (gateway: string, size: Model['size'], now: number): Model => ({
  gateway,
  size,
  now,
  connection: { state: 'connecting' },
  panel: 'servers',
  panels: {
    servers: INITIAL_PANEL,
    tools: INITIAL_PANEL,
    prompts: INITIAL_PANEL,
    resources: INITIAL_PANEL,
    subscriptions: INITIAL_PANEL,
  },
  lists: {
    servers: INITIAL_LIST,
    tools: INITIAL_LIST,
    'disabled-tools': INITIAL_LIST,
    prompts: INITIAL_LIST,
    resources: INITIAL_LIST,
    'resource-templates': INITIAL_LIST,
    subscriptions: INITIAL_LIST,
  },
  servers: [],
  serverDetail: undefined,
  sessions: new Map(),
  sessionsVersion: { wanted: 1, held: 0 },
  totals: {},
  details: CLOSED_DETAILS,
  overlay: undefined,
  pendingAction: undefined,
  notice: undefined,
  isClosing: false,
});

export const currentPanel = ({ panel, panels }: Model): PanelState => panels[panel];

/** The list that the keys move in. */
export function currentList(model: Model): ListId {
  const plan = panelDefinition(model.panel);
  return currentPanel(model).section === 'second' && plan.second ? plan.second.list : plan.main;
}

export const selectedRow = (model: Model): ListRow | undefined =>
  selectedRowOf(model.lists[currentList(model)]);
