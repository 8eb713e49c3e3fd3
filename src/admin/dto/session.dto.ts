import { IsInt, IsISO8601, Min } from 'class-validator';

export class SessionClientDto {
  readonly name: string;

  readonly version: string;
}

export class UnfinishedListDto {
  /** The MCP method of the list. */
  readonly method: string;

  /** Entries that the client has read. */
  @IsInt()
  @Min(0)
  readonly entries: number;
}

export class SessionScopeDto {
  /** Absent if the principal may see all servers and the session has no project. */
  readonly project?: string;

  /** Ids of the enabled servers that the client sees in the project. */
  readonly servers: string[];
}

export class SessionDto {
  /** The first 16 digits of the session id's hash. The session id itself is a secret. A listen stream has a random id. */
  readonly id: string;

  /** `listen`: a stream of a client of revision 2026-07-28, which has no session. */
  readonly kind: 'session' | 'listen';

  /** `clientInfo` of the initialize request, or of the request for the stream. */
  readonly client?: SessionClientDto;

  readonly principal: string;

  readonly project?: string;

  /** The projects that the client sees, with their servers. */
  readonly scope: SessionScopeDto[];

  readonly protocolVersion: string;

  /** The family of the protocol version: `2025` has sessions, `2026` has listen streams. */
  readonly era: '2025' | '2026';

  @IsISO8601()
  readonly opened: string;

  /** Time of the last request; now, while a request or a stream is open. */
  @IsISO8601()
  readonly lastSeen: string;

  /** Requests of the client since the session was opened, or restored after a restart. 0 for a listen stream. */
  @IsInt()
  @Min(0)
  readonly calls: number;

  /** Requests that are being answered. */
  @IsInt()
  @Min(0)
  readonly inFlight: number;

  /** Open event streams to the client. */
  @IsInt()
  @Min(0)
  readonly streams: number;

  /** Whether the client has its event stream open. Without it, notifications wait in a bounded queue. */
  readonly hasStream: boolean;

  /** Resources and patterns that the client has subscribed to. */
  @IsInt()
  @Min(0)
  readonly subscriptions: number;

  /** Lists that the client has stopped reading before their last page. */
  readonly unfinishedLists: UnfinishedListDto[];

  /** The lists whose changes are sent on a listen stream. Absent for a session, to which changes of all lists are sent. */
  readonly listChanges?: ('tools' | 'prompts' | 'resources')[];
}

export class SessionDetailDto extends SessionDto {
  /** Ids of the enabled servers that the client sees. */
  readonly servers: string[];
}

export class SessionsDto {
  readonly sessions: SessionDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;

  /** Entries on all pages. */
  @IsInt()
  @Min(0)
  readonly total: number;
}
