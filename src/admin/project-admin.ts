import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { decideProject } from '../state/decisions.js';
import type { ProjectDecision } from '../state/decision-store.js';
import { LiveConfig } from '../config/live-config.js';
import { PROJECT_ID } from '../config/projects-config.js';
import { RESERVED_NAMES } from '../config/schema/shape.js';
import { Projects, type Project } from '../projects/projects.service.js';
import { invalidInput, notFound } from './admin-problem.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions, type PlannedChange } from './admin-actions.js';
import { EntityTags } from './entity-tags.js';
import type { ProjectBodyDto, ProjectDto } from './dto/project.dto.js';
import { ServerViews } from './server-views.js';

export interface TaggedProject {
  readonly project: ProjectDto;
  readonly etag: string;
}

/** Changes projects. Open sessions see a change at once. */
@Injectable()
export class ProjectAdmin {
  constructor(
    private readonly projects: Projects,
    private readonly serverViews: ServerViews,
    private readonly actions: AdminActions,
    private readonly live: LiveConfig,
    private readonly tags: EntityTags,
  ) {}

  all(): ProjectDto[] {
    return Array.from(this.projects.all(), projectDto);
  }

  show(id: string): TaggedProject {
    const project = this.projects.find(id);
    if (!project) throw notFound('project', id);
    return { project: projectDto(project), etag: this.etag(project)! };
  }

  async put(
    caller: AdminCaller,
    id: string,
    body: ProjectBodyDto,
  ): Promise<TaggedProject & { created: boolean }> {
    let created = false;
    await this.actions.run(caller, { action: 'project.put', target: id }, () => {
      requireProjectId(id);
      const before = this.projects.find(id);
      caller.precondition.require(this.etag(before));
      created = before === undefined;
      return this.planReplacement(id, before, body);
    });
    return { ...this.show(id), created };
  }

  async remove(caller: AdminCaller, id: string): Promise<void> {
    await this.actions.run(caller, { action: 'project.delete', target: id }, () => {
      caller.precondition.require(this.show(id).etag);
      const isInConfigFile = this.live.current.projects.has(id);
      return { apply: this.decisionUpdate(id, isInConfigFile ? { removed: true } : undefined) };
    });
  }

  private planReplacement(
    id: string,
    before: Project | undefined,
    body: ProjectBodyDto,
  ): PlannedChange | undefined {
    const { servers, description } = body;
    const unknownServers = servers.flatMap((server, index) =>
      this.serverViews.find(server)
        ? []
        : [{ field: `servers[${index}]`, message: `there is no server \`${server}\`` }],
    );
    if (unknownServers.length > 0) throw invalidInput(unknownServers);
    if (before && isDeepStrictEqual([before.servers, before.description], [servers, description]))
      return undefined;
    const decision = { servers, ...(description === undefined ? {} : { description }) };
    return { summary: { before: before?.servers, servers }, apply: this.decisionUpdate(id, decision) };
  }

  private decisionUpdate(id: string, decision: ProjectDecision | undefined): PlannedChange['apply'] {
    return this.actions.decisionUpdate((decisions) => decideProject(decisions, id, decision));
  }

  private etag(project: Project | undefined): string | undefined {
    return project && this.tags.of([project.id, project.origin, project.servers, project.description]);
  }
}

const projectDto = ({ servers, ...project }: Project): ProjectDto => ({ ...project, servers: [...servers] });

function requireProjectId(id: string): void {
  if (!PROJECT_ID.pattern.test(id)) throw invalidInput([{ field: 'id', message: PROJECT_ID.requirement }]);
  if (RESERVED_NAMES.includes(id)) throw invalidInput([{ field: 'id', message: 'this name is reserved' }]);
}
