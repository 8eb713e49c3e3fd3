import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Param, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { notFound } from '../admin-problem.js';
import { DOCS_PAGE, DOCS_HEADERS, START_SCRIPT } from './docs-page.js';
import { loadRunbooks } from './runbooks.js';

/** The files of Swagger UI that the page loads; no other file is served. */
const ASSETS: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** Serves the OpenAPI document, Swagger UI and the runbooks without authentication: none contains data of this gateway. */
@Controller('admin')
export class DocsController {
  /** Returns this document */
  @Get('v1/openapi.json')
  async getOpenApi(): Promise<Readonly<Record<string, unknown>>> {
    // Loaded on demand: no other request needs it.
    return (await import('./openapi.json', { with: { type: 'json' } })).default;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  page(@Res({ passthrough: true }) reply: FastifyReply): string {
    reply.headers(DOCS_HEADERS);
    return DOCS_PAGE;
  }

  @Get('docs/start.js')
  @Header('content-type', 'text/javascript; charset=utf-8')
  start(@Res({ passthrough: true }) reply: FastifyReply): string {
    reply.headers(DOCS_HEADERS);
    return START_SCRIPT;
  }

  /** All runbooks, by the names of their alerts. */
  @Get('docs/runbooks')
  @Header('content-type', 'text/plain; charset=utf-8')
  async runbooks(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    reply.headers(DOCS_HEADERS);
    return Array.from(await loadRunbooks(), ([alert, text]) => `${alert}\n\n${text}\n`).join('\n\n');
  }

  /** The page to which the `runbook_url` of an alert points. */
  @Get('docs/runbooks/:alert')
  @Header('content-type', 'text/plain; charset=utf-8')
  async runbook(
    @Param('alert') alert: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const text = (await loadRunbooks()).get(alert);
    if (text === undefined) throw notFound('runbook', alert);
    reply.headers(DOCS_HEADERS);
    return `${alert}\n\n${text}\n`;
  }

  @Get('docs/:asset')
  async asset(
    @Param('asset') asset: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const type = ASSETS.get(asset);
    if (type === undefined) throw notFound('page', asset);
    reply.headers({ ...DOCS_HEADERS, 'cache-control': 'public, max-age=3600' });
    return new StreamableFile(await readFile(join(assetDirectory(), asset)), { type });
  }
}

const assetDirectory = (): string =>
  dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
