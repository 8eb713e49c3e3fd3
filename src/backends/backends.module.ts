import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { Backends } from './backends.service.js';

@Module({ imports: [RegistryModule], providers: [Backends], exports: [Backends] })
export class BackendsModule {}
