import { MOST_ON_PAGE } from './tool-arguments.js';

const text = { type: 'string' };

export const QUERY = {
  ...text,
  maxLength: 256,
  description: 'Words to look for; the last may be incomplete.',
};
export const SERVER_ID = { ...text, description: 'Only of this server.' };
export const CURSOR = { ...text, description: 'nextCursor of the page before.' };
export const LIMIT = {
  type: 'integer',
  minimum: 1,
  maximum: 100,
  description: 'At most so many; 20 if not given.',
};
export const pageLimit = (usual: number): object => ({
  type: 'integer',
  minimum: 1,
  maximum: MOST_ON_PAGE,
  description: `At most so many on a page; ${usual} if not given.`,
});
export const NEXT_CURSOR = { ...text, description: 'Where the next page begins; absent on the last.' };

const list = (description: string, required: readonly string[], properties: object): object => ({
  type: 'array',
  description,
  items: { type: 'object', required, properties },
});

export const RESOURCE_CARDS = list('Resources; read one by its uri.', ['uri', 'serverId'], {
  uri: text,
  name: text,
  title: text,
  mimeType: text,
  size: { type: 'number' },
  serverId: text,
});

export const TEMPLATE_CARDS = list(
  'Templates; fill in the expressions to get the uri of a resource.',
  ['uriTemplate', 'serverId'],
  { uriTemplate: text, name: text, title: text, description: text, mimeType: text, serverId: text },
);

export const TOOL_CARDS = list('Tools; call one by its name.', ['name', 'serverId'], {
  name: text,
  title: text,
  description: text,
  serverId: text,
});
