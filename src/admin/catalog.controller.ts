import { Get, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { CatalogLists, type CatalogItem } from './catalog-lists.js';
import { CatalogQuery } from './catalog-query.js';

interface ToolsPage {
  readonly tools: readonly CatalogItem[];
  readonly nextCursor?: string;
}

interface PromptsPage {
  readonly prompts: readonly CatalogItem[];
  readonly nextCursor?: string;
}

@AdminController()
export class CatalogController {
  constructor(private readonly lists: CatalogLists) {}

  @Get('tools')
  tools(@Query() query: CatalogQuery): ToolsPage {
    const { items, ...more } = this.lists.page('tools', query);
    return { tools: items, ...more };
  }

  @Get('prompts')
  prompts(@Query() query: CatalogQuery): PromptsPage {
    const { items, ...more } = this.lists.page('prompts', query);
    return { prompts: items, ...more };
  }
}
