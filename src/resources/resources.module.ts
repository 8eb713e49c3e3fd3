import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { ResourcesController } from './resources.controller.js';

@Module({ imports: [RegistryModule, BackendsModule], controllers: [ResourcesController] })
export class ResourcesModule {}
