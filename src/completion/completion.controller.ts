import { Backends } from '../backends/backends.service.js';
import { GatewayError, resourceNotFound } from '../core/errors.js';
import { unknownName } from '../core/naming/unknown-name.js';
import { mapMember, type JsonText } from '../lib/json-text/json-text.js';
import type { Scope } from '../core/scope.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { requireString, requireUri, withOwnValue } from '../mcp/params.js';
import { Registry } from '../registry/registry.service.js';

/** The prompt or template to complete, by its own name or URI at the server. */
interface Reference {
  readonly server: string;
  readonly key: 'name' | 'uri';
  readonly ownValue: string;
}

/** Completes arguments of prompts and variables of resource templates. */
@McpController()
export class CompletionController {
  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
  ) {}

  @McpRequest('completion/complete')
  complete(params: Params | undefined, context: McpContext): Promise<JsonText> {
    const ref = params?.['ref'];
    if (!isJsonObject(ref)) throw new GatewayError('invalid-params', 'ref must be an object');
    const { server, key, ownValue } = this.find(ref, context.scope);
    context.server = server;
    const ownParams = mapMember(
      context.paramsText ?? '{}',
      'ref',
      (text) => (text.startsWith('{') ? withOwnValue(text, key, ownValue) : text),
      context.paramsMembers,
    );
    return this.backends
      .get(server)
      .call({ method: 'completion/complete', params: ownParams, caller: context })
      .catch((error: unknown) => this.registry.links.throwPublicError(error, server, context.scope));
  }

  private find(ref: Params, scope: Scope): Reference {
    if (ref['type'] === 'ref/prompt') return this.findPrompt(requireString(ref, 'name'), scope);
    if (ref['type'] === 'ref/resource') return this.findTemplate(requireUri(ref), scope);
    throw new GatewayError('invalid-params', 'ref must be a ref/prompt or a ref/resource');
  }

  private findPrompt(name: string, scope: Scope): Reference {
    const view = this.registry.catalogOf(scope).prompts.view(scope);
    const prompt = view.find(name);
    if (!prompt) {
      this.backends.requireListed(view.ownersOf(name), 'prompts', name);
      throw unknownName('prompt', name, view);
    }
    return { server: prompt.server, key: 'name', ownValue: prompt.ownName };
  }

  private findTemplate(uri: string, scope: Scope): Reference {
    const view = this.registry.catalogOf(scope).resources.view(scope);
    const template = view.findTemplate(uri);
    if (template) return { server: template.server, key: 'uri', ownValue: template.uriTemplate };
    const found = view.find(uri);
    if (!found) this.backends.requireListed(view.ownersOf(uri), 'resources', uri);
    // The specification has the error code of a missing resource for reads only.
    if (!found) throw new GatewayError('invalid-params', resourceNotFound(uri).message, { uri });
    return { server: found.server, key: 'uri', ownValue: found.uri };
  }
}
