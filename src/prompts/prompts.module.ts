import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { PromptsController } from './prompts.controller.js';

@Module({ imports: [RegistryModule, BackendsModule], controllers: [PromptsController] })
export class PromptsModule {}
