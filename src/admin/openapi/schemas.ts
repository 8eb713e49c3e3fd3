import type { JsonSchema } from '../../config/json-schema.js';
import { PROBLEMS } from '../admin-problem.js';
import { definitionSchema } from './definition-schema.js';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const flag = { type: 'boolean' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const origin = { enum: ['config', 'admin'], description: 'Where the definition comes from.' } as const;

export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const object = (properties: JsonSchema, optional: readonly string[] = []): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const listOf = (name: string): JsonSchema => ({ type: 'array', items: ref(name) });

const summary = {
  id: text,
  enabled: flag,
  state: {
    enum: ['connecting', 'ready', 'retrying', 'crash-loop', 'unresponsive', 'stopped', 'disabled'],
  },
  reason: { ...text, description: 'What last went wrong.' },
  since: time,
  transport: { enum: ['stdio', 'http', 'sse'] },
  origin,
  restarts: count,
  calls: { ...count, description: 'Since it was enabled.' },
  inFlight: count,
  waiting: count,
  pid: count,
  serverInfo: { type: 'object' },
  protocolVersion: text,
  counts: object({ tools: count, disabledTools: count, prompts: count, resources: count, templates: count }),
};
const SOMETIMES = ['reason', 'since', 'pid', 'serverInfo', 'protocolVersion'];

const page = (member: string): JsonSchema =>
  object({ [member]: listOf('CatalogItem'), nextCursor: text }, ['nextCursor']);

/** Everything the API takes and gives, by name. */
export const schemas = (): JsonSchema => ({
  ServerDefinition: definitionSchema(),
  Server: object(summary, SOMETIMES),
  ServerDetail: object(
    {
      ...summary,
      definition: {
        ...ref('ServerDefinition'),
        description: 'Values of headers and env are masked; sent back as they are, they stay as they were.',
      },
      stderr: { type: 'array', items: text },
      tools: listOf('ServerTool'),
    },
    SOMETIMES,
  ),
  ServerTool: object(
    {
      own: { ...text, description: 'What the server calls it.' },
      name: { ...text, description: 'What clients call it; absent when they do not see it.' },
      enabled: flag,
      title: text,
      description: text,
      definition: { type: 'object', description: 'As its server lists it; only of a tool that is off.' },
    },
    ['name', 'title', 'description', 'definition'],
  ),
  Servers: object({ servers: listOf('Server') }),
  ServerTools: object({ tools: listOf('ServerTool') }),
  CatalogItem: object({ name: text, server: text, own: text, definition: { type: 'object' } }),
  Tools: page('tools'),
  Prompts: page('prompts'),
  Resource: object({
    uri: { ...text, description: 'What clients call it.' },
    server: text,
    original: { ...text, description: 'What its server calls it.' },
    id: text,
    subscribers: count,
    definition: { type: 'object' },
  }),
  Resources: object({ resources: listOf('Resource'), nextCursor: text, total: count }, ['nextCursor']),
  ResourceTemplate: object({
    uriTemplate: { ...text, description: 'What clients see.' },
    server: text,
    original: { ...text, description: 'What its server calls it.' },
    id: text,
    definition: { type: 'object' },
  }),
  ResourceTemplates: object(
    { resourceTemplates: listOf('ResourceTemplate'), nextCursor: text, total: count },
    ['nextCursor'],
  ),
  Subscription: object({
    id: text,
    client: { ...text, description: 'The session, as the list of sessions calls it.' },
    server: text,
    uri: { ...text, description: 'What clients call it.' },
    original: { ...text, description: 'What its server calls it.' },
    since: time,
  }),
  Subscriptions: object({ subscriptions: listOf('Subscription'), nextCursor: text, total: count }, [
    'nextCursor',
  ]),
  Session: object(
    {
      id: { ...text, description: "A part of the id's hash; the id itself is a secret." },
      client: object({ name: text, version: text }),
      principal: text,
      project: text,
      protocolVersion: text,
      opened: time,
      inFlight: count,
      streams: count,
    },
    ['client', 'project'],
  ),
  Sessions: object({ sessions: listOf('Session') }),
  ProjectBody: {
    ...object({ servers: { type: 'array', items: text, uniqueItems: true }, description: text }, [
      'description',
    ]),
    additionalProperties: false,
  },
  Project: object({ id: text, servers: { type: 'array', items: text }, description: text, origin }, [
    'description',
  ]),
  Projects: object({ projects: listOf('Project') }),
  Config: object({ ok: flag, at: time, problem: text }, ['problem']),
  Problem: object(
    {
      type: { enum: Object.keys(PROBLEMS).map((kind) => `urn:gatehouse:problem:${kind}`) },
      title: text,
      status: { type: 'integer' },
      detail: text,
      requestId: text,
      errors: { type: 'array', items: object({ field: text, message: text }) },
    },
    ['errors'],
  ),
});
