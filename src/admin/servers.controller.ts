import { Body, Delete, Get, HttpCode, Param, Patch, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdminController } from './admin-controller.js';
import { AskedBy, type Asked } from './asked.js';
import { JsonObject } from './json-object.pipe.js';
import type { PlainObject } from './plain-object.js';
import { ServerAdmin, type ServerAnswer } from './server-admin.js';
import { ServerViews, type ServerDetail, type ServerSummary, type ServerTool } from './server-views.js';

@AdminController('servers')
export class ServersController {
  constructor(
    private readonly admin: ServerAdmin,
    private readonly views: ServerViews,
  ) {}

  @Get()
  list(): { servers: ServerSummary[] } {
    return { servers: this.views.all() };
  }

  @Get(':id')
  get(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): ServerDetail {
    return tagged(reply, this.admin.show(id));
  }

  @Put(':id')
  async put(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Body(JsonObject) definition: PlainObject,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    const { created, ...answer } = await this.admin.put(by, id, definition);
    if (created) reply.code(201);
    return tagged(reply, answer);
  }

  @Patch(':id')
  async patch(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Body(JsonObject) patch: PlainObject,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    return tagged(reply, await this.admin.patch(by, id, patch));
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@AskedBy() by: Asked, @Param('id') id: string): Promise<void> {
    return this.admin.remove(by, id);
  }

  @Post(':id/enable')
  @HttpCode(200)
  async enable(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    return tagged(reply, await this.admin.setEnabled(by, id, true));
  }

  @Post(':id/disable')
  @HttpCode(200)
  async disable(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    return tagged(reply, await this.admin.setEnabled(by, id, false));
  }

  @Post(':id/reconnect')
  @HttpCode(200)
  async reconnect(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    return tagged(reply, await this.admin.reconnect(by, id));
  }

  @Get(':id/tools')
  tools(@Param('id') id: string): { tools: readonly ServerTool[] } {
    return { tools: this.views.tools(this.views.get(id)) };
  }

  @Post(':id/tools/:tool/enable')
  @HttpCode(200)
  async enableTool(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Param('tool') tool: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    return tagged(reply, await this.admin.setTool(by, id, tool, true));
  }

  @Post(':id/tools/:tool/disable')
  @HttpCode(200)
  async disableTool(
    @AskedBy() by: Asked,
    @Param('id') id: string,
    @Param('tool') tool: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetail> {
    return tagged(reply, await this.admin.setTool(by, id, tool, false));
  }
}

function tagged(reply: FastifyReply, { server, etag }: ServerAnswer): ServerDetail {
  reply.header('etag', etag);
  return server;
}
