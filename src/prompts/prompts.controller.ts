import { Backends } from '../backends/backends.service.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { withPublicMessages } from '../core/resources/public-uris.js';
import type { CatalogEntry } from '../core/naming/catalog-entry.js';
import { unknownName } from '../core/naming/unknown-name.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { requireString, withOwnValue } from '../mcp/params.js';
import { ListPages } from '../registry/list-pages.js';
import { Registry } from '../registry/registry.service.js';

/** Lists the prompts of all servers. Forwards each `prompts/get` to the server that has the prompt. */
@McpController()
export class PromptsController {
  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly pages: ListPages,
  ) {}

  @McpRequest('prompts/list')
  list(params: Params | undefined, context: McpContext): JsonText | Promise<JsonText> {
    const list = this.registry.catalogOf(context.scope).prompts.view(context.scope);
    return this.pages.page('prompts', list, context.scope, params?.['cursor']);
  }

  @McpRequest('prompts/get')
  async get(params: Params | undefined, context: McpContext): Promise<JsonText> {
    const name = requireString(params, 'name');
    return this.forward(this.find(name, context) ?? (await this.findAfterListing(name, context)), context);
  }

  private async forward({ server, ownName }: CatalogEntry, context: McpContext): Promise<JsonText> {
    context.server = server;
    const params = withOwnValue(context.paramsText, 'name', ownName, context.paramsMembers);
    const call = { method: 'prompts/get', params, caller: context, target: ownName };
    const { resourceUris } = this.registry;
    const result = await this.backends
      .get(server)
      .call(call)
      .catch((error: unknown) => resourceUris.throwPublicError(error, server, context.scope));
    const rewrite = withPublicMessages(result, resourceUris.publicUrisFor(server, context.scope));
    return runSliced(rewrite, sliceScheduler.start());
  }

  private find(name: string, { scope }: McpContext): CatalogEntry | undefined {
    return this.registry.catalogOf(scope).prompts.view(scope).find(name);
  }

  /**
   * Waits until the listings that are being fetched over the caller's own links have arrived, then searches again. Throws if
   * there is no such prompt.
   */
  private async findAfterListing(name: string, context: McpContext): Promise<CatalogEntry> {
    const { scope } = context;
    const owners = this.registry.catalogOf(scope).prompts.view(scope).ownersOf(name);
    await this.backends.sessionListings.updateScopeWhenListed(context, owners);
    // The wait may have replaced `context.scope`, so it is read again.
    const prompt = this.find(name, context);
    if (prompt) return prompt;
    this.backends.requireListed(owners, 'prompts', name);
    throw unknownName('prompt', name, this.registry.catalogOf(scope).prompts.view(scope));
  }
}
