import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { DesiredServers } from './desired-servers.js';
import { Backends } from './backends.service.js';

@Module({
  imports: [RegistryModule],
  providers: [DesiredServers, Backends],
  exports: [DesiredServers, Backends],
})
export class BackendsModule {}
