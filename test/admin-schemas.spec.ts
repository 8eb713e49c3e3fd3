import { describe, expect, it } from '@jest/globals';
import { readOpenApi } from './kit/admin-contract.js';

/*
 * The members of every response of the admin API, with their types; `?` marks those that may be absent. Scripts of operators
 * rely on them: change a line only together with the changelog. `AdminClient` checks the responses of the gateway against the
 * same document.
 */
const MEMBERS: Readonly<Record<string, string>> = {
  CatalogItem: 'definition: object, name: string, own: string, ownName: string, server: string',
  Config: 'at: date-time, ok: boolean, overruledBy: string[], problem?: string, restartNeeded: string[]',
  Decision:
    'at?: date-time, by?: string, change: disabled|enabled|defined|removed|revoked, effect: applied|ignored|unused, emergency: boolean, id: string, kind: server|project|tool|key, overrules: boolean, target: string, tool?: string',
  Decisions: 'decisions: Decision[], policy: overlay|file',
  FieldError: 'field: string, message: string',
  Key: 'decision?: Decision, expires?: date-time, id: string, projects: string[], sessions: integer, state: revoked|active|expired',
  Keys: 'keys: Key[]',
  PatchedServer:
    'alsoOffers?: string, attempts: integer, calls: integer, cause?: unauthorized|not-found|unresponsive|unreachable|crashed, changed: string[], counts: ServerCounts, decisions?: Decision[], definition: ServerDefinition, downSince?: date-time, enabled: boolean, era?: 2025|2026, eraSince?: date-time, id: string, inFlight: integer, lastFailure?: ServerFailure, missingCapabilities?: string[], nextAttempt?: date-time, notificationStream?: opening|open|lost|none, origin: config|admin, pid?: integer, protocolVersion?: string, reason?: string, restarts: integer, serverInfo?: ServerInfo, since?: date-time, state: enum, stderr: string[], tools: ServerTool[], transport: stdio|http|sse, updates?: subscriptions|none|polling|unsolicited, waiting: integer',
  Problem:
    'detail: string, errors?: FieldError[], requestId: string, status: integer, title: string, type: enum',
  Project: 'decision?: Decision, description?: string, id: string, origin: config|admin, servers: string[]',
  ProjectBody: 'description?: string, servers: string[]',
  Projects: 'projects: Project[]',
  Prompts: 'nextCursor?: string, prompts: CatalogItem[]',
  Resource:
    'definition: object, id: string, original: string, ownUri: string, server: string, subscribers: integer, uri: string',
  ResourceTemplate:
    'definition: object, id: string, original: string, ownUri: string, server: string, uriTemplate: string',
  ResourceTemplates: 'nextCursor?: string, resourceTemplates: ResourceTemplate[], total: integer',
  Resources: 'nextCursor?: string, resources: Resource[], total: integer',
  Server:
    'alsoOffers?: string, attempts: integer, calls: integer, cause?: unauthorized|not-found|unresponsive|unreachable|crashed, counts: ServerCounts, decisions?: Decision[], downSince?: date-time, enabled: boolean, era?: 2025|2026, eraSince?: date-time, id: string, inFlight: integer, nextAttempt?: date-time, notificationStream?: opening|open|lost|none, origin: config|admin, pid?: integer, protocolVersion?: string, reason?: string, restarts: integer, serverInfo?: ServerInfo, since?: date-time, state: enum, transport: stdio|http|sse, updates?: subscriptions|none|polling|unsolicited, waiting: integer',
  ServerCounts:
    'disabledTools: integer, prompts: integer, resources: integer, templates: integer, tools: integer',
  ServerDetail:
    'alsoOffers?: string, attempts: integer, calls: integer, cause?: unauthorized|not-found|unresponsive|unreachable|crashed, counts: ServerCounts, decisions?: Decision[], definition: ServerDefinition, downSince?: date-time, enabled: boolean, era?: 2025|2026, eraSince?: date-time, id: string, inFlight: integer, lastFailure?: ServerFailure, missingCapabilities?: string[], nextAttempt?: date-time, notificationStream?: opening|open|lost|none, origin: config|admin, pid?: integer, protocolVersion?: string, reason?: string, restarts: integer, serverInfo?: ServerInfo, since?: date-time, state: enum, stderr: string[], tools: ServerTool[], transport: stdio|http|sse, updates?: subscriptions|none|polling|unsolicited, waiting: integer',
  ServerFailure:
    'cause: unauthorized|not-found|unresponsive|unreachable|crashed, reason: string, stderr: string[], time: date-time',
  ServerInfo: 'name: string, version: string',
  ServerTool:
    'decision?: Decision, definition?: object, description?: string, enabled: boolean, name?: string, origin: config|admin, own: string, ownName: string, title?: string',
  ServerTools: 'tools: ServerTool[]',
  ServerTotals: 'enabled: integer, ready: integer, total: integer',
  Servers: 'servers: Server[]',
  Session:
    'calls: integer, client?: SessionClient, era: 2025|2026, hasStream: boolean, id: string, inFlight: integer, kind: session|listen, lastSeen: date-time, listChanges?: tools|prompts|resources[], opened: date-time, principal: string, project?: string, protocolVersion: string, scope: SessionScope[], streams: integer, subscriptions: integer, unfinishedLists: UnfinishedList[]',
  SessionClient: 'name: string, version: string',
  SessionDetail:
    'calls: integer, client?: SessionClient, era: 2025|2026, hasStream: boolean, id: string, inFlight: integer, kind: session|listen, lastSeen: date-time, listChanges?: tools|prompts|resources[], opened: date-time, principal: string, project?: string, protocolVersion: string, scope: SessionScope[], servers: string[], streams: integer, subscriptions: integer, unfinishedLists: UnfinishedList[]',
  SessionScope: 'project?: string, servers: string[]',
  Sessions: 'nextCursor?: string, sessions: Session[], total: integer',
  Subscription:
    'client: string, clientName?: string, hasStream: boolean, id: string, original: string, ownUri: string, server: string, since: date-time, uri: string',
  Subscriptions: 'nextCursor?: string, subscriptions: Subscription[], total: integer',
  Summary:
    'projects: integer, prompts: integer, resourceTemplates: integer, resources: integer, servers: ServerTotals, sessions: integer, subscriptions: integer, tools: integer',
  Tool: 'decision?: Decision, definition: object, name: string, origin: config|admin, own: string, ownName: string, server: string',
  Tools: 'nextCursor?: string, tools: Tool[]',
  UnfinishedList: 'entries: integer, method: string',
};

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const LONGEST_ENUM = 6;

function typeOf({ $ref, allOf, type, format, enum: values, items }: Schema): string {
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (allOf) return typeOf(allOf[0]!);
  if (items) return `${typeOf(items)}[]`;
  if (values) return values.length > LONGEST_ENUM ? 'enum' : values.join('|');
  return format ?? type ?? 'anything';
}

function membersOf({ properties = {}, required = [] }: Schema): string {
  return Object.keys(properties)
    .toSorted()
    .map((name) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(properties[name]!)}`)
    .join(', ');
}

describe('the responses of the admin API', () => {
  it('have these members', () => {
    const found = Object.entries(readOpenApi().components.schemas)
      .filter(([name]) => name !== 'ServerDefinition')
      .map(([name, schema]) => [name, membersOf(schema as Schema)]);
    expect(Object.fromEntries(found)).toEqual(MEMBERS);
  });
});
