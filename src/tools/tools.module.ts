import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { ToolsController } from './tools.controller.js';

@Module({ imports: [RegistryModule, BackendsModule], controllers: [ToolsController] })
export class ToolsModule {}
