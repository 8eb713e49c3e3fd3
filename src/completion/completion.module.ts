import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { CompletionController } from './completion.controller.js';

@Module({ imports: [RegistryModule, BackendsModule], controllers: [CompletionController] })
export class CompletionModule {}
