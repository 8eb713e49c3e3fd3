import { Body, Delete, Get, HttpCode, Param, Patch, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdminController } from './admin-controller.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { JsonObjectPipe } from './json-object.pipe.js';
import type { PlainObject } from './plain-object.js';
import { ServerAdmin, type TaggedServer } from './server-admin.js';
import { ServerViews, type ServerDetailDto, type ServerDto, type ServerToolDto } from './server-views.js';

@AdminController('servers')
export class ServersController {
  constructor(
    private readonly admin: ServerAdmin,
    private readonly views: ServerViews,
  ) {}

  @Get()
  list(): { servers: ServerDto[] } {
    return { servers: this.views.all() };
  }

  @Get(':id')
  get(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): ServerDetailDto {
    return tagged(reply, this.admin.show(id));
  }

  @Put(':id')
  async put(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Body(JsonObjectPipe) definition: PlainObject,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    const { created, ...answer } = await this.admin.put(by, id, definition);
    if (created) reply.code(201);
    return tagged(reply, answer);
  }

  @Patch(':id')
  async patch(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Body(JsonObjectPipe) patch: PlainObject,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return tagged(reply, await this.admin.patch(by, id, patch));
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@CurrentCaller() by: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.remove(by, id);
  }

  @Post(':id/enable')
  @HttpCode(200)
  async enable(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return tagged(reply, await this.admin.setEnabled(by, id, true));
  }

  @Post(':id/disable')
  @HttpCode(200)
  async disable(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return tagged(reply, await this.admin.setEnabled(by, id, false));
  }

  @Post(':id/reconnect')
  @HttpCode(200)
  async reconnect(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return tagged(reply, await this.admin.reconnect(by, id));
  }

  @Get(':id/tools')
  tools(@Param('id') id: string): { tools: readonly ServerToolDto[] } {
    return { tools: this.views.tools(this.views.get(id)) };
  }

  @Post(':id/tools/:tool/enable')
  @HttpCode(200)
  async enableTool(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Param('tool') tool: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return tagged(reply, await this.admin.setTool(by, id, tool, true));
  }

  @Post(':id/tools/:tool/disable')
  @HttpCode(200)
  async disableTool(
    @CurrentCaller() by: AdminCaller,
    @Param('id') id: string,
    @Param('tool') tool: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return tagged(reply, await this.admin.setTool(by, id, tool, false));
  }
}

function tagged(reply: FastifyReply, { server, etag }: TaggedServer): ServerDetailDto {
  reply.header('etag', etag);
  return server;
}
