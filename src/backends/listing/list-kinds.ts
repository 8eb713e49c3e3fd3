import type { Listing } from '../../core/catalog/catalog.js';
import type { ListMethod } from './fetch-list.js';

/** The lists of one server. */
export type Lists = Omit<Listing, 'instructions'>;
/** The kind of a list. */
export type Kind = keyof Lists;

/** By kind: the request that fetches the list. */
export const METHODS: Readonly<Record<Kind, ListMethod>> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
};
export const KINDS = Object.keys(METHODS) as readonly Kind[];

/** By method of a list change: the lists that may have changed. */
export const KINDS_BY_LIST_CHANGE: ReadonlyMap<string, readonly Kind[]> = new Map([
  ['notifications/tools/list_changed', ['tools']],
  ['notifications/prompts/list_changed', ['prompts']],
  // MCP has no list change for templates alone.
  ['notifications/resources/list_changed', ['resources', 'templates']],
]);

/** By method of a request: the lists that may contain the tool, prompt or resource that the request names. */
export const KINDS_BY_REQUEST_METHOD: ReadonlyMap<string, readonly Kind[]> = new Map([
  ['tools/call', ['tools']],
  ['prompts/get', ['prompts']],
  ['resources/read', ['resources', 'templates']],
]);

/** The capability that a server with this list announces. */
export const capabilityOf = (kind: Kind): 'tools' | 'prompts' | 'resources' =>
  kind === 'templates' ? 'resources' : kind;
