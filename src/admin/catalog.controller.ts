import { Get, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { CatalogLists } from './catalog-lists.js';
import { PromptsDto, ResourcesDto, ResourceTemplatesDto, ToolsDto } from './dto/catalog.dto.js';
import { ListQuery } from './dto/list-query.dto.js';
import { ResourceLists } from './resource-lists.js';

@AdminController()
export class CatalogController {
  constructor(
    private readonly lists: CatalogLists,
    private readonly resourceLists: ResourceLists,
  ) {}

  /** Lists the tools that clients see */
  @Get('tools')
  async listTools(@Query() query: ListQuery): Promise<ToolsDto> {
    const { items, ...page } = await this.lists.tools(query);
    return { tools: items, ...page };
  }

  /** Lists the prompts that clients see */
  @Get('prompts')
  async listPrompts(@Query() query: ListQuery): Promise<PromptsDto> {
    const { items, ...page } = await this.lists.prompts(query);
    return { prompts: items, ...page };
  }

  /** Lists the resources that clients see */
  @Get('resources')
  async listResources(@Query() query: ListQuery): Promise<ResourcesDto> {
    const { items, ...page } = await this.resourceLists.resources(query);
    return { resources: items, ...page };
  }

  /** Lists the resource templates that clients see */
  @Get('resource-templates')
  async listResourceTemplates(@Query() query: ListQuery): Promise<ResourceTemplatesDto> {
    const { items, ...page } = await this.resourceLists.templates(query);
    return { resourceTemplates: items, ...page };
  }
}
