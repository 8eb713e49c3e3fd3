import type { ResourceList } from './resource-list.js';
import type { ResourceTemplate } from './resource-template.js';

/** The resources and templates that one server offers. */
export interface ResourceOffer {
  readonly server: string;
  readonly resources: ResourceList;
  readonly templates: readonly ResourceTemplate[];
}
