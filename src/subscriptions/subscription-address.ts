import type { ResourceView } from '../core/resources/resource-view.js';
import { patternOf } from '../core/resources/resource-pattern.js';
import { parseResourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';

/**
 * What a client wants to hear of: a resource, or all that fit a template or begin alike (`…*`), by the URIs of the
 * server they belong to. Undefined when there is nothing of the kind in sight.
 */
export function findSubscriptionAddress(view: ResourceView, text: string): ResourceAddress | undefined {
  const found = view.find(text);
  if (found) return { server: found.server, uri: found.uri };
  const template = view.findTemplate(text);
  if (template) return { server: template.server, uri: template.uriTemplate };
  return text.endsWith('*') ? beginningOf(view, text) : undefined;
}

/** Of the one server that has something which begins so. */
function beginningOf(view: ResourceView, text: string): ResourceAddress | undefined {
  const form = parseResourceForm(text);
  const formed = form && view.hasMatching(form.server, patternOf(form.uri)!) ? form : undefined;
  if (formed) return formed;
  const owners = view.servers.filter((server) => view.hasMatching(server, patternOf(text)!));
  return owners.length === 1 ? { server: owners[0]!, uri: text } : undefined;
}
