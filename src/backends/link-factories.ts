import { Injectable } from '@nestjs/common';
import { EgressProxies } from '../config/egress-proxies.js';
import { Limits } from '../config/limits.js';
import type { ServerConfig } from '../config/servers-config.js';
import { withPublicMessages } from '../core/resources/public-uris.js';
import { EVERYTHING } from '../core/scope.js';
import { runAtOnce, runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { AddressPolicy } from './address-policy.js';
import { DesiredServers } from './desired-servers.js';
import { createLinkFactory, type LinkFactory } from './link/link-factory.js';

/** Creates the functions that open links: one function for each server. */
@Injectable()
export class LinkFactories {
  constructor(
    private readonly desired: DesiredServers,
    private readonly limits: Limits,
    private readonly registry: Registry,
    private readonly metrics: Metrics,
    private readonly addresses?: AddressPolicy,
    private readonly proxies?: EgressProxies,
  ) {}

  /** `concurrency` is read again while a link is open, because a reload may change it. */
  create(id: string, config: ServerConfig, concurrency: () => number): LinkFactory {
    const { metrics } = this;
    return createLinkFactory(id, config, this.limits, {
      toPublicParams: (params) => {
        const rewrite = withPublicMessages(params, this.registry.resourceUris.publicUrisFor(id, EVERYTHING));
        return params.isLongObject ? runSliced(rewrite, sliceScheduler.start()) : runAtOnce(rewrite);
      },
      onRefusedJson: (limit) => metrics.countRefusedJson('server', limit),
      onMalformed: () => metrics.countMalformedMessage(id),
      onMemoryLimit: (limit) => metrics.countMemoryLimit(limit),
      onExcess: (outcome) => metrics.countExcessMessage(id, outcome),
      onUnattributed: (message) => metrics.countUnattributedMessage(id, message),
      onInput: (outcome) => metrics.countInputRequest(id, outcome),
      concurrency,
      proxies: this.proxies,
      addresses: () => (this.desired.current.get(id)?.isUrlFromApi ? this.addresses : undefined),
    });
  }
}
