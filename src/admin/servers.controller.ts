import { Body, Delete, Get, HttpCode, Param, Patch, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminController } from './admin-controller.js';
import { PatchedServerDto, ServerDetailDto, ServersDto, ServerToolsDto } from './dto/server.dto.js';
import { JsonObjectPipe } from './json-object.pipe.js';
import { ServerAdmin, type TaggedServer } from './server-admin.js';
import { ServerViews } from './server-views.js';

@AdminController('servers')
export class ServersController {
  constructor(
    private readonly admin: ServerAdmin,
    private readonly views: ServerViews,
  ) {}

  /** Lists every server, enabled or not, in the order of the configuration */
  @Get()
  listServers(): ServersDto {
    return { servers: this.views.all() };
  }

  /**
   * Shows a server with its definition, its tools and its last lines on stderr
   *
   * @param id - Id of the server.
   */
  @Get(':id')
  async getServer(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return withEtag(reply, await this.admin.show(id, caller.actor));
  }

  /**
   * Adds a server, or replaces the whole definition of an existing one; earlier decisions about it are dropped
   *
   * @remarks A new `command`, `args`, `env` or `cwd` of a stdio server needs `admin.allowStdio: true`.
   * @param id - Id of the server.
   * @throws {409} The configuration file defines the server, and `decisions.policy` is `file`.
   */
  @Put(':id')
  async putServer(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Body(JsonObjectPipe) definition: JsonObject,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    const { created, ...tagged } = await this.admin.put(caller, id, definition);
    if (created) reply.code(201);
    return withEtag(reply, tagged);
  }

  /**
   * Changes a part of a definition (JSON Merge Patch, RFC 7396); the response names the keys that changed
   *
   * @param id - Id of the server.
   * @throws {409} The configuration file defines the server, and `decisions.policy` is `file`.
   */
  @Patch(':id')
  async patchServer(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Body(JsonObjectPipe) patch: JsonObject,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PatchedServerDto> {
    const { changed, ...tagged } = await this.admin.patch(caller, id, patch);
    return Object.assign(withEtag(reply, tagged), { changed });
  }

  /**
   * Deletes a server, also one of the configuration file
   *
   * @remarks A server of the configuration file stays deleted, also after a restart, until it is enabled or put again.
   * @param id - Id of the server.
   * @throws {409} The configuration file defines the server, and `decisions.policy` is `file`.
   */
  @Delete(':id')
  @HttpCode(204)
  deleteServer(@CurrentCaller() caller: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.remove(caller, id);
  }

  /**
   * Enables a server, also a deleted one of the configuration file; waits until it is ready or fails
   *
   * @param id - Id of the server.
   * @throws {409} The configuration file disables the server, and `decisions.policy` is `file`.
   */
  @Post(':id/enable')
  @HttpCode(200)
  async enableServer(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return withEtag(reply, await this.admin.setEnabled(caller, id, true));
  }

  /**
   * Disables a server; running calls may finish
   *
   * @param id - Id of the server.
   */
  @Post(':id/disable')
  @HttpCode(200)
  async disableServer(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return withEtag(reply, await this.admin.setEnabled(caller, id, false));
  }

  /**
   * Reconnects a server at once; waits until it is ready or fails
   *
   * @param id - Id of the server.
   * @throws {409} The server is disabled.
   */
  @Post(':id/reconnect')
  @HttpCode(200)
  async reconnectServer(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return withEtag(reply, await this.admin.reconnect(caller, id));
  }

  /**
   * Lists all tools of a server at its last sync, also those that are switched off
   *
   * @param id - Id of the server.
   */
  @Get(':id/tools')
  async listServerTools(@Param('id') id: string): Promise<ServerToolsDto> {
    return { tools: await this.views.tools(this.views.get(id)) };
  }

  /**
   * Switches a tool on
   *
   * @param id - Id of the server.
   * @param tool - The server's own name of the tool, URL-encoded.
   * @throws {409} The tools are not known, because the server is disabled or has not connected yet; or the configuration file
   * disables the tool, and `decisions.policy` is `file`.
   */
  @Post(':id/tools/:tool/enable')
  @HttpCode(200)
  async enableTool(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Param('tool') tool: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return withEtag(reply, await this.admin.setToolEnabled(caller, id, tool, true));
  }

  /**
   * Switches a tool off
   *
   * @param id - Id of the server.
   * @param tool - The server's own name of the tool, URL-encoded.
   * @throws {409} The tools are not known, because the server is disabled or has not connected yet.
   */
  @Post(':id/tools/:tool/disable')
  @HttpCode(200)
  async disableTool(
    @CurrentCaller() caller: AdminCaller,
    @Param('id') id: string,
    @Param('tool') tool: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerDetailDto> {
    return withEtag(reply, await this.admin.setToolEnabled(caller, id, tool, false));
  }
}

function withEtag(reply: FastifyReply, { server, etag }: TaggedServer): ServerDetailDto {
  reply.header('etag', etag);
  return server;
}
