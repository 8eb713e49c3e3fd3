import { ID_MARK, publicText, SERVER_MARK } from '../catalog/public-text.js';
import type { Resource } from './resource-list.js';
import type { ResourceTemplate } from './resource-template.js';

/** A resource as clients see it. */
export interface PublicResource {
  /** Public URI. */
  readonly uri: string;
  readonly id: string;
  readonly resource: Resource;
}

export interface PublicTemplate {
  readonly uriTemplate: string;
  readonly template: ResourceTemplate;
}

export const compareTemplates = (a: PublicTemplate, b: PublicTemplate): number =>
  a.uriTemplate < b.uriTemplate ? -1 : 1;

export const resourceText = ({ uri, id, resource: { server, text } }: PublicResource): string =>
  publicText(text, 'uri', uri, { [SERVER_MARK]: server, [ID_MARK]: id });

export const templateText = ({ uriTemplate, template: { server, id, text } }: PublicTemplate): string =>
  publicText(text, 'uriTemplate', uriTemplate, { [SERVER_MARK]: server, [ID_MARK]: id });
