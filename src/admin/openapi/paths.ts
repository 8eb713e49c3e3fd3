import type { JsonSchema } from '../../config/json-schema.js';
import { PROBLEMS } from '../admin-problem.js';
import { ref } from './schemas.js';

const ETAG = { ETag: { description: 'Names the version of what was decided.', schema: { type: 'string' } } };

const json = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });

const answer = (schema: string, description: string, headers?: JsonSchema): JsonSchema => ({
  description,
  ...(headers && { headers }),
  content: json(ref(schema)),
});

/** The same statuses mean the same everywhere, so each is written once. */
function problems(...statuses: number[]): JsonSchema {
  const all = [401, ...statuses].map((status) => {
    const titles = Object.values(PROBLEMS).filter((problem) => problem.status === status);
    const description = titles.map(({ title }) => title).join('; ');
    return [status, { description, content: { 'application/problem+json': { schema: ref('Problem') } } }];
  });
  return Object.fromEntries(all) as JsonSchema;
}

const inPath = (name: string, description: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
const inQuery = (name: string, description: string, schema: JsonSchema = { type: 'string' }): JsonSchema => ({
  name,
  in: 'query',
  description,
  schema,
});
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'Only if it is still this version.',
  schema: { type: 'string' },
};
const SERVER = inPath('id', 'Id of the server.');
const TOOL = inPath('tool', "The server's own name of the tool, URL-encoded.");
const PROJECT = inPath('id', 'Id of the project.');

const WRITE_PROBLEMS = [403, 404, 412, 503, 507];

const body = (schema: JsonSchema, type = 'application/json'): JsonSchema => ({
  requestBody: { required: true, content: { [type]: { schema } } },
});

const serverAction = (
  operationId: string,
  summary: string,
  parameters: JsonSchema[] = [SERVER],
): JsonSchema => ({
  post: {
    operationId,
    summary,
    tags: ['servers'],
    parameters: [...parameters, IF_MATCH],
    responses: {
      200: answer('ServerDetail', 'As it is now; lists and routing have followed.', ETAG),
      ...problems(409, ...WRITE_PROBLEMS),
    },
  },
});

