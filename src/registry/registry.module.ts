import { Module } from '@nestjs/common';
import { MetaToolRegistry } from './meta-tool-registry.js';
import { ListPages } from './list-pages.js';
import { Registry } from './registry.service.js';

@Module({
  providers: [Registry, ListPages, MetaToolRegistry],
  exports: [Registry, ListPages, MetaToolRegistry],
})
export class RegistryModule {}
