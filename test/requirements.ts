/** A test that covers a scenario: its file and a part of its title. */
export interface Proof {
  readonly file: string;
  readonly test: string;
}

/** One scenario of the requirement documents and the tests that cover it. */
export interface Requirement {
  readonly seed: '000' | '001' | '002' | '003' | '004';
  readonly scenario: string;
  readonly proofs: readonly Proof[];
}

const e2e = (name: string, test: string): Proof => ({ file: `test/e2e/${name}.spec.ts`, test });
const long = (name: string, test: string): Proof => ({ file: `test/long/${name}.spec.ts`, test });

/** Tests that cover several scenarios of subscriptions. */
const SUBSCRIBED = e2e(
  'subscriptions',
  'are requested at the server by its own URI, once for several clients',
);
const DELIVERED = e2e('subscriptions', 'deliver updates to exactly their clients, with the public URI');
const REAL = e2e('subscriptions-real', 'reach exactly the subscribed clients of both SDKs');
const COUNTED = e2e('subscriptions', 'are counted in metrics without labels for clients or URIs');
const UNSUBSCRIBED = e2e('subscriptions', '%s, and only for that client');
const UNKNOWN = e2e('subscriptions', 'for the unknown URI %j with that URI, and no server gets a request');
const REFUSED = e2e('subscriptions', 'when the server refuses, with its message, and leave no subscription');
const CLIENT_LEFT = e2e('subscription-lifecycle', 'ends with its session, by DELETE or by expiry');
const LIMITED = e2e('subscription-lifecycle', 'is refused over the limit, also under concurrent requests');
const LISTED = e2e('subscription-lifecycle', 'is listed by the admin API with client, server, URI and time');
const MANY = e2e('subscriptions-many', 'of one resource share one upstream subscription');
const WITHOUT_CAPABILITY = e2e(
  'subscriptions',
  'to a server without the capability send it no request, and its updates are delivered',
);
const WITHOUT_URI = e2e('subscriptions', 'with the params %j');
const IDEMPOTENT = e2e('subscriptions', 'and the response is success also without a subscription');
const SCHEMES = e2e('subscriptions', 'accept a URI of any scheme: %s');

type Scenarios = Readonly<Record<string, readonly Proof[]>>;

const requirementsOf = (seed: Requirement['seed'], scenarios: Scenarios): Requirement[] =>
  Object.entries(scenarios).map(([scenario, proofs]) => ({ seed, scenario, proofs }));

/** Resource aggregation with subscription proxying. */
const SEED_000: Scenarios = {
  'Client requests resource list': [
    e2e('resources', 'together, each once, in the order of their public URIs'),
    e2e('real-resources', 'are listed to and read by clients of both SDKs'),
  ],
  'Client reads a resource': [
    e2e('resources', 'at their server, by its own URI'),
    e2e('real-resources', 'are listed to and read by clients of both SDKs'),
  ],
  'Client requests resource templates': [e2e('resources', 'with their templates in a list of their own')],
  'Client subscribes to a resource': [SUBSCRIBED, LISTED],
  'Subscription mapping storage': [LISTED],
  'Backend sends resource update': [DELIVERED, REAL],
  'Notification without subscribers': [COUNTED, DELIVERED],
  'Client unsubscribes': [UNSUBSCRIBED, REAL],
  'Subscription cleanup on disconnect': [CLIENT_LEFT, MANY],
  'Maximum subscriptions per client': [LIMITED],
  'Backend supports subscriptions': [SUBSCRIBED, MANY],
  'Backend does not support subscriptions': [WITHOUT_CAPABILITY],
};

/** Resource subscriptions. */
const SEED_001: Scenarios = {
  'Client receives capability advertisement': [
    e2e('subscriptions', 'are advertised with the subscribe and listChanged capabilities'),
  ],
  'Successful subscription request': [SUBSCRIBED, LISTED],
  'Subscription to non-existent resource': [UNKNOWN],
  'Successful unsubscription request': [UNSUBSCRIBED],
  'Backend server sends resource update notification': [DELIVERED, REAL],
  'Notification for non-subscribed resource': [COUNTED, DELIVERED],
  'Client disconnect with active subscriptions': [CLIENT_LEFT, MANY],
  'Subscription limit exceeded': [LIMITED],
};

