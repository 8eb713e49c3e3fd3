import { Module } from '@nestjs/common';
import { MetaTools } from './meta-tools.js';
import { ListPages } from './list-pages.js';
import { Registry } from './registry.service.js';

@Module({ providers: [Registry, ListPages, MetaTools], exports: [Registry, ListPages, MetaTools] })
export class RegistryModule {}
