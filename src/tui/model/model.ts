import type { ServerDetail, ServerSummary, SessionItem } from '../../client/admin-types.js';
import type { ListRow, ListId } from './list-row.js';
import { INITIAL_LIST, selectedRowOf, type ListState } from './list-state.js';

/** Stands for the total of a list if the gateway did not send it or it could not be loaded. */
export const UNKNOWN_TOTAL = -1;

export type PanelId = 'servers' | 'tools' | 'prompts' | 'resources' | 'subscriptions' | 'clients';

/** A panel shows one list, or two below each other. */
interface PanelDefinition {
  readonly id: PanelId;
  readonly title: string;
  /** Title of the tab if there is no room for `title`. */
  readonly shortTitle?: string;
  readonly main: ListId;
  readonly second?: {
    readonly list: ListId;
    readonly title: string;
    /** Name of the list in the key line. */
    readonly label: string;
  };
}

export const PANELS: readonly PanelDefinition[] = [
  { id: 'servers', title: 'Servers', main: 'servers' },
  {
    id: 'tools',
    title: 'Tools',
    main: 'tools',
    second: { list: 'disabled-tools', title: 'Disabled', label: 'disabled' },
  },
  { id: 'prompts', title: 'Prompts', main: 'prompts' },
  {
    id: 'resources',
    title: 'Resources',
    main: 'resources',
    second: { list: 'resource-templates', title: 'Templates', label: 'templates' },
  },
  { id: 'subscriptions', title: 'Subscriptions', shortTitle: 'Subs', main: 'subscriptions' },
  { id: 'clients', title: 'Clients', main: 'sessions' },
];

export const panelDefinition = (id: PanelId): PanelDefinition =>
  PANELS.find((definition) => definition.id === id)!;

/** The state of a panel. Its search `query` and its filter `server` apply to both of its lists. */
export interface PanelState {
  /** The list in which keys move the selection, unless the details have the focus. */
  readonly section: 'main' | 'second';
  readonly query: string;
  readonly server: string | undefined;
}

/** Connection to the event feed of the gateway. */
type FeedConnection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'lost'; readonly problem: string; readonly retryAt: number };

/** A change at the gateway that the user has to confirm. */
export type TuiAction =
  | { readonly kind: 'server'; readonly verb: 'enable' | 'disable' | 'reconnect'; readonly server: string }
  | {
      readonly kind: 'tool';
      readonly verb: 'enable' | 'disable';
      readonly server: string;
      /** Own name of the tool. */
      readonly tool: string;
    }
  | { readonly kind: 'end-subscription'; readonly id: string; readonly uri: string }
  | { readonly kind: 'end-session'; readonly id: string; readonly client: string };

/** A dialog in place of the panel, or the search line. It handles all keys while it is open. */
export type Overlay =
  | { readonly kind: 'help'; readonly scroll: number }
  | {
      readonly kind: 'confirm';
      readonly action: TuiAction;
      readonly question: string;
      readonly effect: string;
    }
  | {
      readonly kind: 'server-filter';
      readonly options: readonly (string | undefined)[];
      readonly selected: number;
    }
  | { readonly kind: 'search'; readonly queryBefore: string };

export interface Preview {
  readonly uri: string;
  /** Undefined while the resource is being read, and if reading has failed. */
  readonly lines: readonly string[] | undefined;
  readonly problem: string | undefined;
}

interface Details {
  readonly isOpen: boolean;
  /** Whether keys scroll the details instead of moving in the list. */
  readonly hasFocus: boolean;
  readonly scroll: number;
  readonly preview: Preview | undefined;
}

export interface Notice {
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'plain';
  /** Time at which the notice disappears. */
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
  /** All servers, whether or not they match the search. */
  readonly servers: readonly ServerSummary[];
  /** The server whose details were loaded last. `version` is that of the list of servers at the time of the request. */
  readonly serverDetail: { readonly version: number; readonly detail: ServerDetail } | undefined;
  /** The session that was requested last for the details of a subscription. `item` is undefined if it could not be loaded. */
  readonly subscriberSession: { readonly id: string; readonly item: SessionItem | undefined } | undefined;
  /** For the tabs: totals of the lists without search and filter. */
  readonly totals: Readonly<Partial<Record<ListId, { readonly version: number; readonly total: number }>>>;
  readonly details: Details;
  readonly overlay: Overlay | undefined;
  /** The confirmed action that is running. */
  readonly runningAction: TuiAction | undefined;
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
    clients: INITIAL_PANEL,
  },
  lists: {
    servers: INITIAL_LIST,
    tools: INITIAL_LIST,
    'disabled-tools': INITIAL_LIST,
    prompts: INITIAL_LIST,
    resources: INITIAL_LIST,
    'resource-templates': INITIAL_LIST,
    subscriptions: INITIAL_LIST,
    sessions: INITIAL_LIST,
  },
  servers: [],
  serverDetail: undefined,
  subscriberSession: undefined,
  totals: {},
  details: CLOSED_DETAILS,
  overlay: undefined,
  runningAction: undefined,
  notice: undefined,
  isClosing: false,
});

export const currentPanel = ({ panel, panels }: Model): PanelState => panels[panel];

/** The list of the current section of the panel. */
export function currentList(model: Model): ListId {
  const definition = panelDefinition(model.panel);
  return currentPanel(model).section === 'second' && definition.second
    ? definition.second.list
    : definition.main;
}

export const selectedRow = (model: Model): ListRow | undefined =>
  selectedRowOf(model.lists[currentList(model)]);
