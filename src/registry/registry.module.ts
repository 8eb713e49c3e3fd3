import { Module } from '@nestjs/common';
import { HouseTools } from './meta-tools.js';
import { ListPages } from './list-pages.js';
import { Registry } from './registry.service.js';

@Module({ providers: [Registry, ListPages, HouseTools], exports: [Registry, ListPages, HouseTools] })
export class RegistryModule {}
