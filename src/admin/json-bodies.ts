import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';

const MERGE_PATCH = 'application/merge-patch+json';

/** Teaches the web framework that a merge patch is JSON. */
@Injectable()
export class JsonBodies {
  constructor({ httpAdapter }: HttpAdapterHost<FastifyAdapter>) {
    const fastify = httpAdapter.getInstance();
    if (!fastify.hasContentTypeParser(MERGE_PATCH))
      fastify.addContentTypeParser(
        MERGE_PATCH,
        { parseAs: 'string' },
        fastify.getDefaultJsonParser('error', 'error'),
      );
  }
}
