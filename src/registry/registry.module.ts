import { Module } from '@nestjs/common';
import { ListPages } from './list-pages.js';
import { Registry } from './registry.service.js';

@Module({ providers: [Registry, ListPages], exports: [Registry, ListPages] })
export class RegistryModule {}
