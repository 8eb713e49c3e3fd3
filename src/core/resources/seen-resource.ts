import { ID_MARK, publicText, SERVER_MARK } from '../catalog/public-text.js';
import type { Resource } from './resource-list.js';
import type { ResourceTemplate } from './resource-template.js';

/** A resource as clients see it. */
export interface SeenResource {
  /** What clients call it. */
  readonly uri: string;
  readonly id: string;
  readonly resource: Resource;
}

export interface SeenTemplate {
  readonly uriTemplate: string;
  readonly template: ResourceTemplate;
}

export const byTemplate = (a: SeenTemplate, b: SeenTemplate): number =>
  a.uriTemplate < b.uriTemplate ? -1 : 1;

export const resourceText = ({ uri, id, resource: { server, text } }: SeenResource): string =>
  publicText(text, 'uri', uri, { [SERVER_MARK]: server, [ID_MARK]: id });

export const templateText = ({ uriTemplate, template: { server, id, text } }: SeenTemplate): string =>
  publicText(text, 'uriTemplate', uriTemplate, { [SERVER_MARK]: server, [ID_MARK]: id });
