import { IsInt, IsISO8601, Min } from 'class-validator';

export class SubscriptionDto {
  readonly id: string;

  /** Id of the session or listen stream, as in the list of sessions. */
  readonly client: string;

  /** Name of the client in its `initialize` request, or in its request for the stream. */
  readonly clientName?: string;

  readonly server: string;

  /** The public URI. */
  readonly uri: string;

  /** The server's own URI. */
  readonly ownUri: string;

  /**
   * The same as `ownUri`.
   *
   * @deprecated Read `ownUri`.
   */
  readonly original: string;

  @IsISO8601()
  readonly since: string;

  /** Whether the client has its event stream open. Without it, updates wait until the client opens one. */
  readonly hasStream: boolean;
}

export class SubscriptionsDto {
  readonly subscriptions: SubscriptionDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;

  /** Entries on all pages. */
  @IsInt()
  @Min(0)
  readonly total: number;
}
