import { Module, type OnModuleInit } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { MetaToolRegistry } from '../registry/meta-tool-registry.js';
import { RegistryModule } from '../registry/registry.module.js';
import { Registry } from '../registry/registry.service.js';
import { CursorKey } from '../state/cursor-key.js';
import { ResourceSearch } from './resource-search.js';
import { resourceMetaTools } from './resource-meta-tools.js';
import { SummaryPager } from './summary-pager.js';
import { DEFAULT_SUMMARIES_PER_PAGE } from './tool-arguments.js';
import { PromptSearch, ToolSearch } from './name-search.js';
import { toolMetaTools } from './tool-meta-tools.js';

/** Registers the meta tools unless the configuration disables them. */
@Module({
  imports: [RegistryModule],
  providers: [ResourceSearch, ToolSearch, PromptSearch],
  exports: [ResourceSearch, ToolSearch, PromptSearch],
})
export class MetaToolsModule implements OnModuleInit {
  constructor(
    private readonly live: LiveConfig,
    private readonly registry: Registry,
    private readonly metaTools: MetaToolRegistry,
    private readonly resources: ResourceSearch,
    private readonly tools: ToolSearch,
    private readonly cursorKey: CursorKey,
  ) {}

  async onModuleInit(): Promise<void> {
    const { metaTools } = this.live.current;
    if (!metaTools) return;
    const pager = new SummaryPager(DEFAULT_SUMMARIES_PER_PAGE, this.cursorKey);
    await this.metaTools.register([
      ...resourceMetaTools(this.registry, this.resources, pager),
      ...toolMetaTools(this.registry, this.tools, pager),
    ]);
  }
}
