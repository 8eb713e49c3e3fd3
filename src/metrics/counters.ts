import { MEMORY_LIMITS } from '../core/memory-limits.js';
import { NOTIFICATION_KINDS } from '../core/notification-kind.js';
import { LabelledCounter } from './labelled-metrics.js';
import {
  ADDRESS_CHECKS,
  AUTH_FAILURES,
  JSON_REFUSALS,
  JSON_SOURCES,
  LINE_KINDS,
  LISTEN_OUTCOMES,
  LIST_METHODS,
  NOTIFICATION_OUTCOMES,
  ORIGIN_REFUSALS,
  REFUSING_LIMITS,
  STREAM_ENDS,
  SUBSCRIPTION_REJECTIONS,
  UPDATE_OUTCOMES,
} from './metric-labels.js';

/** The only series of a counter without labels. */
const SERIES_WITHOUT_LABELS = [[]] as const;

/** One series per value of the only label. */
const seriesOf = (values: readonly string[]): (readonly [string])[] => values.map((value) => [value]);

/** One series per pair of values of the two labels. */
const seriesOfPairs = (first: readonly string[], second: readonly string[]): (readonly [string, string])[] =>
  first.flatMap((left) => second.map((right) => [left, right] as const));

/**
 * The counters that `Metrics` increments. If all label values of a counter are known in advance, its series exist from the
 * start. Server ids are not known in advance: a series with the label `server_id`, which is always the first label, is
 * created by its first event.
 */
export const createCounters = () => ({
  toolCalls: new LabelledCounter('mcp_tool_calls_total', 'Tool calls, by the server that owns the tool.', [
    'server_id',
    'outcome',
  ]),
  resourceReads: new LabelledCounter('mcp_resource_reads_total', 'Resource reads.', [
    'server_id',
    'mime_type',
    'outcome',
  ]),
  notifications: new LabelledCounter(
    'mcp_notifications_total',
    'Notifications to clients.',
    ['kind', 'outcome'],
    seriesOfPairs(NOTIFICATION_KINDS, NOTIFICATION_OUTCOMES),
  ),
  suppressedLines: new LabelledCounter(
    'gatehouse_log_lines_suppressed_total',
    'Log lines that were not written because there were too many of their kind.',
    ['kind'],
    seriesOf(LINE_KINDS),
  ),
  unfinishedLists: new LabelledCounter(
    'gatehouse_unfinished_lists_total',
    'Lists that a client stopped reading before their last page.',
    ['method'],
    seriesOf(LIST_METHODS),
  ),
  streamEnds: new LabelledCounter(
    'gatehouse_stream_closes_total',
    'Closed connections of event streams.',
    ['reason'],
    seriesOf(STREAM_ENDS),
  ),
  listens: new LabelledCounter(
    'gatehouse_listens_total',
    'Requests for a listen stream (revision 2026-07-28), by outcome.',
    ['outcome'],
    seriesOf(LISTEN_OUTCOMES),
  ),
  refusedJson: new LabelledCounter(
    'gatehouse_refused_json_total',
    'JSON from clients, administrators and servers that was not read.',
    ['source', 'reason'],
    seriesOfPairs(JSON_SOURCES, JSON_REFUSALS),
  ),
  originRefusals: new LabelledCounter(
    'gatehouse_origin_refusals_total',
    'Requests refused because of their Host or Origin header.',
    ['reason'],
    seriesOf(ORIGIN_REFUSALS),
  ),
  authFailures: new LabelledCounter(
    'gatehouse_auth_failures_total',
    'MCP requests without valid credentials.',
    ['reason'],
    seriesOf(AUTH_FAILURES),
  ),
  limitRefusals: new LabelledCounter(
    'gatehouse_limit_refusals_total',
    'Requests, sessions, streams, connections and processes that a limit refused.',
    ['limit'],
    seriesOf(REFUSING_LIMITS),
  ),
  memoryLimits: new LabelledCounter(
    'gatehouse_memory_limits_total',
    'Messages refused, and links and pages dropped, because a memory limit was reached.',
    ['limit'],
    seriesOf(MEMORY_LIMITS),
  ),
  updates: new LabelledCounter(
    'mcp_subscription_events_total',
    'Resource updates that were written or redelivered, counted for each subscriber, and updates that were not sent.',
    ['outcome'],
    seriesOf(UPDATE_OUTCOMES),
  ),
  subscriptionRejections: new LabelledCounter(
    'gatehouse_subscription_rejections_total',
    'Refused subscriptions.',
    ['reason'],
    seriesOf(SUBSCRIPTION_REJECTIONS),
  ),
  excessMessages: new LabelledCounter(
    'gatehouse_excess_server_messages_total',
    'Unsolicited messages of servers beyond their rate.',
    ['server_id', 'outcome'],
  ),
  malformedMessages: new LabelledCounter(
    'gatehouse_malformed_server_messages_total',
    'Messages of servers that are not valid JSON-RPC.',
    ['server_id'],
  ),
  unattributedMessages: new LabelledCounter(
    'gatehouse_unattributed_server_messages_total',
    'Messages of servers that were dropped or refused because their client is not known.',
    ['server_id', 'kind'],
  ),
  unfinishedMatches: new LabelledCounter(
    'gatehouse_unfinished_template_matches_total',
    'URIs that were not matched with all resource templates of a server, because that would take too long.',
    ['server_id'],
  ),
  inputRequests: new LabelledCounter(
    'gatehouse_input_requests_total',
    'Requests whose server required input of the client (revision 2026-07-28).',
    ['server_id', 'outcome'],
  ),
  clientQuestions: new LabelledCounter(
    'gatehouse_client_questions_total',
    'Questions of servers of 2025 to clients of revision 2026-07-28, by outcome.',
    ['server_id', 'outcome'],
  ),
  addressRefusals: new LabelledCounter(
    'gatehouse_address_refusals_total',
    'Addresses of servers defined through the admin API that the address policy refused.',
    ['at'],
    seriesOf(ADDRESS_CHECKS),
  ),
  requestsCutOff: new LabelledCounter(
    'gatehouse_requests_cut_off_total',
    'Requests that the drain deadline cut off.',
    [],
    SERIES_WITHOUT_LABELS,
  ),
  auditFailures: new LabelledCounter(
    'gatehouse_audit_write_failures_total',
    'Audit entries that could not be written.',
    [],
    SERIES_WITHOUT_LABELS,
  ),
  emptyScopes: new LabelledCounter(
    'gatehouse_empty_scopes_total',
    'Sessions whose principal sees no server.',
    [],
    SERIES_WITHOUT_LABELS,
  ),
  sessionEvictions: new LabelledCounter(
    'gatehouse_sessions_evicted_total',
    'Sessions that were ended to make room for a session of another principal.',
    [],
    SERIES_WITHOUT_LABELS,
  ),
});
