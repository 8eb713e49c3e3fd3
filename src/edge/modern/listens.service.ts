import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import type { ListKind } from '../../core/catalog/catalog.js';
import { limitExceeded } from '../../core/errors.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';
import { Metrics } from '../../metrics/metrics.js';
import { NotificationRecipients } from '../notification-recipients.js';
import { StreamQuota } from '../stream-quota.js';
import { CommentRounds } from './comment-rounds.js';
import { LinkOwners } from './link-owners.js';
import { Listen, type ListenRequest } from './listen.js';

/** Shorter than the idle timeouts of proxies, which are at least 15 seconds. */
const COMMENT_INTERVAL_MS = 10_000;

/**
 * Keeps all listen streams. It limits their number, writes comments to them, and ends them when the process ends. No stream
 * ends because of its age.
 */
@Injectable()
export class Listens implements OnModuleInit, OnApplicationShutdown {
  private readonly listens = new Set<Listen>();
  private readonly openListeners = new ListenerSet<[listen: Listen]>();
  private timer: NodeJS.Timeout | undefined;
  private readonly comments = new CommentRounds<Listen>(this.listens, (listen) => listen.keepAlive());
  private isEnding = false;

  constructor(
    private readonly limits: Limits,
    private readonly recipients: NotificationRecipients,
    private readonly quota: StreamQuota,
    private readonly metrics: Metrics,
    private readonly linkOwners: LinkOwners,
  ) {}

  onModuleInit(): void {
    this.metrics.exposeValue(
      'gauge',
      'mcp_listens_active',
      'Open listen streams (revision 2026-07-28).',
      () => this.listens.size,
    );
    this.timer = setInterval(() => void this.comments.run(), COMMENT_INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  get size(): number {
    return this.listens.size;
  }

  all(): Iterable<Listen> {
    return this.listens;
  }

  onOpen(listener: (listen: Listen) => void): () => void {
    return this.openListeners.add(listener);
  }

  /** Creates a stream, which counts against limits until it is closed. Throws if a limit is reached. */
  create(request: ListenRequest, listChanges: readonly ListKind[]): Listen {
    const { quotaKey } = request;
    if (this.listens.size >= this.limits.listens) {
      this.metrics.countRefusal('listens');
      throw limitExceeded(`${this.limits.listens} listen streams are open`, this.limits.listens);
    }
    this.quota.claimListen(quotaKey);
    const listen = new Listen(request, listChanges, this.limits, this.metrics, this.linkOwners);
    this.listens.add(listen);
    this.recipients.add(listen);
    listen.onClose(() => {
      this.listens.delete(listen);
      this.quota.releaseListen(quotaKey);
    });
    // After `endAll`, a new stream ends at once: its result is written right after its acknowledgement.
    if (this.isEnding) listen.end();
    this.openListeners.emit(listen);
    return listen;
  }

  /** For the end of the process: ends every stream with its result, also the streams that are created later. */
  endAll(): void {
    this.isEnding = true;
    for (const listen of this.listens) listen.end();
  }
}
