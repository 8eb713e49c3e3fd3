import { Backends } from '../backends/backends.service.js';
import { resourceNotFound } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { withPublicContents } from '../core/resources/public-uris.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { requireUri, withOwnValue } from '../mcp/params.js';
import { outcomeOfFailure } from '../metrics/call-outcome.js';
import { Metrics } from '../metrics/metrics.js';
import { ListPages } from '../registry/list-pages.js';
import { Registry } from '../registry/registry.service.js';
import { listedMimeTypeOf, mimeTypeOf } from './mime-type.js';

/** Lists the resources and templates of all servers. Forwards each read to the server that has the resource. */
@McpController()
export class ResourcesController {
  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly pages: ListPages,
    private readonly metrics: Metrics,
  ) {}

  @McpRequest('resources/list')
  list(params: Params | undefined, { scope }: McpContext): JsonText | Promise<JsonText> {
    const { resources } = this.registry.catalogOf(scope).resources.view(scope);
    return this.pages.page('resources', resources, scope, params?.['cursor']);
  }

  @McpRequest('resources/templates/list')
  listTemplates(params: Params | undefined, { scope }: McpContext): JsonText | Promise<JsonText> {
    const { templates } = this.registry.catalogOf(scope).resources.view(scope);
    return this.pages.page('resourceTemplates', templates, scope, params?.['cursor']);
  }

  @McpRequest('resources/read')
  async read(params: Params | undefined, context: McpContext): Promise<JsonText> {
    const uri = requireUri(params);
    const found =
      this.registry.resourceUris.find(context.scope, uri) ?? (await this.findAfterListing(uri, context));
    try {
      const answer = await this.forward(found, context);
      const mimeType = await runSliced(mimeTypeOf(answer), sliceScheduler.start());
      const result = await this.publicResult(answer, found, context);
      this.metrics.countResourceRead(found.server, mimeType ?? listedMimeTypeOf(found), 'ok');
      return result;
    } catch (error) {
      this.metrics.countResourceRead(found.server, listedMimeTypeOf(found), outcomeOfFailure(error));
      return this.registry.resourceUris.throwPublicError(error, found.server, context.scope);
    }
  }

  /**
   * Waits until the listings that are being fetched over the caller's own links have arrived, then searches again. Throws if
   * there is no such resource.
   */
  private async findAfterListing(uri: string, context: McpContext): Promise<ResolvedResource> {
    const { scope } = context;
    const owningServers = this.registry.catalogOf(scope).resources.view(scope).ownersOf(uri);
    await this.backends.sessionListings.updateScopeWhenListed(context, owningServers);
    // The wait may have replaced `context.scope`, so it is read again.
    const found = this.registry.resourceUris.find(context.scope, uri);
    if (found) return found;
    // Throws `server-unavailable` if the URI contains the id of a server that has not listed its resources yet.
    this.backends.requireListed(owningServers, 'resources', uri);
    throw resourceNotFound(uri);
  }

  private forward({ server, uri }: ResolvedResource, context: McpContext): Promise<JsonText> {
    context.server = server;
    return this.backends.get(server).call({
      method: 'resources/read',
      params: withOwnValue(context.paramsText, 'uri', uri, context.paramsMembers),
      caller: context,
    });
  }

  private publicResult(
    answer: JsonText,
    { server, uri }: ResolvedResource,
    { scope }: McpContext,
  ): Promise<JsonText> {
    const rewrite = withPublicContents(answer, this.registry.resourceUris.publicUrisFor(server, scope, uri));
    return runSliced(rewrite, sliceScheduler.start());
  }
}
