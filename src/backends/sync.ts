import { Logger } from '@nestjs/common';
import type { Listing } from '../core/catalog.js';
import type { Definition } from '../core/name-table.js';
import type { Link } from './link.js';
import { fetchList } from './listing.js';
import { Resync } from './resync.js';

const KINDS = ['tools', 'prompts'] as const;
type Kind = (typeof KINDS)[number];

const KIND_OF_NOTICE = new Map<string, Kind>([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

/** A failed sync is tried again after this long; the server itself may have nothing more to say. */
const RETRY_MS = 5000;

/**
 * Keeps a server's listing current. What cannot be fetched stays as it was last known. Each kind is fetched and
 * published on its own, so that a list which hangs holds up only itself.
 */
export class Sync {
  private readonly logger = new Logger('Sync');
  private readonly resyncs: Readonly<Record<Kind, Resync>> = {
    tools: new Resync(() => this.run('tools')),
    prompts: new Resync(() => this.run('prompts')),
  };
  private readonly known: Record<Kind, readonly Definition[]> = { tools: [], prompts: [] };
  private readonly tried = new Set<Kind>();
  private link: Link | undefined;

  constructor(
    private readonly server: string,
    private readonly publish: (listing: Listing) => void,
    /** Every kind has been fetched, or could not be. */
    private readonly onTried: () => void = () => {},
  ) {}

  /** A new link: everything it offers is fetched at once. */
  attach(link: Link): void {
    this.link = link;
    for (const kind of KINDS) this.resyncs[kind].now();
  }

  /** The link is lost: there is nothing to fetch until the next one, and what is known stays. */
  detach(): void {
    this.link = undefined;
  }

  /** True when the notification was a change notice, and so is dealt with. */
  takeNotice(method: string): boolean {
    const kind = KIND_OF_NOTICE.get(method);
    if (kind) this.resyncs[kind].request();
    return kind !== undefined;
  }

  stop(): void {
    this.detach();
    for (const kind of KINDS) this.resyncs[kind].stop();
  }

  private async run(kind: Kind): Promise<void> {
    const { link } = this;
    if (!link) return;
    try {
      const definitions = await this.fetch(link, kind);
      if (this.link !== link) return;
      this.known[kind] = definitions;
      this.publish({ ...this.known, instructions: link.facts.instructions });
    } catch (error) {
      if (this.link !== link) return;
      this.logger.warn({ message: `${kind}/list failed`, server: this.server, cause: String(error) });
      this.resyncs[kind].request(RETRY_MS);
    }
    this.tried.add(kind);
    if (this.tried.size === KINDS.length) this.onTried();
  }

  private async fetch(link: Link, kind: Kind): Promise<readonly Definition[]> {
    if (!link.facts.capabilities[kind]) return [];
    const { definitions, cutShort } = await fetchList(link, `${kind}/list`);
    if (cutShort === undefined) return definitions;
    this.logger.warn({ message: `${kind}/list was cut short`, server: this.server, reason: cutShort });
    return this.known[kind].length > 0 ? this.known[kind] : definitions;
  }
}
