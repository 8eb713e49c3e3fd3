import { Ctx, Payload } from '@nestjs/microservices';
import { Backends } from '../backends/backends.service.js';
import { GatewayError } from '../core/errors.js';
import { mapMember, type JsonText } from '../core/json-text.js';
import type { Entry } from '../core/name-table.js';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { isObject, type Params } from '../mcp/json-rpc.js';
import { requireString, withOwnValue } from '../mcp/params.js';
import { ListPages } from '../registry/list-pages.js';
import { Registry } from '../registry/registry.service.js';

/** The prompts of all servers as one list, and completion of their arguments. */
@McpController()
export class PromptsController {
  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly pages: ListPages,
  ) {}

  @McpRequest('prompts/list')
  list(@Payload() params: Params | undefined, @Ctx() context: McpContext): JsonText {
    return this.pages.page('prompts', this.registry.catalog.prompts, context.scope, params?.['cursor']);
  }

  @McpRequest('prompts/get')
  get(@Payload() params: Params | undefined, @Ctx() context: McpContext): Promise<JsonText> {
    const prompt = this.find(requireString(params, 'name'), context);
    const own = withOwnValue(context.paramsText, 'name', prompt.own);
    return this.backends
      .get(prompt.server)
      .call({ method: 'prompts/get', params: own, caller: context, subject: prompt.own });
  }

  @McpRequest('completion/complete')
  complete(@Payload() params: Params | undefined, @Ctx() context: McpContext): Promise<JsonText> {
    const ref = params?.['ref'];
    if (!isObject(ref) || ref['type'] !== 'ref/prompt')
      throw new GatewayError('invalid-params', 'ref must be a ref/prompt');
    const prompt = this.find(requireString(ref, 'name'), context);
    const own = mapMember(context.paramsText ?? '{}', 'ref', (text) =>
      withOwnValue(text, 'name', prompt.own),
    );
    return this.backends
      .get(prompt.server)
      .call({ method: 'completion/complete', params: own, caller: context });
  }

  private find(name: string, context: McpContext): Entry {
    const prompt = this.registry.catalog.prompts.view(context.scope).find(name);
    if (!prompt) throw new GatewayError('prompt-not-found', `Unknown prompt: ${name}`);
    return prompt;
  }
}
