import { ID_MARK, publicText, SERVER_MARK } from '../catalog/public-text.js';
import type { Resource } from './resource-list.js';
import type { ResourceTemplate } from './resource-template.js';

/** A resource with the URI and identifier that clients see. */
export interface PublicResource {
  /** Public URI. */
  readonly uri: string;
  readonly id: string;
  readonly resource: Resource;
}

/** A template with the URI template that clients see. */
export interface PublicTemplate {
  /** Public URI template. */
  readonly uriTemplate: string;
  readonly template: ResourceTemplate;
}

export const compareTemplates = (a: PublicTemplate, b: PublicTemplate): number =>
  a.uriTemplate < b.uriTemplate ? -1 : 1;

/** The definition of the resource as JSON, as clients see it. */
export const resourceText = ({ uri, id, resource: { server, text } }: PublicResource): string =>
  publicText(text, 'uri', uri, { [SERVER_MARK]: server, [ID_MARK]: id });

/** The definition of the template as JSON, as clients see it. */
export const templateText = ({ uriTemplate, template: { server, id, text } }: PublicTemplate): string =>
  publicText(text, 'uriTemplate', uriTemplate, { [SERVER_MARK]: server, [ID_MARK]: id });
