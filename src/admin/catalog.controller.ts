import { Get, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { CatalogLists, type CatalogItemDto } from './catalog-lists.js';
import { ListQuery } from './list-query.js';

interface ToolsPage {
  readonly tools: readonly CatalogItemDto[];
  readonly nextCursor?: string;
}

interface PromptsPage {
  readonly prompts: readonly CatalogItemDto[];
  readonly nextCursor?: string;
}

@AdminController()
export class CatalogController {
  constructor(private readonly lists: CatalogLists) {}

  @Get('tools')
  tools(@Query() query: ListQuery): ToolsPage {
    const { items, ...more } = this.lists.page('tools', query);
    return { tools: items, ...more };
  }

  @Get('prompts')
  prompts(@Query() query: ListQuery): PromptsPage {
    const { items, ...more } = this.lists.page('prompts', query);
    return { prompts: items, ...more };
  }
}