/** Resources: sync, naming, templates, lists, reads, meta tools, metrics, TUI. */
const SEED_002: Scenarios = {
  'Fetch resources on server connection': [
    e2e('resources', 'together, each once, in the order of their public URIs'),
    e2e('resources', 'with their templates in a list of their own'),
    e2e('resource-changes', 'is fetched, listed and forwarded once'),
  ],
  'Fetch resources with pagination': [e2e('resources', 'from every page of a server')],
  'Fetch resources with no resources': [
    e2e('resources', 'only for servers with the capability: other servers get no list request'),
  ],
  'Namespace resource URI': [
    e2e('resource-naming', 'are listed in that style, sorted and unique'),
    e2e('resource-naming', 'are accepted in every form and returned in the listed form'),
  ],
  'Preserve URI structure in namespacing': [
    e2e('resource-naming', 'are listed in that style, sorted and unique'),
    e2e('resource-naming', 'come with the identifier of each resource in _meta'),
    e2e('resource-naming', 'are accepted in every form and returned in the listed form'),
  ],
  'Multiple servers with same resource name': [
    e2e('resource-naming', 'are listed in that style, sorted and unique'),
    e2e('resources', 'at the named server when two servers have the same own URI'),
  ],
  'Store resource template': [
    e2e('resources', 'with their templates in a list of their own'),
    e2e('resource-naming', 'are listed in that style, sorted and unique'),
  ],
  'Match URI against template': [
    e2e('resources', 'through a template, with the values of the client'),
    e2e('resource-naming', 'are accepted in every form and returned in the listed form'),
  ],
  'Template with no match': [
    e2e('resources', 'only when a template matches: otherwise no server gets a request'),
  ],
  'List all aggregated resources': [
    e2e('resources', 'together, each once, in the order of their public URIs'),
    e2e('resources', 'as the server wrote them except for the URI'),
  ],
  'List resources with pagination': [
    e2e('resource-paging', 'have limits.pageSize entries per page and contain every entry exactly once'),
    e2e('resource-paging', 'continue at the same entry when resources are added'),
    e2e('resource-paging', 'continue at the same entry when resources are removed'),
  ],
  'List cached resource list': [e2e('resources', 'from the catalog, without a request to any server')],
  'Cache invalidation on list change': [
    e2e(
      'resource-changes',
      'is fetched, listed and forwarded once to exactly the clients that see the server',
    ),
    e2e('resource-changes', 'makes a removed resource unknown at once'),
  ],
  'Read namespaced resource': [
    e2e('resources', 'at their server, by its own URI'),
    e2e('resource-naming', 'are accepted in every form and returned in the listed form'),
  ],
  'Read non-existent resource': [
    e2e('resource-failures', 'of an unknown URI is -32002 with that URI, and no server gets a request'),
  ],
  'Read resource from template': [
    e2e('resources', 'through a template, with the values of the client'),
    e2e('real-resources', 'are read through expanded templates'),
  ],
  'Read resource with multi-modal content': [
    e2e('resources', 'byte for byte: texts, blobs and types are unchanged'),
    e2e('real-resources', 'are read through expanded templates'),
  ],
  'List all aggregated templates': [e2e('resources', 'with their templates in a list of their own')],
  'Cache template list': [
    e2e('resources', 'from the catalog, without a request to any server'),
    e2e('resource-changes', 'is forwarded when only the templates changed'),
  ],
  'Subscribe to resource': [SUBSCRIBED, UNKNOWN],
  'Subscribe to non-existent resource': [UNKNOWN],
  'Unsubscribe from resource': [UNSUBSCRIBED],
  'Forward resource update notification': [DELIVERED],
  'Catalog resources with filter': [
    e2e('meta-tools', 'catalog_resources lists summaries, of all servers or of one'),
  ],
  'Describe resource details': [
    e2e('meta-tools', 'describe_resource returns the definition of a resource by each form of its name'),
    e2e('meta-tools', 'describe_resource refuses an unknown resource'),
  ],
  'Search resources': [
    e2e('meta-tools', 'search_resources finds %s'),
    e2e('meta-tools', 'the better match first'),
    e2e('meta-tools', 'of one type only'),
  ],
  'Catalog resource templates': [
    e2e('meta-tools', 'catalog_resource_templates lists the templates, of all servers or of one'),
  ],
  'Resource not found': [
    e2e('resource-failures', 'of an unknown URI is -32002 with that URI, and no server gets a request'),
    e2e('resource-failures', 'is an error that clients of both SDKs recognise'),
  ],
  'Resource read error': [
    e2e('resource-failures', 'returns the error of the server byte for byte and is logged'),
    e2e('resource-failures', 'and every other failure returns the same error in revision %s'),
  ],
  'Subscription error': [
    REFUSED,
    e2e('subscriptions', 'when the server does not answer in time, and are then unsubscribed there'),
  ],
  'Track resource read operations': [
    e2e('resource-failures', 'is counted by server, type and outcome, under both metric names'),
    e2e('resource-failures', 'has at most 50 types as label values'),
  ],
  'Track subscription count': [COUNTED],
  'Display resources panel': [
    e2e('tui', 'shows all resources of all servers with URI, name, type and size'),
    long('tui-large', 'shows the first rows and the total'),
  ],
  'Filter resources by server': [e2e('tui', 'shows only the resources of the chosen server')],
  'Search resources in TUI': [
    e2e('tui', 'searches while the user types, highlights matches and hides other rows'),
    {
      file: 'src/tui/model/highlight-words.spec.ts',
      test: 'in every text that the gateway finds by one of its words',
    },
  ],
  'View resource details': [
    e2e('tui', 'shows all fields of the selected resource, and a preview of its contents'),
    { file: 'src/tui/screen/screen.spec.tsx', test: 'shows all fields of a resource in the details pane' },
  ],
  'Display resource templates': [e2e('tui', 'shows URI template and description of a resource template')],
};

