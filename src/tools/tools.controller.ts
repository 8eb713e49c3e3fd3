import { Backends } from '../backends/backends.service.js';
import { hasRefusedHeaders } from '../backends/link/link-errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { META_TOOL_SERVER, type CatalogEntry } from '../core/naming/catalog-entry.js';
import { unknownName } from '../core/naming/unknown-name.js';
import { mayMentionResources, withPublicLinks } from '../core/resources/public-uris.js';
import { withObjectOutput } from '../mcp/object-output.js';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { requireParamHeaders } from '../mcp/param-headers.js';
import type { Params } from '../mcp/json-rpc.js';
import { ownParams, requireString, withoutTask } from '../mcp/params.js';
import { splitOwnParams } from '../mcp/split-params.js';
import { outcomeOfFailure, outcomeOfResult } from '../metrics/call-outcome.js';
import { Metrics } from '../metrics/metrics.js';
import { MetaToolRegistry } from '../registry/meta-tool-registry.js';
import { ListPages } from '../registry/list-pages.js';
import { Registry } from '../registry/registry.service.js';

/** Lists the tools of all servers. Forwards each call to the server that has the tool, or runs the meta tool. */
@McpController()
export class ToolsController {
  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly pages: ListPages,
    private readonly metrics: Metrics,
    private readonly metaTools: MetaToolRegistry,
  ) {}

  @McpRequest('tools/list')
  list(params: Params | undefined, context: McpContext): JsonText | Promise<JsonText> {
    const list = this.registry.catalogOf(context.scope).tools.view(context.scope);
    return this.pages.page('tools', list, context.scope, params?.['cursor'], context.revision.era);
  }

  @McpRequest('tools/call')
  call(params: Params | undefined, context: McpContext): JsonText | Promise<JsonText> {
    const name = requireString(params, 'name');
    const view = this.registry.catalogOf(context.scope).tools.view(context.scope);
    const tool = view.find(name);
    if (!tool) {
      const owners = view.ownersOf(name);
      const pendingListing = this.backends.sessionListings.updateScopeWhenListed(context, owners);
      if (pendingListing) return pendingListing.then(() => this.call(params, context));
      this.backends.requireListed(owners, 'tools', name);
      throw unknownName('tool', name, view);
    }
    return tool.server === META_TOOL_SERVER
      ? this.callMetaTool(tool, params, context)
      : this.forward(tool, params, context);
  }

  private async callMetaTool(
    { ownName }: CatalogEntry,
    params: Params | undefined,
    context: McpContext,
  ): Promise<JsonText> {
    // Meta tools show the lists of the caller. If the caller has links of its own, the listings over these links have to be
    // complete.
    const { sessionListings } = this.backends;
    await sessionListings.whenListed(context.scope, context);
    context.scope = sessionListings.scopeOf(context.scope, context);
    return this.metaTools.call(ownName, params?.['arguments'], context);
  }

  private forward(
    tool: CatalogEntry,
    params: Params | undefined,
    context: McpContext,
    attempt: 'first' | 'last' = 'first',
  ): Promise<JsonText> {
    context.server = tool.server;
    if (attempt === 'first')
      requireParamHeaders(tool.definition.paramHeaders, params, context.argumentHeaders);
    const fail = (error: unknown): Promise<JsonText> => this.failed(error, tool, params, context, attempt);
    try {
      return this.send(tool, params, context)
        .then((answer) => this.countedResult(answer, tool, context))
        .catch(fail);
    } catch (error) {
      return fail(error);
    }
  }

  /** Sends the call to the server of the tool. Resolves with the result as the server wrote it. */
  private send(
    { server, ownName, definition }: CatalogEntry,
    params: Params | undefined,
    context: McpContext,
  ): Promise<JsonText> {
    const backend = this.backends.get(server);
    const text = withoutTask(params, context.paramsText);
    // The positions of the members are valid only if the text has not changed.
    const members = text === context.paramsText ? context.paramsMembers : undefined;
    const { paramHeaders } = definition;
    const isSplittable = context.lacksProgressToken && !context.span && !paramHeaders;
    const split = isSplittable && members ? splitOwnParams(text!, 'name', ownName, members) : undefined;
    const own = split ? undefined : ownParams(text, 'name', ownName, members);
    return backend.call({
      method: 'tools/call',
      params: own?.params,
      paramsMembers: own?.paramsMembers,
      split,
      caller: context,
      target: ownName,
      paramHeaders,
      exclusive: backend.config.tools.exclusive.includes(ownName),
    });
  }

  /** Counts the call and returns the result for the client. Returns a promise only if the result may have URIs to replace. */
  private countedResult(
    answer: JsonText,
    { server, definition }: CatalogEntry,
    context: McpContext,
  ): JsonText | Promise<JsonText> {
    const result =
      context.revision.era === '2025' ? withObjectOutput(answer, definition.wrapsOutput === true) : answer;
    const count = (publicResult: JsonText): JsonText => {
      this.metrics.countToolCall(server, outcomeOfResult(result));
      return publicResult;
    };
    if (!mayMentionResources(result)) return count(result);
    const publicUris = this.registry.resourceUris.publicUrisFor(server, context.scope);
    return runSliced(withPublicLinks(result, publicUris), sliceScheduler.start()).then(count);
  }

  /**
   * If the server has refused the headers, fetches its tools again, and repeats the call if the server still lists the tool.
   * Otherwise throws the error for the client.
   */
  private async failed(
    error: unknown,
    tool: CatalogEntry,
    params: Params | undefined,
    context: McpContext,
    attempt: 'first' | 'last',
  ): Promise<JsonText> {
    if (attempt === 'first' && hasRefusedHeaders(error)) {
      const relisted = await this.refetchTool(tool, params, context);
      if (relisted) return this.forward(relisted, params, context, 'last');
    }
    this.metrics.countToolCall(tool.server, outcomeOfFailure(error));
    return this.registry.resourceUris.throwPublicError(error, tool.server, context.scope);
  }

  /**
   * Fetches the tools of the server again, and updates `context.scope`. Returns the tool as it is listed now, because its input
   * schema says which headers a call needs. Undefined if it is not listed.
   */
  private async refetchTool(
    { server, ownName }: CatalogEntry,
    params: Params | undefined,
    context: McpContext,
  ): Promise<CatalogEntry | undefined> {
    await this.backends.find(server)?.refetchTools(context);
    context.scope = this.backends.sessionListings.scopeOf(context.scope, context);
    const { scope } = context;
    const tool = this.registry.catalogOf(scope).tools.view(scope).find(requireString(params, 'name'));
    return tool?.server === server && tool.ownName === ownName ? tool : undefined;
  }
}
