import { DEFAULT_RESULTS, MAX_PAGE_SIZE, MAX_QUERY_LENGTH, MAX_RESULTS } from './tool-arguments.js';

const text = { type: 'string' };

export const QUERY_INPUT = {
  ...text,
  maxLength: MAX_QUERY_LENGTH,
  description: 'Words to search for; the last word may be incomplete.',
};
export const SERVER_ID_INPUT = { ...text, description: 'Id of the server; all servers if not given.' };
export const CURSOR_INPUT = { ...text, description: 'nextCursor of the previous page.' };
export const LIMIT_INPUT = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_RESULTS,
  description: `Maximum number of results; ${DEFAULT_RESULTS} if not given.`,
};
export const pageLimitInput = (defaultSize: number): object => ({
  type: 'integer',
  minimum: 1,
  maximum: MAX_PAGE_SIZE,
  description: `Maximum number of items per page; ${defaultSize} if not given.`,
});
export const NEXT_CURSOR_OUTPUT = {
  ...text,
  description: 'Cursor of the next page; absent on the last page.',
};

const list = (description: string, required: readonly string[], properties: object): object => ({
  type: 'array',
  description,
  items: { type: 'object', required, properties },
});

export const RESOURCES_OUTPUT = list(
  'Resources; read one with resources/read and its uri.',
  ['uri', 'serverId'],
  {
    uri: text,
    name: text,
    title: text,
    mimeType: text,
    size: { type: 'number' },
    serverId: text,
  },
);

export const TEMPLATES_OUTPUT = list(
  'Resource templates; expand the expressions to get the uri of a resource.',
  ['uriTemplate', 'serverId'],
  { uriTemplate: text, name: text, title: text, description: text, mimeType: text, serverId: text },
);

export const TOOLS_OUTPUT = list('Tools; call one with tools/call and its name.', ['name', 'serverId'], {
  name: text,
  title: text,
  description: text,
  serverId: text,
});
