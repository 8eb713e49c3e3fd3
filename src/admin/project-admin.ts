import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { decideProject } from '../state/decisions.js';
import type { ProjectDecision } from '../state/decision-store.js';
import { LiveConfig } from '../config/live-config.js';
import { PROJECT_ID } from '../config/projects-config.js';
import { RESERVED_NAMES } from '../config/schema/shape.js';
import { DecisionReview } from '../decisions/decision-review.js';
import { Projects, type Project } from '../projects/projects.service.js';
import { invalidInput, notFound } from './admin-problem.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions, type PlannedChange } from './admin-actions.js';
import { EntityTags } from './entity-tags.js';
import { FilePolicy } from './file-policy.js';
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
    private readonly filePolicy: FilePolicy,
    private readonly review: DecisionReview,
  ) {}

  all(): ProjectDto[] {
    return Array.from(this.projects.all(), (project) => this.dtoOf(project));
  }

  show(id: string): TaggedProject {
    const project = this.projects.find(id);
    if (!project) throw notFound('project', id);
    return { project: this.dtoOf(project), etag: this.etag(project)! };
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
      return this.planReplacement(caller, id, before, body);
    });
    return { ...this.show(id), created };
  }

  async remove(caller: AdminCaller, id: string): Promise<void> {
    await this.actions.run(caller, { action: 'project.delete', target: id }, () => {
      caller.precondition.require(this.show(id).etag);
      this.filePolicy.requireChangeable('project', id);
      const isInConfigFile = this.live.current.projects.has(id);
      // A project of the file needs a decision that removes it. Any other one is gone when its decision is deleted (undefined).
      return { apply: this.decisionUpdate(caller, id, isInConfigFile ? { removed: true } : undefined) };
    });
  }

  dtoOf({ servers, ...project }: Project): ProjectDto {
    const decision = this.review.ofProject(project.id);
    return { ...project, servers: [...servers], ...(decision && { decision }) };
  }

  private planReplacement(
    caller: AdminCaller,
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
    this.filePolicy.requireChangeable('project', id);
    const decision = { servers, ...(description === undefined ? {} : { description }) };
    const summary = { before: before?.servers, servers };
    return { summary, apply: this.decisionUpdate(caller, id, decision) };
  }

  private decisionUpdate(
    caller: AdminCaller,
    id: string,
    decision: ProjectDecision | undefined,
  ): PlannedChange['apply'] {
    return this.actions.decisionUpdate(caller, (decisions) => decideProject(decisions, id, decision));
  }

  private etag(project: Project | undefined): string | undefined {
    return project && this.tags.of([project.id, project.origin, project.servers, project.description]);
  }
}

function requireProjectId(id: string): void {
  if (!PROJECT_ID.pattern.test(id)) throw invalidInput([{ field: 'id', message: PROJECT_ID.requirement }]);
  if (RESERVED_NAMES.includes(id)) throw invalidInput([{ field: 'id', message: 'this name is reserved' }]);
}
