/** Generated from the OpenAPI document of the admin API by `npm run openapi`. */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly ServerDefinition: {
            /**
             * @description Whether the server is connected and its tools, resources and prompts are listed.
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description Maximum number of requests in flight at this server: calls, lists, subscriptions and polls, but not pings. With auth and a value of 4 or more, a sixteenth of the value (at least one request) is reserved for principals without a request in flight. The default is 16 for a stdio server and 64 for an HTTP server.
             * @default 16
             */
            readonly concurrency?: number;
            /**
             * @description Maximum number of calls that wait while concurrency is reached. When the queue is full, the newest call of the principal with the most waiting calls is refused. 0 disables the queue. The default is 1000 for a stdio server and 2000 for an HTTP server.
             * @default 1000
             */
            readonly queue?: number;
            /**
             * @description Protocol era of the connection to the server: revisions with sessions (2025), or revision 2026-07-28 (2026). auto chooses 2026 if the server offers it, and chooses again when it reconnects.
             * @default auto
             * @enum {unknown}
             */
            readonly era?: "auto" | "2025" | "2026" | 2025 | 2026;
            /**
             * @description Whether subscriptions of clients are sent to the server: if it announces resources.subscribe (announced); if it has resources, until it answers that it does not know the method (try); or not at all (never). Many servers accept subscriptions without announcing it, for example those of the Python SDK 1.x.
             * @default announced
             * @enum {unknown}
             */
            readonly subscribe?: "announced" | "try" | "never";
            /**
             * @description Interval in milliseconds at which a list is fetched again if the server does not announce its changes, because the server has no notification stream or does not declare listChanged for the list.
             * @default 60000
             */
            readonly refreshMs?: number;
            /**
             * @description Timeout of a call in milliseconds, from its arrival to its answer, the time in the queue included. Progress restarts it.
             * @default 60000
             */
            readonly timeoutMs?: number;
            /**
             * @description Timeout of a connection in milliseconds, from its start to the answer of the server to initialize. The default is long enough for package runners such as npx, which download packages at the first start.
             * @default 60000
             */
            readonly connectTimeoutMs?: number;
            /** @description Disabled and exclusive tools of this server. */
            readonly tools?: {
                /**
                 * @description Own names of tools that are neither listed nor callable.
                 * @default []
                 */
                readonly disabled?: readonly string[];
                /**
                 * @description Own names of tools that run alone: no other call of the server is in flight during a call of such a tool.
                 * @default []
                 */
                readonly exclusive?: readonly string[];
            };
            /**
             * @description How clients share the server: one link with concurrent calls (shared); one link with one call at a time, so that every request that the server sends during a call belongs to that call (exclusive); or a link per session (session). With exclusive over stdio and SSE, such requests are refused for a second after a call of another principal. The link of a session has the capabilities of its client, its own lists, and the subscriptions of the session.
             * @default shared
             * @enum {unknown}
             */
            readonly isolation?: "shared" | "exclusive" | "session";
            /** @description Polling and throttling of resource updates. */
            readonly watch?: {
                /** @description Poll interval in milliseconds for subscribed resources of a server that does not support subscriptions or has no notification stream. Without it, resources of this server are not polled. */
                readonly pollMs?: number;
                /**
                 * @description Throttle interval in milliseconds: the first update of a resource is delivered at once, and the later ones within the interval are coalesced into one.
                 * @default 0
                 */
                readonly coalesceMs?: number;
            };
            /** @description Overrides of naming for this server. */
            readonly naming?: {
                /**
                 * @description Overrides naming.tools for this server.
                 * @enum {unknown}
                 */
                readonly tools?: "always" | "conflict" | "never";
            };
            /**
             * @description Transport; implied by command.
             * @default stdio
             * @enum {unknown}
             */
            readonly type?: "stdio";
            /** @description Program to start: a path, or a name that is searched in PATH. No shell is used. */
            readonly command: string;
            /**
             * @description Arguments of the program.
             * @default []
             */
            readonly args?: readonly string[];
            /**
             * @description Environment variables of the program, in addition to inherited ones such as PATH.
             * @default {}
             */
            readonly env?: {
                readonly [key: string]: string;
            };
            /** @description Working directory of the program. A relative path is resolved against the gateway's working directory. */
            readonly cwd?: string;
        } | {
            /**
             * @description Whether the server is connected and its tools, resources and prompts are listed.
             * @default true
             */
            readonly enabled?: boolean;
            /**
             * @description Maximum number of requests in flight at this server: calls, lists, subscriptions and polls, but not pings. With auth and a value of 4 or more, a sixteenth of the value (at least one request) is reserved for principals without a request in flight. The default is 16 for a stdio server and 64 for an HTTP server.
             * @default 64
             */
            readonly concurrency?: number;
            /**
             * @description Maximum number of calls that wait while concurrency is reached. When the queue is full, the newest call of the principal with the most waiting calls is refused. 0 disables the queue. The default is 1000 for a stdio server and 2000 for an HTTP server.
             * @default 2000
             */
            readonly queue?: number;
            /**
             * @description Protocol era of the connection to the server: revisions with sessions (2025), or revision 2026-07-28 (2026). auto chooses 2026 if the server offers it, and chooses again when it reconnects.
             * @default auto
             * @enum {unknown}
             */
            readonly era?: "auto" | "2025" | "2026" | 2025 | 2026;
            /**
             * @description Whether subscriptions of clients are sent to the server: if it announces resources.subscribe (announced); if it has resources, until it answers that it does not know the method (try); or not at all (never). Many servers accept subscriptions without announcing it, for example those of the Python SDK 1.x.
             * @default announced
             * @enum {unknown}
             */
            readonly subscribe?: "announced" | "try" | "never";
            /**
             * @description Interval in milliseconds at which a list is fetched again if the server does not announce its changes, because the server has no notification stream or does not declare listChanged for the list.
             * @default 60000
             */
            readonly refreshMs?: number;
            /**
             * @description Timeout of a call in milliseconds, from its arrival to its answer, the time in the queue included. Progress restarts it.
             * @default 60000
             */
            readonly timeoutMs?: number;
            /**
             * @description Timeout of a connection in milliseconds, from its start to the answer of the server to initialize. The default is long enough for package runners such as npx, which download packages at the first start.
             * @default 60000
             */
            readonly connectTimeoutMs?: number;
            /** @description Disabled and exclusive tools of this server. */
            readonly tools?: {
                /**
                 * @description Own names of tools that are neither listed nor callable.
                 * @default []
                 */
                readonly disabled?: readonly string[];
                /**
                 * @description Own names of tools that run alone: no other call of the server is in flight during a call of such a tool.
                 * @default []
                 */
                readonly exclusive?: readonly string[];
            };
            /**
             * @description How clients share the server: one link with concurrent calls (shared); one link with one call at a time, so that every request that the server sends during a call belongs to that call (exclusive); or a link per session (session). With exclusive over stdio and SSE, such requests are refused for a second after a call of another principal. The link of a session has the capabilities of its client, its own lists, and the subscriptions of the session.
             * @default shared
             * @enum {unknown}
             */
            readonly isolation?: "shared" | "exclusive" | "session";
            /** @description Polling and throttling of resource updates. */
            readonly watch?: {
                /** @description Poll interval in milliseconds for subscribed resources of a server that does not support subscriptions or has no notification stream. Without it, resources of this server are not polled. */
                readonly pollMs?: number;
                /**
                 * @description Throttle interval in milliseconds: the first update of a resource is delivered at once, and the later ones within the interval are coalesced into one.
                 * @default 0
                 */
                readonly coalesceMs?: number;
            };
            /** @description Overrides of naming for this server. */
            readonly naming?: {
                /**
                 * @description Overrides naming.tools for this server.
                 * @enum {unknown}
                 */
                readonly tools?: "always" | "conflict" | "never";
            };
            /**
             * @description Transport: Streamable HTTP, and HTTP+SSE if the server refuses Streamable HTTP with status 400, 404 or 405 (http); or only the deprecated HTTP+SSE (sse).
             * @default http
             * @enum {unknown}
             */
            readonly type?: "http" | "sse" | "streamable-http" | "streamableHttp";
            /** @description URL of the MCP endpoint. */
            readonly url: string;
            /**
             * @description HTTP headers of every request to the server, such as Authorization.
             * @default {}
             */
            readonly headers?: {
                readonly [key: string]: string;
            };
            /**
             * @description Keep-alive interval in milliseconds: after an interval without a request in a session with the server, the gateway sends a ping in that session. Choose at most half of the time after which the server ends idle sessions; servers of the Rust SDK end them after five minutes.
             * @default 120000
             */
            readonly keepAliveMs?: number;
            /** @description Proxy for this server, instead of the one in HTTP_PROXY or HTTPS_PROXY, and regardless of NO_PROXY. Loopback is never reached through a proxy. */
            readonly proxy?: string;
            /** @description Certificates for https. The files are read again when they change. */
            readonly tls?: {
                /** @description File with the certificate authorities that are trusted for this server, instead of the public ones. */
                readonly ca?: string;
                /** @description File with the client certificate. */
                readonly cert?: string;
                /** @description File with the private key of the client certificate. */
                readonly key?: string;
            };
        };
        readonly Subscription: {
            readonly id: string;
            /** @description Id of the session or listen stream, as in the list of sessions. */
            readonly client: string;
            /** @description Name of the client in its `initialize` request, or in its request for the stream. */
            readonly clientName?: string;
            readonly server: string;
            /** @description The public URI. */
            readonly uri: string;
            /** @description The server's own URI. */
            readonly ownUri: string;
            /**
             * @deprecated
             * @description The same as `ownUri`.
             */
            readonly original: string;
            /** Format: date-time */
            readonly since: string;
            /** @description Whether the client has its event stream open. Without it, updates wait until the client opens one. */
            readonly hasStream: boolean;
        };
        readonly Subscriptions: {
            readonly subscriptions: readonly components["schemas"]["Subscription"][];
            /** @description Cursor of the next page. Absent on the last page. */
            readonly nextCursor?: string;
            /** @description Entries on all pages. */
            readonly total: number;
        };
        readonly Decision: {
            /** @description `server:<id>:enabled`, `server:<id>:definition`, `tool:<server>:<own name>`, `project:<id>` or `key:<id>`. */
            readonly id: string;
            /** @enum {string} */
            readonly kind: "server" | "project" | "tool" | "key";
            /** @description Id of the server, project or key. */
            readonly target: string;
            /** @description The server's own name of the tool. */
            readonly tool?: string;
            /** @enum {string} */
            readonly change: "disabled" | "enabled" | "defined" | "removed" | "revoked";
            /**
             * @description `ignored`: `decisions.policy` is `file`. `unused`: its server, project or key does not exist.
             * @enum {string}
             */
            readonly effect: "applied" | "ignored" | "unused";
            /** @description Whether it applies in place of a different value in the configuration file. */
            readonly overrules: boolean;
            /** @description Whether it is an emergency switch: it overrules the file although `decisions.policy` is `file`. */
            readonly emergency: boolean;
            /** @description Role of the administrator. Absent if the decision was made by a version that did not record it. */
            readonly by?: string;
            /**
             * Format: date-time
             * @description When the decision was made.
             */
            readonly at?: string;
        };
        readonly Tool: {
            /** @description The public name. */
            readonly name: string;
            readonly server: string;
            /** @description The server's own name. */
            readonly ownName: string;
            /**
             * @deprecated
             * @description The same as `ownName`.
             */
            readonly own: string;
            /** @description The definition that clients receive. */
            readonly definition: {
                readonly [key: string]: unknown;
            };
            /**
             * @description Whether the definition of the server (`config`) or a decision (`admin`) enables the tool.
             * @enum {string}
             */
            readonly origin: "config" | "admin";
            /** @description The decision about the tool. */
            readonly decision?: components["schemas"]["Decision"];
        };
        readonly Tools: {
            readonly tools: readonly components["schemas"]["Tool"][];
            /** @description Cursor of the next page. Absent on the last page. */
            readonly nextCursor?: string;
        };
        readonly CatalogItem: {
            /** @description The public name. */
            readonly name: string;
            readonly server: string;
            /** @description The server's own name. */
            readonly ownName: string;
            /**
             * @deprecated
             * @description The same as `ownName`.
             */
            readonly own: string;
            /** @description The definition that clients receive. */
            readonly definition: {
                readonly [key: string]: unknown;
            };
        };
        readonly Prompts: {
            readonly prompts: readonly components["schemas"]["CatalogItem"][];
            /** @description Cursor of the next page. Absent on the last page. */
            readonly nextCursor?: string;
        };
        readonly Resource: {
            /** @description The public URI. */
            readonly uri: string;
            readonly server: string;
            /** @description The server's own URI. */
            readonly ownUri: string;
            /**
             * @deprecated
             * @description The same as `ownUri`.
             */
            readonly original: string;
            /** @description An identifier without special characters; unique in the gateway. MCP requests and the meta tool `describe_resource` accept it in place of the URI. */
            readonly id: string;
            /** @description Number of sessions and listen streams that receive updates of the resource. They are subscribed to its URI, to a pattern that matches it, or to a resource that it is a part of. */
            readonly subscribers: number;
            /** @description The definition that clients receive. */
            readonly definition: {
                readonly [key: string]: unknown;
            };
        };
        readonly Resources: {
            readonly resources: readonly components["schemas"]["Resource"][];
            /** @description Cursor of the next page. Absent on the last page. */
            readonly nextCursor?: string;
            /** @description Number of entries on all pages together. */
            readonly total: number;
        };
        readonly ResourceTemplate: {
            /** @description The public URI template. */
            readonly uriTemplate: string;
            readonly server: string;
            /** @description The server's own URI template. */
            readonly ownUri: string;
            /**
             * @deprecated
             * @description The same as `ownUri`.
             */
            readonly original: string;
            /** @description An identifier without special characters outside its expressions; unique in the gateway. MCP requests and the meta tool `describe_resource` accept it in place of the URI template. */
            readonly id: string;
            /** @description The definition that clients receive. */
            readonly definition: {
                readonly [key: string]: unknown;
            };
        };
        readonly ResourceTemplates: {
            readonly resourceTemplates: readonly components["schemas"]["ResourceTemplate"][];
            /** @description Cursor of the next page. Absent on the last page. */
            readonly nextCursor?: string;
            /** @description Number of entries on all pages together. */
            readonly total: number;
        };
        readonly Config: {
            /** @description Whether the configuration was accepted. */
            readonly ok: boolean;
            /** Format: date-time */
            readonly at: string;
            /** @description Why the configuration was rejected. */
            readonly problem?: string;
            /** @description Keys whose values in the last valid file apply only after a restart. */
            readonly restartNeeded: readonly string[];
            /** @description Ids of the decisions that overrule the file. */
            readonly overruledBy: readonly string[];
        };
        readonly Decisions: {
            /** @enum {string} */
            readonly policy: "overlay" | "file";
            readonly decisions: readonly components["schemas"]["Decision"][];
        };
        readonly Key: {
            readonly id: string;
            /** @enum {string} */
            readonly state: "revoked" | "active" | "expired";
            /** @description Projects that the key grants, or `*` for all. */
            readonly projects: readonly string[];
            /** Format: date-time */
            readonly expires?: string;
            /** @description Open sessions of clients with this key. */
            readonly sessions: number;
            /** @description The revocation. */
            readonly decision?: components["schemas"]["Decision"];
        };
        readonly Keys: {
            readonly keys: readonly components["schemas"]["Key"][];
        };
        readonly Project: {
            readonly id: string;
            /** @description Ids of the servers that the project shows. */
            readonly servers: readonly string[];
            readonly description?: string;
            /**
             * @description Where the definition comes from: the configuration file or the admin API.
             * @enum {string}
             */
            readonly origin: "config" | "admin";
            /** @description The decision about the project. */
            readonly decision?: components["schemas"]["Decision"];
        };
        readonly Projects: {
            readonly projects: readonly components["schemas"]["Project"][];
        };
        readonly ProjectBody: {
            /** @description Ids of the servers that the project shows. */
            readonly servers: readonly string[];
            readonly description?: string;
        };
        readonly ServerInfo: {
            readonly name: string;
            readonly version: string;
        } & {
            readonly [key: string]: unknown;
        };
        readonly ServerCounts: {
            readonly tools: number;
            /** @description Tools that are switched off. */
            readonly disabledTools: number;
            readonly prompts: number;
            readonly resources: number;
            readonly templates: number;
        };
        readonly Server: {
            readonly id: string;
            readonly enabled: boolean;
            /** @enum {string} */
            readonly state: "connecting" | "ready" | "unresponsive" | "retrying" | "crash-loop" | "stopped" | "disabled";
            /**
             * @description Why the server is not connected; while it is connecting, the cause of the last failure.
             * @enum {string}
             */
            readonly cause?: "unauthorized" | "not-found" | "unresponsive" | "unreachable" | "crashed";
            /** @description The last failure in words; for a ready server, the lists that could not be fetched. Absent if there is neither. */
            readonly reason?: string;
            /**
             * Format: date-time
             * @description When the server entered this state. Absent while it is disabled.
             */
            readonly since?: string;
            /**
             * Format: date-time
             * @description Time of the first failure since the server was last ready. Absent while there is none.
             */
            readonly downSince?: string;
            /**
             * Format: date-time
             * @description When the next attempt to connect begins. Absent while none is scheduled.
             */
            readonly nextAttempt?: string;
            /** @enum {string} */
            readonly transport: "stdio" | "http" | "sse";
            /**
             * @description Where the definition comes from: the configuration file or the admin API.
             * @enum {string}
             */
            readonly origin: "config" | "admin";
            /** @description The decisions about the server, without those about its tools. Absent when there are none. */
            readonly decisions?: readonly components["schemas"]["Decision"][];
            /** @description Attempts to connect since the server was last ready. */
            readonly attempts: number;
            /** @description How often the process was started again; for a server without a process, how often the gateway has reconnected. */
            readonly restarts: number;
            /** @description Calls since the server was enabled. */
            readonly calls: number;
            /** @description Requests that the server has not answered yet, those of the gateway itself included. */
            readonly inFlight: number;
            /** @description Requests that wait for the server, those of the gateway itself included. */
            readonly waiting: number;
            /** @description Process id of a stdio server. */
            readonly pid?: number;
            /** @description `serverInfo` of the server's initialize result. */
            readonly serverInfo?: components["schemas"]["ServerInfo"];
            /** @description MCP revision that was negotiated with the server. */
            readonly protocolVersion?: string;
            /**
             * @description Protocol era in which the gateway uses the server: 2025 with a session, 2026 without. Absent while there is no connection.
             * @enum {string}
             */
            readonly era?: "2025" | "2026";
            /**
             * Format: date-time
             * @description When the server was first found to speak this era.
             */
            readonly eraSince?: string;
            /** @description The newest MCP revision of the era 2025 that a server in the era 2026 says it offers too. With `era: 2025` the gateway uses it. */
            readonly alsoOffers?: string;
            /**
             * @description Whether the server can send notifications: `open`, `opening`, `lost` while the gateway opens its stream again, or `none` when the server offers no notification stream. Absent while there is no connection.
             * @enum {string}
             */
            readonly notificationStream?: "opening" | "open" | "lost" | "none";
            /**
             * @description How updates of resources come: by `subscriptions` at the server, by `polling` of the gateway (`watch.pollMs`), `unsolicited` if the server accepts no subscriptions but may send updates, or `none` if no updates can come. Absent while there is no connection, and for a server without resources.
             * @enum {string}
             */
            readonly updates?: "subscriptions" | "none" | "polling" | "unsolicited";
            readonly counts: components["schemas"]["ServerCounts"];
        };
        readonly Servers: {
            readonly servers: readonly components["schemas"]["Server"][];
        };
        readonly ServerFailure: {
            /** Format: date-time */
            readonly time: string;
            /** @enum {string} */
            readonly cause: "unauthorized" | "not-found" | "unresponsive" | "unreachable" | "crashed";
            readonly reason: string;
            /** @description The last lines that the process of a stdio server wrote to stderr before the failure. */
            readonly stderr: readonly string[];
        };
        readonly ServerTool: {
            /** @description The server's own name of the tool. */
            readonly ownName: string;
            /**
             * @deprecated
             * @description The same as `ownName`.
             */
            readonly own: string;
            /** @description The public name of the tool. Absent while clients do not see it. */
            readonly name?: string;
            readonly enabled: boolean;
            /**
             * @description Whether the definition of the server (`config`) or a decision (`admin`) enables or disables the tool.
             * @enum {string}
             */
            readonly origin: "config" | "admin";
            /** @description The decision about the tool. */
            readonly decision?: components["schemas"]["Decision"];
            readonly title?: string;
            readonly description?: string;
            /** @description The tool as its server lists it. Present only while the tool is switched off. */
            readonly definition?: {
                readonly [key: string]: unknown;
            };
        };
        readonly ServerDetail: {
            /** @description Values of `headers` and `env`, and values from environment variables of the gateway, are masked. For a viewer, secrets in arguments and URLs are masked too. If a masked value is sent back, the stored value is kept. */
            readonly definition: components["schemas"]["ServerDefinition"];
            /** @description Client capabilities that the gateway does not declare to this server, because clients share its link. What the server offers only to clients with these capabilities is not available. Absent with `isolation: session` and for a server of 2026. */
            readonly missingCapabilities?: readonly string[];
            /** @description The last lines that a stdio server wrote to stderr. */
            readonly stderr: readonly string[];
            /** @description The last failure since the server was enabled; kept when the server becomes ready again. */
            readonly lastFailure?: components["schemas"]["ServerFailure"];
            readonly tools: readonly components["schemas"]["ServerTool"][];
            readonly id: string;
            readonly enabled: boolean;
            /** @enum {string} */
            readonly state: "connecting" | "ready" | "unresponsive" | "retrying" | "crash-loop" | "stopped" | "disabled";
            /**
             * @description Why the server is not connected; while it is connecting, the cause of the last failure.
             * @enum {string}
             */
            readonly cause?: "unauthorized" | "not-found" | "unresponsive" | "unreachable" | "crashed";
            /** @description The last failure in words; for a ready server, the lists that could not be fetched. Absent if there is neither. */
            readonly reason?: string;
            /**
             * Format: date-time
             * @description When the server entered this state. Absent while it is disabled.
             */
            readonly since?: string;
            /**
             * Format: date-time
             * @description Time of the first failure since the server was last ready. Absent while there is none.
             */
            readonly downSince?: string;
            /**
             * Format: date-time
             * @description When the next attempt to connect begins. Absent while none is scheduled.
             */
            readonly nextAttempt?: string;
            /** @enum {string} */
            readonly transport: "stdio" | "http" | "sse";
            /**
             * @description Where the definition comes from: the configuration file or the admin API.
             * @enum {string}
             */
            readonly origin: "config" | "admin";
            /** @description The decisions about the server, without those about its tools. Absent when there are none. */
            readonly decisions?: readonly components["schemas"]["Decision"][];
            /** @description Attempts to connect since the server was last ready. */
            readonly attempts: number;
            /** @description How often the process was started again; for a server without a process, how often the gateway has reconnected. */
            readonly restarts: number;
            /** @description Calls since the server was enabled. */
            readonly calls: number;
            /** @description Requests that the server has not answered yet, those of the gateway itself included. */
            readonly inFlight: number;
            /** @description Requests that wait for the server, those of the gateway itself included. */
            readonly waiting: number;
            /** @description Process id of a stdio server. */
            readonly pid?: number;
            /** @description `serverInfo` of the server's initialize result. */
            readonly serverInfo?: components["schemas"]["ServerInfo"];
            /** @description MCP revision that was negotiated with the server. */
            readonly protocolVersion?: string;
            /**
             * @description Protocol era in which the gateway uses the server: 2025 with a session, 2026 without. Absent while there is no connection.
             * @enum {string}
             */
            readonly era?: "2025" | "2026";
            /**
             * Format: date-time
             * @description When the server was first found to speak this era.
             */
            readonly eraSince?: string;
            /** @description The newest MCP revision of the era 2025 that a server in the era 2026 says it offers too. With `era: 2025` the gateway uses it. */
            readonly alsoOffers?: string;
            /**
             * @description Whether the server can send notifications: `open`, `opening`, `lost` while the gateway opens its stream again, or `none` when the server offers no notification stream. Absent while there is no connection.
             * @enum {string}
             */
            readonly notificationStream?: "opening" | "open" | "lost" | "none";
            /**
             * @description How updates of resources come: by `subscriptions` at the server, by `polling` of the gateway (`watch.pollMs`), `unsolicited` if the server accepts no subscriptions but may send updates, or `none` if no updates can come. Absent while there is no connection, and for a server without resources.
             * @enum {string}
             */
            readonly updates?: "subscriptions" | "none" | "polling" | "unsolicited";
            readonly counts: components["schemas"]["ServerCounts"];
        };
        readonly PatchedServer: {
            /** @description The keys of the definition that have another value now. */
            readonly changed: readonly string[];
            /** @description Values of `headers` and `env`, and values from environment variables of the gateway, are masked. For a viewer, secrets in arguments and URLs are masked too. If a masked value is sent back, the stored value is kept. */
            readonly definition: components["schemas"]["ServerDefinition"];
            /** @description Client capabilities that the gateway does not declare to this server, because clients share its link. What the server offers only to clients with these capabilities is not available. Absent with `isolation: session` and for a server of 2026. */
            readonly missingCapabilities?: readonly string[];
            /** @description The last lines that a stdio server wrote to stderr. */
            readonly stderr: readonly string[];
            /** @description The last failure since the server was enabled; kept when the server becomes ready again. */
            readonly lastFailure?: components["schemas"]["ServerFailure"];
            readonly tools: readonly components["schemas"]["ServerTool"][];
            readonly id: string;
            readonly enabled: boolean;
            /** @enum {string} */
            readonly state: "connecting" | "ready" | "unresponsive" | "retrying" | "crash-loop" | "stopped" | "disabled";
            /**
             * @description Why the server is not connected; while it is connecting, the cause of the last failure.
             * @enum {string}
             */
            readonly cause?: "unauthorized" | "not-found" | "unresponsive" | "unreachable" | "crashed";
            /** @description The last failure in words; for a ready server, the lists that could not be fetched. Absent if there is neither. */
            readonly reason?: string;
            /**
             * Format: date-time
             * @description When the server entered this state. Absent while it is disabled.
             */
            readonly since?: string;
            /**
             * Format: date-time
             * @description Time of the first failure since the server was last ready. Absent while there is none.
             */
            readonly downSince?: string;
            /**
             * Format: date-time
             * @description When the next attempt to connect begins. Absent while none is scheduled.
             */
            readonly nextAttempt?: string;
            /** @enum {string} */
            readonly transport: "stdio" | "http" | "sse";
            /**
             * @description Where the definition comes from: the configuration file or the admin API.
             * @enum {string}
             */
            readonly origin: "config" | "admin";
            /** @description The decisions about the server, without those about its tools. Absent when there are none. */
            readonly decisions?: readonly components["schemas"]["Decision"][];
            /** @description Attempts to connect since the server was last ready. */
            readonly attempts: number;
            /** @description How often the process was started again; for a server without a process, how often the gateway has reconnected. */
            readonly restarts: number;
            /** @description Calls since the server was enabled. */
            readonly calls: number;
            /** @description Requests that the server has not answered yet, those of the gateway itself included. */
            readonly inFlight: number;
            /** @description Requests that wait for the server, those of the gateway itself included. */
            readonly waiting: number;
            /** @description Process id of a stdio server. */
            readonly pid?: number;
            /** @description `serverInfo` of the server's initialize result. */
            readonly serverInfo?: components["schemas"]["ServerInfo"];
            /** @description MCP revision that was negotiated with the server. */
            readonly protocolVersion?: string;
            /**
             * @description Protocol era in which the gateway uses the server: 2025 with a session, 2026 without. Absent while there is no connection.
             * @enum {string}
             */
            readonly era?: "2025" | "2026";
            /**
             * Format: date-time
             * @description When the server was first found to speak this era.
             */
            readonly eraSince?: string;
            /** @description The newest MCP revision of the era 2025 that a server in the era 2026 says it offers too. With `era: 2025` the gateway uses it. */
            readonly alsoOffers?: string;
            /**
             * @description Whether the server can send notifications: `open`, `opening`, `lost` while the gateway opens its stream again, or `none` when the server offers no notification stream. Absent while there is no connection.
             * @enum {string}
             */
            readonly notificationStream?: "opening" | "open" | "lost" | "none";
            /**
             * @description How updates of resources come: by `subscriptions` at the server, by `polling` of the gateway (`watch.pollMs`), `unsolicited` if the server accepts no subscriptions but may send updates, or `none` if no updates can come. Absent while there is no connection, and for a server without resources.
             * @enum {string}
             */
            readonly updates?: "subscriptions" | "none" | "polling" | "unsolicited";
            readonly counts: components["schemas"]["ServerCounts"];
        };
        readonly ServerTools: {
            readonly tools: readonly components["schemas"]["ServerTool"][];
        };
        readonly SessionClient: {
            readonly name: string;
            readonly version: string;
        };
        readonly SessionScope: {
            /** @description Absent if the principal may see all servers and the session has no project. */
            readonly project?: string;
            /** @description Ids of the enabled servers that the client sees in the project. */
            readonly servers: readonly string[];
        };
        readonly UnfinishedList: {
            /** @description The MCP method of the list. */
            readonly method: string;
            /** @description Entries that the client has read. */
            readonly entries: number;
        };
        readonly Session: {
            /** @description The first 16 digits of the session id's hash. The session id itself is a secret. A listen stream has a random id. */
            readonly id: string;
            /**
             * @description `listen`: a stream of a client of revision 2026-07-28, which has no session.
             * @enum {string}
             */
            readonly kind: "session" | "listen";
            /** @description `clientInfo` of the initialize request, or of the request for the stream. */
            readonly client?: components["schemas"]["SessionClient"];
            readonly principal: string;
            readonly project?: string;
            /** @description The projects that the client sees, with their servers. */
            readonly scope: readonly components["schemas"]["SessionScope"][];
            readonly protocolVersion: string;
            /**
             * @description The family of the protocol version: `2025` has sessions, `2026` has listen streams.
             * @enum {string}
             */
            readonly era: "2025" | "2026";
            /** Format: date-time */
            readonly opened: string;
            /**
             * Format: date-time
             * @description Time of the last request; now, while a request or a stream is open.
             */
            readonly lastSeen: string;
            /** @description Requests of the client since the session was opened, or restored after a restart. 0 for a listen stream. */
            readonly calls: number;
            /** @description Requests that are being answered. */
            readonly inFlight: number;
            /** @description Open event streams to the client. */
            readonly streams: number;
            /** @description Whether the client has its event stream open. Without it, notifications wait in a bounded queue. */
            readonly hasStream: boolean;
            /** @description Resources and patterns that the client has subscribed to. */
            readonly subscriptions: number;
            /** @description Lists that the client has stopped reading before their last page. */
            readonly unfinishedLists: readonly components["schemas"]["UnfinishedList"][];
            /** @description The lists whose changes are sent on a listen stream. Absent for a session, to which changes of all lists are sent. */
            readonly listChanges?: readonly ("tools" | "prompts" | "resources")[];
        };
        readonly Sessions: {
            readonly sessions: readonly components["schemas"]["Session"][];
            /** @description Cursor of the next page. Absent on the last page. */
            readonly nextCursor?: string;
            /** @description Entries on all pages. */
            readonly total: number;
        };
        readonly SessionDetail: {
            /** @description Ids of the enabled servers that the client sees. */
            readonly servers: readonly string[];
            /** @description The first 16 digits of the session id's hash. The session id itself is a secret. A listen stream has a random id. */
            readonly id: string;
            /**
             * @description `listen`: a stream of a client of revision 2026-07-28, which has no session.
             * @enum {string}
             */
            readonly kind: "session" | "listen";
            /** @description `clientInfo` of the initialize request, or of the request for the stream. */
            readonly client?: components["schemas"]["SessionClient"];
            readonly principal: string;
            readonly project?: string;
            /** @description The projects that the client sees, with their servers. */
            readonly scope: readonly components["schemas"]["SessionScope"][];
            readonly protocolVersion: string;
            /**
             * @description The family of the protocol version: `2025` has sessions, `2026` has listen streams.
             * @enum {string}
             */
            readonly era: "2025" | "2026";
            /** Format: date-time */
            readonly opened: string;
            /**
             * Format: date-time
             * @description Time of the last request; now, while a request or a stream is open.
             */
            readonly lastSeen: string;
            /** @description Requests of the client since the session was opened, or restored after a restart. 0 for a listen stream. */
            readonly calls: number;
            /** @description Requests that are being answered. */
            readonly inFlight: number;
            /** @description Open event streams to the client. */
            readonly streams: number;
            /** @description Whether the client has its event stream open. Without it, notifications wait in a bounded queue. */
            readonly hasStream: boolean;
            /** @description Resources and patterns that the client has subscribed to. */
            readonly subscriptions: number;
            /** @description Lists that the client has stopped reading before their last page. */
            readonly unfinishedLists: readonly components["schemas"]["UnfinishedList"][];
            /** @description The lists whose changes are sent on a listen stream. Absent for a session, to which changes of all lists are sent. */
            readonly listChanges?: readonly ("tools" | "prompts" | "resources")[];
        };
        readonly ServerTotals: {
            readonly total: number;
            readonly enabled: number;
            readonly ready: number;
        };
        readonly Summary: {
            readonly servers: components["schemas"]["ServerTotals"];
            /** @description Tools of all servers, without those that are switched off. */
            readonly tools: number;
            readonly prompts: number;
            readonly resources: number;
            readonly resourceTemplates: number;
            readonly projects: number;
            readonly sessions: number;
            readonly subscriptions: number;
        };
        readonly FieldError: {
            /** @description Path of the field in the body, or name of the parameter. */
            readonly field: string;
            readonly message: string;
        };
        readonly Problem: {
            /** @enum {string} */
            readonly type: "urn:gatehouse:problem:malformed" | "urn:gatehouse:problem:unauthorized" | "urn:gatehouse:problem:forbidden" | "urn:gatehouse:problem:stdio-not-allowed" | "urn:gatehouse:problem:address-not-allowed" | "urn:gatehouse:problem:not-found" | "urn:gatehouse:problem:defined-in-file" | "urn:gatehouse:problem:conflict" | "urn:gatehouse:problem:precondition-failed" | "urn:gatehouse:problem:payload-too-large" | "urn:gatehouse:problem:unsupported-media-type" | "urn:gatehouse:problem:invalid-input" | "urn:gatehouse:problem:invalid-config" | "urn:gatehouse:problem:too-many-attempts" | "urn:gatehouse:problem:internal" | "urn:gatehouse:problem:draining" | "urn:gatehouse:problem:too-many-readers" | "urn:gatehouse:problem:storage-unavailable" | "urn:gatehouse:problem:storage-full";
            readonly title: string;
            readonly status: number;
            readonly detail: string;
            readonly requestId: string;
            readonly errors?: readonly components["schemas"]["FieldError"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
