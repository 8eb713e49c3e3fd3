/** A test that shows a scenario: a file and a part of the test's name. */
export interface Proof {
  readonly file: string;
  readonly test: string;
}

/** One scenario of the documents the gateway was created from. `pending` says what will deliver it. */
export interface Requirement {
  readonly seed: '000' | '001' | '002' | '003' | '004';
  readonly scenario: string;
  readonly proofs?: readonly Proof[];
  readonly pending?: Pending;
}

const CONTROL_PLANE = 'issue 3';
const RESOURCES = 'issue 4';
const SUBSCRIPTIONS = 'issue 5';
const TERMINAL_UI = 'issue 6';

type Pending = typeof CONTROL_PLANE | typeof RESOURCES | typeof SUBSCRIPTIONS | typeof TERMINAL_UI;

const e2e = (theme: string, test: string): Proof => ({ file: `test/e2e/${theme}.spec.ts`, test });

type Scenarios = Readonly<Record<string, Pending | readonly Proof[]>>;

const of = (seed: Requirement['seed'], scenarios: Scenarios): Requirement[] =>
  Object.entries(scenarios).map(([scenario, state]) =>
    typeof state === 'string' ? { seed, scenario, pending: state } : { seed, scenario, proofs: state },
  );

/** Resource aggregation with subscription proxying. */
const SEED_000: Scenarios = {
  'Client requests resource list': RESOURCES,
  'Client reads a resource': RESOURCES,
  'Client requests resource templates': RESOURCES,
  'Client subscribes to a resource': SUBSCRIPTIONS,
  'Subscription mapping storage': SUBSCRIPTIONS,
  'Backend sends resource update': SUBSCRIPTIONS,
  'Notification without subscribers': SUBSCRIPTIONS,
  'Client unsubscribes': SUBSCRIPTIONS,
  'Subscription cleanup on disconnect': SUBSCRIPTIONS,
  'Maximum subscriptions per client': SUBSCRIPTIONS,
  'Backend supports subscriptions': SUBSCRIPTIONS,
  'Backend does not support subscriptions': SUBSCRIPTIONS,
};

/** Resource subscriptions. */
const SEED_001: Scenarios = {
  'Client receives capability advertisement': SUBSCRIPTIONS,
  'Successful subscription request': SUBSCRIPTIONS,
  'Subscription to non-existent resource': SUBSCRIPTIONS,
  'Successful unsubscription request': SUBSCRIPTIONS,
  'Backend server sends resource update notification': SUBSCRIPTIONS,
  'Notification for non-subscribed resource': SUBSCRIPTIONS,
  'Client disconnect with active subscriptions': SUBSCRIPTIONS,
  'Subscription limit exceeded': SUBSCRIPTIONS,
};

/** Resources: synchronised, namespaced, matched, listed, read, described, measured, shown. */
const SEED_002: Scenarios = {
  'Fetch resources on server connection': RESOURCES,
  'Fetch resources with pagination': RESOURCES,
  'Fetch resources with no resources': RESOURCES,
  'Namespace resource URI': RESOURCES,
  'Preserve URI structure in namespacing': RESOURCES,
  'Multiple servers with same resource name': RESOURCES,
  'Store resource template': RESOURCES,
  'Match URI against template': RESOURCES,
  'Template with no match': RESOURCES,
  'List all aggregated resources': RESOURCES,
  'List resources with pagination': RESOURCES,
  'List cached resource list': RESOURCES,
  'Cache invalidation on list change': RESOURCES,
  'Read namespaced resource': RESOURCES,
  'Read non-existent resource': RESOURCES,
  'Read resource from template': RESOURCES,
  'Read resource with multi-modal content': RESOURCES,
  'List all aggregated templates': RESOURCES,
  'Cache template list': RESOURCES,
  'Subscribe to resource': SUBSCRIPTIONS,
  'Subscribe to non-existent resource': SUBSCRIPTIONS,
  'Unsubscribe from resource': SUBSCRIPTIONS,
  'Forward resource update notification': SUBSCRIPTIONS,
  'Catalog resources with filter': RESOURCES,
  'Describe resource details': RESOURCES,
  'Search resources': RESOURCES,
  'Catalog resource templates': RESOURCES,
  'Resource not found': RESOURCES,
  'Resource read error': RESOURCES,
  'Subscription error': SUBSCRIPTIONS,
  'Track resource read operations': RESOURCES,
  'Track subscription count': SUBSCRIPTIONS,
  'Display resources panel': TERMINAL_UI,
  'Filter resources by server': TERMINAL_UI,
  'Search resources in TUI': TERMINAL_UI,
  'View resource details': TERMINAL_UI,
  'Display resource templates': TERMINAL_UI,
};

