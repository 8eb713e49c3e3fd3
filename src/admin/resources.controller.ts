import { Get, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { CatalogQuery } from './catalog-query.js';
import { ResourceLists, type ListPage, type ResourceItem, type TemplateItem } from './resource-lists.js';

type Page<Member extends string, Item> = Readonly<Record<Member, readonly Item[]>> &
  Omit<ListPage<Item>, 'items'>;

@AdminController()
export class ResourcesController {
  constructor(private readonly lists: ResourceLists) {}

  @Get('resources')
  async resources(@Query() query: CatalogQuery): Promise<Page<'resources', ResourceItem>> {
    const { items, ...more } = await this.lists.resources(query);
    return { resources: items, ...more };
  }

  @Get('resource-templates')
  templates(@Query() query: CatalogQuery): Page<'resourceTemplates', TemplateItem> {
    const { items, ...more } = this.lists.templates(query);
    return { resourceTemplates: items, ...more };
  }
}
