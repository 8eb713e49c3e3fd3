import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { joinInstructions } from '../core/catalog/joined-instructions.js';
import type { Scope } from '../core/scope.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';

/** Joins the instructions of the servers into one text for the results of `initialize` and `server/discover`. */
@Injectable()
export class ServerInstructions {
  /** Number of results in which instructions were cut. */
  private cutCount = 0;

  constructor(
    private readonly registry: Registry,
    private readonly config: LiveConfig,
    metrics: Metrics,
  ) {
    metrics.exposeValue(
      'counter',
      'gatehouse_cut_instructions_total',
      'Initialize results whose instructions were cut at instructions.maxBytes.',
      () => this.cutCount,
    );
  }

  /** The instructions of the servers in this scope; undefined when there are none. */
  forScope(scope: Scope): string | undefined {
    const { maxBytes, include } = this.config.current.instructions;
    if (include === 'none') return undefined;
    const parts = this.registry.catalog.servers.flatMap(({ id: server, listing: { instructions: text } }) =>
      text && scope.allows(server) && (include === 'all' || include.includes(server))
        ? [{ server, text }]
        : [],
    );
    if (parts.length === 0) return undefined;
    const { text, isCut } = joinInstructions(parts, maxBytes);
    if (isCut) this.cutCount++;
    return text === '' ? undefined : text;
  }
}