/** Tools: aggregation, routing, projects, registration of servers, concurrent calls. */
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
    e2e('naming', 'routes each public name to its server, under the own name'),
    e2e('byte-fidelity', 'of a tool result arrive as the server wrote them'),
  ],
  'Tool not found': [e2e('naming', 'refuses an unknown tool with its name, without a request to a server')],
  'Server unavailable during tool call': [
    e2e('recovery', 'fails its calls at once with -31003'),
    e2e('recovery', 'stays listed, and its calls fail at once with -31003'),
    e2e('recovery', 'is logged: its exit with the reason'),
  ],
  'Standardize resource URI': [
    e2e('resources', 'together, each once, in the order of their public URIs'),
    e2e('resource-naming', 'are listed in that style, sorted and unique'),
  ],
  'Resource list aggregation': [
    e2e('resources', 'together, each once, in the order of their public URIs'),
    e2e('real-resources', 'are listed to and read by clients of both SDKs'),
  ],
  'Filter by project': [
    e2e('projects', 'by the metadata of a request, for that request'),
    e2e('resources', 'only for the servers of the project, and reads of other servers are refused there'),
    e2e('resources', 'only for the servers of the project that a single request names'),
  ],
  'No project filter': [
    e2e('real-servers', 'lists the tools of all servers in one list'),
    e2e('projects', 'optionally: without one, the lists contain all servers'),
  ],
  'Register tools on server enable': [
    e2e('admin-servers', 'enables it again: in lists and routing before the response'),
    e2e('reload', 'removes and adds servers, and clients get a list change'),
  ],
  'Unregister tools on server disable': [
    e2e('admin-servers', 'disables a server: removed from lists and routing before the response'),
    e2e('reload', 'removes and adds servers, and clients get a list change'),
  ],
  'Update tools on tool enable/disable': [
    e2e('admin-servers', 'disables and enables a tool with any name'),
    e2e('reload', 'applies keys that do not concern the connection at once and without a reconnect'),
  ],
  'Concurrent tool calls': [
    e2e('real-servers', 'calls tools of all servers for two clients at once'),
    e2e('equal-ids', 'get their own answers'),
  ],
  'Server concurrency limits': [
    e2e('call-gate', 'admits as many calls as concurrency, queues as many as queue'),
    e2e('call-gate', 'queues fairly: a busy client does not starve another'),
  ],
};

