import { Logger } from '@nestjs/common';
import type { Listing } from '../core/catalog.js';
import type { Definition } from '../core/name-table.js';
import type { Link } from './link.js';
import { fetchList } from './listing.js';
import { Resync } from './resync.js';

type Kind = 'tools' | 'prompts';

const KIND_OF_NOTICE = new Map<string, Kind>([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

/** A failed sync is tried again after this long; the server itself may have nothing more to say. */
const RETRY_MS = 5000;

/** Keeps a server's listing current. What cannot be fetched stays as it was last known. */
export class Sync {
  private readonly logger = new Logger('Sync');
  private readonly resync = new Resync(() => this.run());
  private readonly stale = new Set<Kind>();
  private readonly known: Record<Kind, readonly Definition[]> = { tools: [], prompts: [] };
  private link: Link | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly server: string,
    private readonly publish: (listing: Listing) => void,
  ) {}

  /** A new link: everything it offers is fetched at once. */
  attach(link: Link): void {
    this.link = link;
    for (const kind of ['tools', 'prompts'] as const) this.stale.add(kind);
    this.resync.now();
  }

  /** True when the notification was a change notice, and so is dealt with. */
  takeNotice(method: string): boolean {
    const kind = KIND_OF_NOTICE.get(method);
    if (!kind) return false;
    this.stale.add(kind);
    this.resync.request();
    return true;
  }

  stop(): void {
    clearTimeout(this.retry);
    this.resync.stop();
  }

  /** Each kind is published as soon as it is there, so that a list which hangs holds up only itself. */
  private async run(): Promise<void> {
    const { link } = this;
    if (!link) return;
    const kinds = [...this.stale];
    this.stale.clear();
    await Promise.all(kinds.map((kind) => this.syncKind(link, kind)));
  }

  private async syncKind(link: Link, kind: Kind): Promise<void> {
    try {
      const definitions = await this.fetch(link, kind);
      if (this.link !== link) return;
      this.known[kind] = definitions;
      this.publish({ ...this.known, instructions: link.facts.instructions });
    } catch (error) {
      if (this.link !== link) return;
      this.stale.add(kind);
      this.logger.warn({ message: `${kind}/list failed`, server: this.server, cause: String(error) });
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.resync.request(), RETRY_MS).unref();
    }
  }

  private async fetch(link: Link, kind: Kind): Promise<readonly Definition[]> {
    if (!link.facts.capabilities[kind]) return [];
    const { definitions, cutShort } = await fetchList(link, `${kind}/list`);
    if (cutShort === undefined) return definitions;
    this.logger.warn({ message: `${kind}/list was cut short`, server: this.server, reason: cutShort });
    return this.known[kind].length > 0 ? this.known[kind] : definitions;
  }
}
