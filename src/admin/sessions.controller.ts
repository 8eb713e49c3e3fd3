import { Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminController } from './admin-controller.js';
import { ResourcesDto, ToolsDto } from './dto/catalog.dto.js';
import { SessionCatalogQuery, SessionQuery } from './dto/list-query.dto.js';
import { SessionDetailDto, SessionsDto } from './dto/session.dto.js';
import { SessionAdmin } from './session-admin.js';

@AdminController('sessions')
export class SessionsController {
  constructor(private readonly admin: SessionAdmin) {}

  /** Lists open sessions and listen streams, the oldest first */
  @Get()
  async listSessions(@Query() query: SessionQuery): Promise<SessionsDto> {
    const { items, ...page } = await this.admin.page(query);
    return { sessions: items, ...page };
  }

  /**
   * Shows a session or listen stream with the servers in its scope
   *
   * @param id - The id in the list of sessions.
   */
  @Get(':id')
  getSession(@Param('id') id: string): SessionDetailDto {
    return this.admin.show(id);
  }

  /**
   * Lists the tools that the client sees, as its own `tools/list` does: in its scope, meta tools included
   *
   * @param id - The id in the list of sessions.
   * @remarks Like a request of the client, it waits up to five seconds for servers with `isolation: session` that have not
   * listed for this session yet.
   */
  @Get(':id/tools')
  async listSessionTools(@Param('id') id: string, @Query() query: SessionCatalogQuery): Promise<ToolsDto> {
    const { items, ...page } = await this.admin.tools(id, query);
    return { tools: items, ...page };
  }

  /**
   * Lists the resources that the client sees, as its own `resources/list` does
   *
   * @param id - The id in the list of sessions.
   * @remarks Like a request of the client, it waits up to five seconds for servers with `isolation: session` that have not
   * listed for this session yet.
   */
  @Get(':id/resources')
  async listSessionResources(
    @Param('id') id: string,
    @Query() query: SessionCatalogQuery,
  ): Promise<ResourcesDto> {
    const { items, ...page } = await this.admin.resources(id, query);
    return { resources: items, ...page };
  }

  /**
   * Closes a session or listen stream; its client has to open a new one
   *
   * @param id - The id in the list of sessions.
   */
  @Delete(':id')
  @HttpCode(204)
  closeSession(@CurrentCaller() caller: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.close(caller, id);
  }
}
