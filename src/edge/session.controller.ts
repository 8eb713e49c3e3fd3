import type { InitializeResult, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Backends } from '../backends/backends.service.js';
import { GatewayError } from '../core/errors.js';
import { readClientProfile } from '../mcp/client-profile.js';
import type { Params } from '../mcp/json-rpc.js';
import { McpController, McpNotification, McpRequest } from '../mcp/mcp.decorators.js';
import { requireString } from '../mcp/params.js';
import { LATEST_REVISION, revisionOf } from '../mcp/revisions/revision.js';
import { GATEWAY_INFO } from './gateway-info.js';
import { isLoggingLevel, LOGGING_LEVELS } from '../mcp/logging-level.js';
import { LogMessages } from './log-messages.js';
import type { RequestContext } from './request-context.js';
import { ServerInstructions } from './server-instructions.js';
import { Sessions } from './sessions.service.js';

/** The MCP methods that concern the session itself. */
@McpController()
export class SessionController {
  constructor(
    private readonly instructions: ServerInstructions,
    private readonly backends: Backends,
    private readonly logMessages: LogMessages,
    private readonly sessions: Sessions,
  ) {}

  @McpRequest('initialize')
  initialize(params: Params | undefined, context: RequestContext): InitializeResult {
    const { session, project, scope, paramsText } = context;
    const revision = revisionOf(requireString(params, 'protocolVersion')) ?? LATEST_REVISION;
    const profile = readClientProfile(params, paramsText);
    session.bindProject(project, scope);
    session.revision = revision;
    session.profile.set(profile);
    const instructions = this.instructions.forScope(scope);
    return {
      protocolVersion: revision.version,
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      serverInfo: GATEWAY_INFO,
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  @McpRequest('ping')
  ping(): Record<string, never> {
    return {};
  }

  @McpRequest('logging/setLevel')
  async setLevel(params: Params | undefined, { session }: RequestContext): Promise<Record<string, never>> {
    const level = requireString(params, 'level');
    if (!isLoggingLevel(level))
      throw new GatewayError('invalid-params', `level must be one of ${LOGGING_LEVELS.join(', ')}`);
    this.logMessages.setLevel(session, level);
    await this.sessions.persistChange(session);
    return {};
  }

  @McpNotification('notifications/initialized')
  initialized(_params: Params | undefined, { session }: RequestContext): void {
    session.isReady = true;
  }

  @McpNotification('notifications/cancelled')
  cancelled(params: Params | undefined, { session }: RequestContext): void {
    session.requests.abort(params?.['requestId'] as RequestId);
  }

  @McpNotification('notifications/progress')
  progress(params: Params | undefined, { session, paramsText }: RequestContext): void {
    session.requestsToClient.receiveProgress(params?.['progressToken'], paramsText ?? '{}');
  }

  @McpNotification('notifications/roots/list_changed')
  rootsChanged(_params: Params | undefined, { session }: RequestContext): void {
    this.backends.notifySessionLinks(session, 'notifications/roots/list_changed');
  }
}
