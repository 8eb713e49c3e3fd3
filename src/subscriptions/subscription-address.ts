import type { ResourceView } from '../core/resources/resource-view.js';
import { patternOf } from '../core/resources/resource-pattern.js';
import { parseResourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';

/**
 * Resolves the text of a subscribe request to a server and its own URI: of a resource, a template, or a prefix (`…*`).
 * Undefined when the view has none that matches.
 */
export function findSubscriptionAddress(view: ResourceView, text: string): ResourceAddress | undefined {
  const found = view.find(text);
  if (found) return { server: found.server, uri: found.uri };
  const template = view.findTemplate(text);
  if (template) return { server: template.server, uri: template.uriTemplate };
  return text.endsWith('*') ? findPrefix(view, text) : undefined;
}

/** Only one server may have resources with the prefix. */
function findPrefix(view: ResourceView, text: string): ResourceAddress | undefined {
  const form = parseResourceForm(text);
  const formed = form && view.hasMatching(form.server, patternOf(form.uri)!) ? form : undefined;
  if (formed) return formed;
  const owners = view.servers.filter((server) => view.hasMatching(server, patternOf(text)!));
  return owners.length === 1 ? { server: owners[0]!, uri: text } : undefined;
}
