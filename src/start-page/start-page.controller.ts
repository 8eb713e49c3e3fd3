import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OperatorAccess } from '../admin/operator-access.js';
import { Backends } from '../backends/backends.service.js';
import { LiveConfig } from '../config/live-config.js';
import { Projects } from '../projects/projects.service.js';
import { START_PAGE_HEADERS, startPage, type StartPageFacts } from './start-page.js';

const PROJECT_PATH = /^\/projects\/([A-Za-z0-9_.-]+)\/mcp(?:\?|$)/;

/**
 * Serves the start page for browsers at `/`. `GatewayServer` also routes the `GET /mcp` of a browser here. The page
 * requires no credentials, but it shows the state of the servers only in response to requests that may read `/health`.
 */
@Controller()
export class StartPageController {
  constructor(
    private readonly access: OperatorAccess,
    private readonly backends: Backends,
    private readonly live: LiveConfig,
    private readonly projects: Projects,
  ) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  async page(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    reply.headers(START_PAGE_HEADERS);
    const isAllowed = (await this.access.check(request.raw)) === 'allowed';
    const project = PROJECT_PATH.exec(request.originalUrl)?.[1];
    return startPage({
      url: urlOf(request),
      project,
      needsKey: this.live.current.auth.isConfigured,
      servers: isAllowed ? this.serversOf(project) : undefined,
    });
  }

  /** The enabled servers of the project, or of the gateway. */
  private serversOf(project: string | undefined): StartPageFacts['servers'] {
    const found = project === undefined ? undefined : this.projects.find(project);
    if (project !== undefined && !found) return 'unknown project';
    return Array.from(this.backends.all())
      .filter(({ id }) => !found || found.servers.includes(id))
      .map((backend) => ({ id: backend.id, state: backend.status().state }));
  }
}

/**
 * The URL of the gateway for the browser. `OriginGuard` has checked the Host header. A proxy that terminates TLS sends the
 * scheme in X-Forwarded-Proto.
 */
function urlOf({ headers }: FastifyRequest): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? '127.0.0.1'}`;
}
