import { Get } from '@nestjs/common';
import { EVERYTHING } from '../core/scope.js';
import { Sessions } from '../edge/sessions.service.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { AdminController } from './admin-controller.js';
import { SummaryDto } from './dto/summary.dto.js';
import { ServerViews } from './server-views.js';

@AdminController('summary')
export class SummaryController {
  constructor(
    private readonly views: ServerViews,
    private readonly registry: Registry,
    private readonly projects: Projects,
    private readonly sessions: Sessions,
    private readonly subscribers: Subscribers,
  ) {}

  /** Counts servers, tools, prompts, resources, resource templates, projects, sessions and subscriptions */
  @Get()
  getSummary(): SummaryDto {
    const servers = this.views.all();
    const resources = this.registry.catalog.resources.view(EVERYTHING);
    const sum = (counted: 'tools' | 'prompts'): number =>
      servers.reduce((total, { counts }) => total + counts[counted], 0);
    return {
      servers: {
        total: servers.length,
        enabled: servers.filter(({ enabled }) => enabled).length,
        ready: servers.filter(({ state }) => state === 'ready').length,
      },
      tools: sum('tools'),
      prompts: sum('prompts'),
      resources: resources.count(),
      resourceTemplates: resources.listedTemplates.length,
      projects: [...this.projects.all()].length,
      sessions: this.sessions.size,
      subscriptions: this.subscribers.table.size,
    };
  }
}
