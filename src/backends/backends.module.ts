import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { AddressPolicy } from './address-policy.js';
import { BackendEnvironment } from './backend-environment.js';
import { DesiredServers } from './desired-servers.js';
import { Backends } from './backends.service.js';
import { LinkFactories } from './link-factories.js';
import { SessionListings } from './session-listings.js';

@Module({
  imports: [RegistryModule],
  providers: [
    AddressPolicy,
    DesiredServers,
    LinkFactories,
    BackendEnvironment,
    Backends,
    {
      provide: SessionListings,
      inject: [Backends],
      useFactory: ({ sessionListings }: Backends) => sessionListings,
    },
  ],
  exports: [AddressPolicy, DesiredServers, Backends, SessionListings],
})
export class BackendsModule {}
