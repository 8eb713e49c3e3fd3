import { Controller, Get, NotFoundException } from '@nestjs/common';
import { Authenticator } from './authenticator.js';
import { RESOURCE_METADATA_PATH, protectedResource, type ProtectedResource } from './protected-resource.js';

/** Serves the protected resource metadata without authentication, because a client needs them to get a token. */
@Controller(RESOURCE_METADATA_PATH)
export class ProtectedResourceController {
  constructor(private readonly authenticator: Authenticator) {}

  @Get(['', 'mcp'])
  metadata(): ProtectedResource {
    const { jwt } = this.authenticator;
    if (!jwt) throw new NotFoundException();
    return protectedResource(jwt);
  }
}