/** Subscriptions of the 2025-11-25 specification. This document lists tests instead of scenarios. */
const SEED_004: Scenarios = {
  'Specification 1: resources/subscribe': [SUBSCRIBED, REAL],
  'Specification 2: resources/unsubscribe': [UNSUBSCRIBED, REAL],
  'Specification 3: resources/updated to all active subscribers': [
    DELIVERED,
    long('many-streams', 'get an update exactly once with 10,000 event streams'),
  ],
  'Specification 4: auto-cleanup on disconnect': [CLIENT_LEFT, MANY],
  'Notification: resources/deleted': [
    e2e('subscription-lifecycle', 'stays when its resource is deleted: the client gets a deletion update'),
  ],
  'Subscribe creates subscription': [SUBSCRIBED, LISTED],
  'Subscribe returns success response': [SUBSCRIBED],
  'Subscribe: invalid URI handling': [WITHOUT_URI, UNKNOWN],
  'Subscribe: missing URI parameter handling': [WITHOUT_URI],
  'Subscribe: non-existent resource handling': [UNKNOWN],
  'Unsubscribe removes subscription': [UNSUBSCRIBED, REAL],
  'Unsubscribe returns success response': [UNSUBSCRIBED],
  'Unsubscribe: missing URI parameter handling': [e2e('subscriptions', 'but not with the params %j')],
  'Multiple clients subscribe to same resource': [SUBSCRIBED, MANY],
  'Multiple clients receive notifications': [DELIVERED, MANY],
  "Single client unsubscribe doesn't affect others": [UNSUBSCRIBED, REAL],
  'Resource update notifies subscribers': [DELIVERED],
  'Notification includes metadata': [
    DELIVERED,
    e2e('subscriptions', 'deliver updates byte for byte except for the URI'),
  ],
  'Notifications only sent to subscribers': [DELIVERED, REAL],
  'Cleanup on client disconnect': [CLIENT_LEFT],
  'Cleanup removes all subscriptions': [CLIENT_LEFT, MANY],
  'Duplicate subscribe is idempotent': [SUBSCRIBED],
  'Unsubscribe non-existent subscription': [IDEMPOTENT],
  'Edge case: empty URI validation': [UNKNOWN, IDEMPOTENT],
  'File URI validation': [SCHEMES],
  'HTTP URI validation': [SCHEMES],
  'HTTPS URI validation': [SCHEMES],
  'Custom URI scheme validation': [SCHEMES],
  'Empty URI validation': [UNKNOWN],
  'Custom URI support': [SCHEMES],
  'Invalid type handling': [WITHOUT_URI],
  'Format "not_found" error': [UNKNOWN],
  'Format timeout error': [
    e2e('subscriptions', 'when the server does not answer in time, and are then unsubscribed there'),
  ],
  'Format atom errors': [LIMITED, REFUSED],
  'Format binary messages': [REFUSED],
  'Format unknown errors': [e2e('subscriptions', 'when the server refuses without a reason')],
};

/** Every scenario of the five documents. */
export const REQUIREMENTS: readonly Requirement[] = [
  ...requirementsOf('000', SEED_000),
  ...requirementsOf('001', SEED_001),
  ...requirementsOf('002', SEED_002),
  ...requirementsOf('003', SEED_003),
  ...requirementsOf('004', SEED_004),
];
