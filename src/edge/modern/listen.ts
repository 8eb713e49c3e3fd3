import { randomBytes } from 'node:crypto';
import type { Implementation, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ListKind } from '../../core/catalog/catalog.js';
import { plainFrame, type NotificationFrame } from '../../mcp/event-frame.js';
import { SUBSCRIPTION_ID_META } from '../../mcp/envelope.js';
import { notificationMessage, resultMessage } from '../../mcp/json-rpc.js';
import type { DeliverOptions, ModernContext } from '../../mcp/mcp-context.js';
import type { Principal } from '../../mcp/principal.js';
import type { Revision } from '../../mcp/revisions/revision.js';
import type { StreamObserver } from '../event-stream.js';
import type { NotificationRecipient } from '../notification-recipients.js';
import { ScopedRecipient } from '../scoped-recipient.js';
import type { SessionlessLinkOwner } from './sessionless-link-owner.js';
import type { LinkOwners } from './link-owners.js';
import { ListenWriter, type ListenLimits } from './listen-writer.js';

export type ListenRequest = Pick<
  ModernContext,
  | 'requestId'
  | 'principal'
  | 'quotaKey'
  | 'project'
  | 'scope'
  | 'linkOwnerId'
  | 'sessionHandle'
  | 'revision'
  | 'clientInfo'
>;

/** One request `subscriptions/listen`, from its arrival until its stream is closed. */
export class Listen extends ScopedRecipient implements NotificationRecipient {
  readonly kind = 'listen';
  /** It has as many digits as the public id of a session. It is not a secret, because it gives no access. */
  readonly id = randomBytes(8).toString('hex');
  readonly principal: Principal;
  readonly quotaKey: string;
  readonly project: string | undefined;
  readonly linkOwnerId: string | undefined;
  readonly sessionHandle: unknown;
  readonly clientInfo: Implementation | undefined;
  readonly revision: Revision;
  readonly openedAt = Date.now();
  /** In this revision, clients get log messages only during calls. */
  readonly logLevel = undefined;
  private readonly requestId: RequestId;
  private readonly writer: ListenWriter;
  private owner: SessionlessLinkOwner | undefined;
  private isEnding = false;

  constructor(
    request: ListenRequest,
    /** The kinds of lists for which the client wants `list_changed`. */
    readonly listChanges: readonly ListKind[],
    limits: ListenLimits,
    observer: StreamObserver,
    private readonly linkOwners: Pick<LinkOwners, 'of'>,
  ) {
    super();
    const { requestId, principal, quotaKey, project, scope, linkOwnerId, clientInfo, revision } = request;
    this.requestId = requestId!;
    this.principal = principal;
    this.quotaKey = quotaKey;
    this.project = project;
    this.linkOwnerId = linkOwnerId;
    this.sessionHandle = request.sessionHandle;
    // Only these two members are kept, because others may be long.
    this.clientInfo = clientInfo && { name: clientInfo.name, version: clientInfo.version };
    this.revision = revision;
    this.writer = new ListenWriter(Buffer.from(JSON.stringify(requestId)), limits, observer);
    this.scope = scope;
  }

  get hasStream(): boolean {
    return this.writer.isOpen;
  }

  /**
   * The owner is created at the first use. It is shared with other requests of the same principal and handle. If it was closed
   * because the credentials of such a request are no longer valid, returns a new owner with the same id.
   */
  get linkOwner(): SessionlessLinkOwner | undefined {
    if (this.isClosed || this.owner?.isClosed === false) return this.owner;
    this.owner = this.linkOwners.of(this);
    this.owner?.hold();
    return this.owner;
  }

  acceptsListChange(kind: ListKind): boolean {
    return this.listChanges.includes(kind);
  }

  /** Sends an event. The event is queued until the stream is open. */
  deliver(frame: NotificationFrame, options: DeliverOptions): void {
    this.writer.send(frame, options);
  }

  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    this.writer.withdraw(isStale);
  }

  /**
   * Never calls the listener. Events are missed only between two connections of a stream, and a listen stream has only one.
   */
  onMissedEvents(): () => void {
    return () => {};
  }

  /** Opens the stream with the acknowledgement. `notifications` is the honoured part of the filter. */
  open(context: Pick<ModernContext, 'takeStream'>, notifications: object): void {
    const params = JSON.stringify({ _meta: this.meta, notifications });
    const { bytes } = plainFrame(notificationMessage('notifications/subscriptions/acknowledged', params));
    this.writer.open(context.takeStream(), bytes, () => this.finish());
  }

  keepAlive(): void {
    this.writer.keepAlive();
  }

  /** Ends the stream with the result of the request, after the queued events. Idempotent. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    const result = { resultType: 'complete', _meta: this.meta };
    this.writer.end(plainFrame(resultMessage(this.requestId, result)).bytes);
  }

  /** Ends the stream like `end`, but drops the queued events, because the client must not get them any more. */
  close(): void {
    this.withdraw(() => true);
    this.end();
    this.finish();
  }

  /** Releases everything that belongs to the stream. Called when its connection is closed. Idempotent. */
  finish(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.owner?.release();
    this.closeListeners.emit();
  }

  private get meta(): object {
    return { [SUBSCRIPTION_ID_META]: this.requestId };
  }
}
