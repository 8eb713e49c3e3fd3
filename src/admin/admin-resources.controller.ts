import { Get, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { ListQuery } from './list-query.js';
import {
  ResourceLists,
  type CountedPage,
  type ResourceDto,
  type ResourceTemplateDto,
} from './resource-lists.js';

type Page<Member extends string, Item> = Readonly<Record<Member, readonly Item[]>> &
  Omit<CountedPage<Item>, 'items'>;

@AdminController()
export class AdminResourcesController {
  constructor(private readonly lists: ResourceLists) {}

  @Get('resources')
  async resources(@Query() query: ListQuery): Promise<Page<'resources', ResourceDto>> {
    const { items, ...more } = await this.lists.resources(query);
    return { resources: items, ...more };
  }

  @Get('resource-templates')
  templates(@Query() query: ListQuery): Page<'resourceTemplates', ResourceTemplateDto> {
    const { items, ...more } = this.lists.templates(query);
    return { resourceTemplates: items, ...more };
  }
}
