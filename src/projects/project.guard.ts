import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { GatewayError } from '../core/errors.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import type { Params } from '../mcp/json-rpc.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { SessionListings } from '../backends/session-listings.js';
import { Projects } from './projects.service.js';

/** Members of `_meta` in which a request can name its project. */
const META_KEYS = ['projectId', 'io.gatehouse/projectId'];
const NO_PROJECTS: readonly string[] = [];

/**
 * Requests with these methods wait until servers with `isolation: session` have sent their lists over the caller's own
 * links, or until a timeout.
 */
const LIST_METHODS = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']);

/**
 * Sets project and scope of an MCP message. The scope has the servers that the principal is granted, limited to those
 * of the project if the message names one.
 */
@Injectable()
export class ProjectGuard implements CanActivate {
  constructor(
    private readonly projects: Projects,
    private readonly listings: SessionListings,
  ) {}

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    if (execution.getType() !== 'rpc') return true;
    const rpc = execution.switchToRpc();
    const context = rpc.getContext<McpContext>();
    const named = context.namedProjects;
    const namedInMeta = projectsIn(rpc.getData<Params | undefined>());
    const project = named[0] ?? namedInMeta[0];
    const isOther = (name: string): boolean => name !== project;
    if (named.some(isOther) || namedInMeta.some(isOther))
      throw new GatewayError(
        'invalid-params',
        'The path, header, session and _meta must name the same project',
      );
    context.project = project;
    const scope = this.projects.scope(context.principal, project);
    const isList = LIST_METHODS.has(context.method);
    const pendingListing = isList ? this.listings.whenListed(scope, context) : undefined;
    const setScope = (): true => {
      context.scope = this.listings.scopeOf(scope, context);
      return true;
    };
    return pendingListing ? pendingListing.then(setScope) : setScope();
  }
}

/** The projects that `_meta` names. Throws for a value that is not a string. */
function projectsIn(params: Params | undefined): readonly string[] {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return NO_PROJECTS;
  let projects = NO_PROJECTS;
  for (const key of META_KEYS) {
    const project = meta[key];
    if (project === undefined) continue;
    if (typeof project !== 'string')
      throw new GatewayError('invalid-params', `_meta.${key} must be a string`);
    projects = [...projects, project];
  }
  return projects;
}
