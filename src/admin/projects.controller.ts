import { Body, Delete, Get, HttpCode, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminController } from './admin-controller.js';
import { ProjectBodyDto, ProjectDto, ProjectsDto } from './dto/project.dto.js';
import { ProjectAdmin, type TaggedProject } from './project-admin.js';

@AdminController('projects')
export class ProjectsController {
  constructor(private readonly admin: ProjectAdmin) {}

  /** Lists every project */
  @Get()
  listProjects(): ProjectsDto {
    return { projects: this.admin.all() };
  }

  /**
   * Shows a project
   *
   * @param id - Id of the project.
   */
  @Get(':id')
  getProject(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): ProjectDto {
    return withEtag(reply, this.admin.show(id));
  }

  /**
   * Adds or replaces a project
   *
   * @param id - Id of the project.
   * @throws {409} The configuration file defines the project, and `decisions.policy` is `file`.
   */
  @Put(':id')
  async putProject(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Body() body: ProjectBodyDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProjectDto> {
    const { created, ...project } = await this.admin.put(caller, id, body);
    if (created) reply.code(201);
    return withEtag(reply, project);
  }

  /**
   * Deletes a project, also one of the configuration file
   *
   * @param id - Id of the project.
   * @throws {409} The configuration file defines the project, and `decisions.policy` is `file`.
   */
  @Delete(':id')
  @HttpCode(204)
  deleteProject(@CurrentCaller() caller: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.remove(caller, id);
  }
}

function withEtag(reply: FastifyReply, { project, etag }: TaggedProject): ProjectDto {
  reply.header('etag', etag);
  return project;
}