/** Tools: aggregated, routed, filtered by project, registered as servers come and go, called side by side. */
const SEED_003: Scenarios = {
  'Aggregate tools from multiple servers': [
    e2e('real-servers', 'lists the tools of all servers in one list'),
    e2e('naming', 'marks every tool with its server'),
  ],
  'Tool list response': [
    e2e('naming', 'prefixes every tool and prompt with its server'),
    e2e('naming', 'conflict: prefixes only names that two servers share'),
    e2e('naming', 'marks every tool with its server'),
  ],
  'Route tool call to server': [
    e2e('naming', 'routes each name to the server behind it'),
    e2e('byte-fidelity', 'of a tool result arrive as the server wrote them'),
  ],
  'Tool not found': [e2e('naming', 'says of an unknown tool that it is unknown, by its name')],
  'Server unavailable during tool call': [
    e2e('recovery', 'fails its calls at once with -31003'),
    e2e('recovery', 'stays listed, and its calls fail at once with -31003'),
    e2e('recovery', 'is in the log: its end with the reason'),
  ],
  'Standardize resource URI': RESOURCES,
  'Resource list aggregation': RESOURCES,
  // Of tools it is shown by projects.spec.ts; it also speaks of resources.
  'Filter by project': RESOURCES,
  'No project filter': [
    e2e('real-servers', 'lists the tools of all servers in one list'),
    e2e('projects', 'by nobody, and then the tools of all servers are there'),
  ],
  'Register tools on server enable': [
    e2e('reload', 'takes servers away and adds them, and clients are told'),
  ],
  'Unregister tools on server disable': [
    e2e('reload', 'takes servers away and adds them, and clients are told'),
  ],
  'Update tools on tool enable/disable': [
    e2e('reload', 'in what a link does not depend on reconnects nothing, and holds at once'),
  ],
  'Concurrent tool calls': [
    e2e('real-servers', 'calls tools of all servers for two clients at once'),
    e2e('equal-ids', 'get their own answers'),
  ],
  'Server concurrency limits': [
    e2e('call-gate', 'lets through as many calls as the config says, lets as many wait'),
    e2e('call-gate', 'lets clients take turns'),
  ],
};

/** Subscriptions as the 2025-11-25 specification has them; this document lists tests where others have scenarios. */
const SEED_004: Scenarios = {
  'Specification 1: resources/subscribe': SUBSCRIPTIONS,
  'Specification 2: resources/unsubscribe': SUBSCRIPTIONS,
  'Specification 3: resources/updated to all active subscribers': SUBSCRIPTIONS,
  'Specification 4: auto-cleanup on disconnect': SUBSCRIPTIONS,
  'Notification: resources/deleted': SUBSCRIPTIONS,
  'Subscribe creates subscription': SUBSCRIPTIONS,
  'Subscribe returns success response': SUBSCRIPTIONS,
  'Subscribe: invalid URI handling': SUBSCRIPTIONS,
  'Subscribe: missing URI parameter handling': SUBSCRIPTIONS,
  'Subscribe: non-existent resource handling': SUBSCRIPTIONS,
  'Unsubscribe removes subscription': SUBSCRIPTIONS,
  'Unsubscribe returns success response': SUBSCRIPTIONS,
  'Unsubscribe: missing URI parameter handling': SUBSCRIPTIONS,
  'Multiple clients subscribe to same resource': SUBSCRIPTIONS,
  'Multiple clients receive notifications': SUBSCRIPTIONS,
  "Single client unsubscribe doesn't affect others": SUBSCRIPTIONS,
  'Resource update notifies subscribers': SUBSCRIPTIONS,
  'Notification includes metadata': SUBSCRIPTIONS,
  'Notifications only sent to subscribers': SUBSCRIPTIONS,
  'Cleanup on client disconnect': SUBSCRIPTIONS,
  'Cleanup removes all subscriptions': SUBSCRIPTIONS,
  'Duplicate subscribe is idempotent': SUBSCRIPTIONS,
  'Unsubscribe non-existent subscription': SUBSCRIPTIONS,
  'Edge case: empty URI validation': SUBSCRIPTIONS,
  'File URI validation': SUBSCRIPTIONS,
  'HTTP URI validation': SUBSCRIPTIONS,
  'HTTPS URI validation': SUBSCRIPTIONS,
  'Custom URI scheme validation': SUBSCRIPTIONS,
  'Empty URI validation': SUBSCRIPTIONS,
  'Custom URI support': SUBSCRIPTIONS,
  'Invalid type handling': SUBSCRIPTIONS,
  'Format "not_found" error': SUBSCRIPTIONS,
  'Format timeout error': SUBSCRIPTIONS,
  'Format atom errors': SUBSCRIPTIONS,
  'Format binary messages': SUBSCRIPTIONS,
  'Format unknown errors': SUBSCRIPTIONS,
};

/** Every scenario of the five documents. */
export const REQUIREMENTS: readonly Requirement[] = [
  ...of('000', SEED_000),
  ...of('001', SEED_001),
  ...of('002', SEED_002),
  ...of('003', SEED_003),
  ...of('004', SEED_004),
];
