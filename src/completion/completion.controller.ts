import { Backends } from '../backends/backends.service.js';
import { GatewayError, resourceNotFound } from '../core/errors.js';
import { unknownName } from '../core/naming/unknown-name.js';
import { mapMember, type JsonText } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { requireString, requireUri, withOwnValue } from '../mcp/params.js';
import { Registry } from '../registry/registry.service.js';

/** The prompt or template whose argument is completed. */
interface Reference {
  readonly server: string;
  /** The member of `ref` that identifies the prompt or template. */
  readonly key: 'name' | 'uri';
  /** The name or URI that the server itself uses. It replaces the public one in the request to the server. */
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
  async complete(params: Params | undefined, context: McpContext): Promise<JsonText> {
    const ref = params?.['ref'];
    if (!isJsonObject(ref)) throw new GatewayError('invalid-params', 'ref must be an object');
    const { server, key, ownValue } = await this.find(ref, context);
    context.server = server;
    const ownRef = (refText: string): string =>
      refText.startsWith('{') ? withOwnValue(refText, key, ownValue) : refText;
    const ownParams = mapMember(context.paramsText ?? '{}', 'ref', ownRef, context.paramsMembers);
    return this.backends
      .get(server)
      .call({ method: 'completion/complete', params: ownParams, caller: context })
      .catch((error: unknown) => this.registry.resourceUris.throwPublicError(error, server, context.scope));
  }

  private find(ref: Params, context: McpContext): Reference | Promise<Reference> {
    if (ref['type'] === 'ref/prompt') return this.findPrompt(requireString(ref, 'name'), context);
    if (ref['type'] === 'ref/resource') return this.findTemplate(requireUri(ref), context);
    throw new GatewayError('invalid-params', 'ref.type must be ref/prompt or ref/resource');
  }

  private findPrompt(name: string, context: McpContext): Reference | Promise<Reference> {
    const { scope } = context;
    const view = this.registry.catalogOf(scope).prompts.view(scope);
    const prompt = view.find(name);
    if (prompt) return { server: prompt.server, key: 'name', ownValue: prompt.ownName };
    const owners = view.ownersOf(name);
    const pendingListing = this.backends.sessionListings.updateScopeWhenListed(context, owners);
    if (pendingListing) return pendingListing.then(() => this.findPrompt(name, context));
    this.backends.requireListed(owners, 'prompts', name);
    throw unknownName('prompt', name, view);
  }

  private findTemplate(uri: string, context: McpContext): Reference | Promise<Reference> {
    const { scope } = context;
    const view = this.registry.catalogOf(scope).resources.view(scope);
    const template = view.findTemplate(uri);
    if (template) return { server: template.server, key: 'uri', ownValue: template.uriTemplate };
    const found = view.find(uri);
    if (found) return { server: found.server, key: 'uri', ownValue: found.uri };
    const owners = view.ownersOf(uri);
    const pendingListing = this.backends.sessionListings.updateScopeWhenListed(context, owners);
    if (pendingListing) return pendingListing.then(() => this.findTemplate(uri, context));
    this.backends.requireListed(owners, 'resources', uri);
    // Not an error of the kind `resource-not-found`: the error code of that kind is only for failed reads.
    throw new GatewayError('invalid-params', resourceNotFound(uri).message, { uri });
  }
}
