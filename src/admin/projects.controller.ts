import { Body, Delete, Get, HttpCode, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Project } from '../projects/projects.service.js';
import { AdminController } from './admin-controller.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { ProjectAdmin, type TaggedProject } from './project-admin.js';
import { ProjectBody } from './project-body.js';

@AdminController('projects')
export class ProjectsController {
  constructor(private readonly admin: ProjectAdmin) {}

  @Get()
  list(): { projects: Project[] } {
    return { projects: this.admin.all() };
  }

  @Get(':id')
  get(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Project {
    return tagged(reply, this.admin.show(id));
  }

  @Put(':id')
  async put(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Body() body: ProjectBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Project> {
    const { created, ...answer } = await this.admin.put(by, id, body);
    if (created) reply.code(201);
    return tagged(reply, answer);
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@CurrentCaller() by: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.remove(by, id);
  }
}

function tagged(reply: FastifyReply, { project, etag }: TaggedProject): Project {
  reply.header('etag', etag);
  return project;
}