const catalogList = (member: string, schema: string): JsonSchema => ({
  get: {
    operationId: `list${schema}`,
    summary: `What clients see as ${member}`,
    tags: ['catalog'],
    parameters: [
      inQuery('server', 'Only of this server.'),
      inQuery('project', 'Only what this project shows.'),
      inQuery('q', 'Words that all occur in the name, title or description.'),
      inQuery('cursor', 'nextCursor of the page before.'),
      inQuery('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: 1000 }),
    ],
    responses: { 200: answer(schema, 'A page of them.'), ...problems(404, 422) },
  },
});

const servers: JsonSchema = {
  '/admin/v1/servers': {
    get: {
      operationId: 'listServers',
      summary: 'Every server, enabled or not',
      tags: ['servers'],
      responses: { 200: answer('Servers', 'In the order of the configuration.'), ...problems() },
    },
  },
  '/admin/v1/servers/{id}': {
    get: {
      operationId: 'getServer',
      summary: 'One server, with its definition, tools and last words on stderr',
      tags: ['servers'],
      parameters: [SERVER],
      responses: { 200: answer('ServerDetail', 'As it is now.', ETAG), ...problems(404) },
    },
    put: {
      operationId: 'putServer',
      summary: 'Adds a server, or replaces its whole definition and what was decided about it',
      description: 'A definition with a command needs `admin.allowStdio: true`.',
      tags: ['servers'],
      parameters: [SERVER, IF_MATCH],
      ...body(ref('ServerDefinition')),
      responses: {
        200: answer('ServerDetail', 'It was there before.', ETAG),
        201: answer('ServerDetail', 'It was added.', ETAG),
        ...problems(400, 413, 415, 422, ...WRITE_PROBLEMS),
      },
    },
    patch: {
      operationId: 'patchServer',
      summary: 'Changes a part of a definition (RFC 7396)',
      tags: ['servers'],
      parameters: [SERVER, IF_MATCH],
      ...body({ type: 'object' }, 'application/merge-patch+json'),
      responses: {
        200: answer('ServerDetail', 'As it is now.', ETAG),
        ...problems(400, 413, 415, 422, ...WRITE_PROBLEMS),
      },
    },
    delete: {
      operationId: 'deleteServer',
      summary: 'Takes a server away, also one of the configuration file',
      description: 'One of the file stays away, also over a restart, until it is enabled or put again.',
      tags: ['servers'],
      parameters: [SERVER, IF_MATCH],
      responses: { 204: { description: 'It is gone.' }, ...problems(...WRITE_PROBLEMS) },
    },
  },
  '/admin/v1/servers/{id}/enable': serverAction(
    'enableServer',
    'Starts a server, also one of the file that was deleted; waits until it is up or fails',
  ),
  '/admin/v1/servers/{id}/disable': serverAction(
    'disableServer',
    'Stops a server; calls that run may finish',
  ),
  '/admin/v1/servers/{id}/reconnect': serverAction(
    'reconnectServer',
    'Connects anew, at once; waits until it is up or fails',
  ),
  '/admin/v1/servers/{id}/tools': {
    get: {
      operationId: 'listServerTools',
      summary: 'All tools of a server, also those that are switched off',
      tags: ['servers'],
      parameters: [SERVER],
      responses: { 200: answer('ServerTools', 'As it last listed them.'), ...problems(404) },
    },
  },
  '/admin/v1/servers/{id}/tools/{tool}/enable': serverAction('enableTool', 'Switches a tool on', [
    SERVER,
    TOOL,
  ]),
  '/admin/v1/servers/{id}/tools/{tool}/disable': serverAction('disableTool', 'Switches a tool off', [
    SERVER,
    TOOL,
  ]),
};

const projects: JsonSchema = {
  '/admin/v1/projects': {
    get: {
      operationId: 'listProjects',
      summary: 'Every project',
      tags: ['projects'],
      responses: { 200: answer('Projects', 'All of them.'), ...problems() },
    },
  },
  '/admin/v1/projects/{id}': {
    get: {
      operationId: 'getProject',
      summary: 'One project',
      tags: ['projects'],
      parameters: [PROJECT],
      responses: { 200: answer('Project', 'As it is now.', ETAG), ...problems(404) },
    },
    put: {
      operationId: 'putProject',
      summary: 'Adds or replaces a project',
      tags: ['projects'],
      parameters: [PROJECT, IF_MATCH],
      ...body(ref('ProjectBody')),
      responses: {
        200: answer('Project', 'It was there before.', ETAG),
        201: answer('Project', 'It was added.', ETAG),
        ...problems(400, 413, 415, 422, ...WRITE_PROBLEMS),
      },
    },
    delete: {
      operationId: 'deleteProject',
      summary: 'Takes a project away, also one of the configuration file',
      tags: ['projects'],
      parameters: [PROJECT, IF_MATCH],
      responses: { 204: { description: 'It is gone.' }, ...problems(...WRITE_PROBLEMS) },
    },
  },
};

const house: JsonSchema = {
  '/admin/v1/tools': catalogList('tools', 'Tools'),
  '/admin/v1/prompts': catalogList('prompts', 'Prompts'),
  '/admin/v1/resources': catalogList('resources', 'Resources'),
  '/admin/v1/resource-templates': catalogList('resource-templates', 'ResourceTemplates'),
  '/admin/v1/subscriptions': {
    get: {
      operationId: 'listSubscriptions',
      summary: 'Who is subscribed to what, the oldest first',
      tags: ['subscriptions'],
      parameters: [
        inQuery('client', 'Only of this session.'),
        inQuery('server', 'Only to resources of this server.'),
        inQuery('project', 'Only to resources that this project shows.'),
        inQuery('uri', 'Only to this resource, in any form.'),
        inQuery('q', "Words that must all occur in its URI, the server's own, the server or the client."),
        inQuery('cursor', 'nextCursor of the page before.'),
        inQuery('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: 1000 }),
      ],
      responses: { 200: answer('Subscriptions', 'A page of them.'), ...problems(404, 422) },
    },
  },
  '/admin/v1/subscriptions/{id}': {
    delete: {
      operationId: 'endSubscription',
      summary: 'Ends a subscription; its client hears no more of the resource',
      tags: ['subscriptions'],
      parameters: [inPath('id', 'Id of the subscription.')],
      responses: { 204: { description: 'It is over.' }, ...problems(403, 404, 503, 507) },
    },
  },
  '/admin/v1/sessions': {
    get: {
      operationId: 'listSessions',
      summary: 'Every client that is connected',
      tags: ['sessions'],
      responses: { 200: answer('Sessions', 'All of them.'), ...problems() },
    },
  },
  '/admin/v1/sessions/{id}': {
    delete: {
      operationId: 'closeSession',
      summary: 'Ends a session; its client has to begin anew',
      tags: ['sessions'],
      parameters: [inPath('id', 'The id in the list of sessions.')],
      responses: { 204: { description: 'It is over.' }, ...problems(403, 404, 503, 507) },
    },
  },
  '/admin/v1/config': {
    get: {
      operationId: 'getConfig',
      summary: 'How the last reload of the configuration went',
      tags: ['config'],
      responses: { 200: answer('Config', 'The outcome.'), ...problems() },
    },
  },
  '/admin/v1/config/reload': {
    post: {
      operationId: 'reloadConfig',
      summary: 'Reads the configuration file again',
      tags: ['config'],
      responses: { 200: answer('Config', 'It was accepted.'), ...problems(403, 422, 503, 507) },
    },
  },
  '/admin/v1/events': {
    get: {
      operationId: 'readEvents',
      summary: 'Everything that changes, as it changes',
      description:
        'The first event is `snapshot` with the revision of what was decided; then come `server`, `catalog`, ' +
        '`session`, `project`, `decisions` and `config`.',
      tags: ['events'],
      responses: {
        200: { description: 'A stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        ...problems(503),
      },
    },
  },
  '/admin/v1/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'This document',
      tags: ['docs'],
      security: [],
      responses: { 200: { description: 'OpenAPI 3.1.', content: json({ type: 'object' }) } },
    },
  },
};

export const paths: JsonSchema = { ...servers, ...house, ...projects };
