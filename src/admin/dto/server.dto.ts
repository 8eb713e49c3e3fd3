import { IsInt, IsISO8601, Min } from 'class-validator';
import type { BackendStatus } from '../../backends/backend-status.js';
import type { JsonObject } from '../../lib/json-text/json-value.js';
import { DecisionDto } from './decision.dto.js';

/** `serverInfo` of the server's initialize result, with every member that the server sent. */
export class ServerInfoDto {
  readonly name: string;

  readonly version: string;
}

/** How many entries the server listed at its last sync. */
export class ServerCountsDto {
  @IsInt()
  @Min(0)
  readonly tools: number;

  /** Tools that are switched off. */
  @IsInt()
  @Min(0)
  readonly disabledTools: number;

  @IsInt()
  @Min(0)
  readonly prompts: number;

  @IsInt()
  @Min(0)
  readonly resources: number;

  @IsInt()
  @Min(0)
  readonly templates: number;
}

export class ServerDto {
  readonly id: string;

  readonly enabled: boolean;

  readonly state: BackendStatus['state'] | 'disabled';

  /** Why the server is not connected; while it is connecting, the cause of the last failure. */
  readonly cause?: 'unauthorized' | 'not-found' | 'unreachable' | 'crashed' | 'unresponsive';

  /** The last failure in words; for a ready server, the lists that could not be fetched. Absent if there is neither. */
  readonly reason?: string;

  /** When the server entered this state. Absent while it is disabled. */
  @IsISO8601()
  readonly since?: string;

  /** Time of the first failure since the server was last ready. Absent while there is none. */
  @IsISO8601()
  readonly downSince?: string;

  /** When the next attempt to connect begins. Absent while none is scheduled. */
  @IsISO8601()
  readonly nextAttempt?: string;

  readonly transport: 'stdio' | 'http' | 'sse';

  /** Where the definition comes from: the configuration file or the admin API. */
  readonly origin: 'config' | 'admin';

  /** The decisions about the server, without those about its tools. Absent when there are none. */
  readonly decisions?: DecisionDto[];

  /** Attempts to connect since the server was last ready. */
  @IsInt()
  @Min(0)
  readonly attempts: number;

  /** How often the process was started again; for a server without a process, how often the gateway has reconnected. */
  @IsInt()
  @Min(0)
  readonly restarts: number;

  /** Calls since the server was enabled. */
  @IsInt()
  @Min(0)
  readonly calls: number;

  /** Requests that the server has not answered yet, those of the gateway itself included. */
  @IsInt()
  @Min(0)
  readonly inFlight: number;

  /** Requests that wait for the server, those of the gateway itself included. */
  @IsInt()
  @Min(0)
  readonly waiting: number;

  /** Process id of a stdio server. */
  @IsInt()
  @Min(0)
  readonly pid?: number;

  /** `serverInfo` of the server's initialize result. */
  readonly serverInfo?: ServerInfoDto;

  /** MCP revision that was negotiated with the server. */
  readonly protocolVersion?: string;

  /** Protocol era in which the gateway uses the server: 2025 with a session, 2026 without. Absent while there is no connection. */
  readonly era?: '2025' | '2026';

  /** When the server was first found to speak this era. */
  @IsISO8601()
  readonly eraSince?: string;

  /**
   * The newest MCP revision of the era 2025 that a server in the era 2026 says it offers too. With `era: 2025` the gateway uses it.
   */
  readonly alsoOffers?: string;

  /**
   * Whether the server can send notifications: `open`, `opening`, `lost` while the gateway opens its stream again, or `none`
   * when the server offers no notification stream. Absent while there is no connection.
   */
  readonly notificationStream?: 'opening' | 'open' | 'lost' | 'none';

  /**
   * How updates of resources come: by `subscriptions` at the server, by `polling` of the gateway (`watch.pollMs`),
   * `unsolicited` if the server accepts no subscriptions but may send updates, or `none` if no updates can come. Absent
   * while there is no connection, and for a server without resources.
   */
  readonly updates?: 'subscriptions' | 'polling' | 'unsolicited' | 'none';

  readonly counts: ServerCountsDto;
}

/** A lost connection or a failed attempt to connect. */
export class ServerFailureDto {
  @IsISO8601()
  readonly time: string;

  readonly cause: 'unauthorized' | 'not-found' | 'unreachable' | 'crashed' | 'unresponsive';

  readonly reason: string;

  /** The last lines that the process of a stdio server wrote to stderr before the failure. */
  readonly stderr: string[];
}

export class ServersDto {
  readonly servers: ServerDto[];
}

export class ServerToolDto {
  /** The server's own name of the tool. */
  readonly ownName: string;

  /**
   * The same as `ownName`.
   *
   * @deprecated Read `ownName`.
   */
  readonly own: string;

  /** The public name of the tool. Absent while clients do not see it. */
  readonly name?: string;

  readonly enabled: boolean;

  /** Whether the definition of the server (`config`) or a decision (`admin`) enables or disables the tool. */
  readonly origin: 'config' | 'admin';

  /** The decision about the tool. */
  readonly decision?: DecisionDto;

  readonly title?: string;

  readonly description?: string;

  /** The tool as its server lists it. Present only while the tool is switched off. */
  readonly definition?: JsonObject;
}

export class ServerToolsDto {
  readonly tools: ServerToolDto[];
}

export class ServerDetailDto extends ServerDto {
  /**
   * Values of `headers` and `env`, and values from environment variables of the gateway, are masked. For a viewer, secrets
   * in arguments and URLs are masked too. If a masked value is sent back, the stored value is kept.
   */
  readonly definition: JsonObject;

  /**
   * Client capabilities that the gateway does not declare to this server, because clients share its link. What the server
   * offers only to clients with these capabilities is not available. Absent with `isolation: session` and for a server of
   * 2026.
   */
  readonly missingCapabilities?: string[];

  /** The last lines that a stdio server wrote to stderr. */
  readonly stderr: string[];

  /** The last failure since the server was enabled; kept when the server becomes ready again. */
  readonly lastFailure?: ServerFailureDto;

  readonly tools: ServerToolDto[];
}

/** The answer to a PATCH. */
export class PatchedServerDto extends ServerDetailDto {
  /** The keys of the definition that have another value now. */
  readonly changed: string[];
}
