import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { AddressPolicy } from './address-policy.js';
import { DesiredServers } from './desired-servers.js';
import { Backends } from './backends.service.js';

@Module({
  imports: [RegistryModule],
  providers: [AddressPolicy, DesiredServers, Backends],
  exports: [AddressPolicy, DesiredServers, Backends],
})
export class BackendsModule {}
