import type { ServerDetail, ServerSummary } from '../client/admin-types.js';
import type { ServerAction } from '../client/admin-api.js';
import {
  formatAge,
  formatCount,
  formatDecision,
  formatState,
  formatUpdates,
  stateTone,
} from '../client/format.js';
import { printable, printableLines } from '../client/printable.js';
import { CommandError } from './command-error.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { Output } from './output.js';
import type { TableCell, TableColumn } from './table.js';

const COLUMNS: readonly TableColumn[] = [
  { title: 'SERVER' },
  { title: 'STATE' },
  { title: 'TRANSPORT' },
  { title: 'SINCE', align: 'right' },
  { title: 'CALLS', align: 'right' },
  { title: 'QUEUE', align: 'right', isOptional: true },
  { title: 'TOOLS', align: 'right' },
  { title: 'PROMPTS', align: 'right', isOptional: true },
  { title: 'RESOURCES', align: 'right' },
  { title: 'TEMPLATES', align: 'right', isOptional: true },
  { title: 'REASON', truncate: 'end' },
];

export async function listServers(options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const servers = await api.servers();
  if (out.format === 'json') out.json({ servers });
  else out.table(COLUMNS, servers.map(rowOf), 'no servers');
}

function rowOf(server: ServerSummary): TableCell[] {
  const { id, state, transport, since, calls, waiting, counts, reason = '' } = server;
  return [
    id,
    { text: state, style: TONE_STYLES[stateTone(state)] },
    transport,
    since === undefined ? '-' : formatAge(since, Date.now()),
    String(calls),
    String(waiting),
    String(counts.tools),
    String(counts.prompts),
    String(counts.resources),
    String(counts.templates),
    reason,
  ];
}

const TONE_STYLES = { good: 'green', busy: 'yellow', bad: 'red', off: 'dim' } as const;

export async function showServer(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const server = await api.server(id);
  if (out.format === 'json') {
    out.json(server);
    return;
  }
  const { state, reason, transport, since, origin, restarts, pid, serverInfo, protocolVersion } = server;
  const { counts, definition } = server;
  const isReady = state === 'ready';
  const disabled = server.tools
    .filter(({ enabled }) => !enabled)
    .map(({ ownName, decision }) => (decision ? `${ownName} (${formatDecision(decision)})` : ownName));
  const fields: [string, string | undefined][] = [
    ['state', formatState(server)],
    ['cause', server.cause],
    ['reason', isReady ? undefined : reason],
    ['transport', transport],
    ['url', addressIn(definition)],
    ['command', 'command' in definition ? definition.command : undefined],
    ['since', since],
    ['down since', isReady ? undefined : server.downSince],
    ['attempts', isReady ? undefined : String(server.attempts)],
    ['next attempt', server.nextAttempt],
    ['restarts', String(restarts)],
    ['process', pid === undefined ? undefined : String(pid)],
    ['software', serverInfo && `${serverInfo.name} ${serverInfo.version}`],
    ['protocol', protocolVersion],
    ['era', server.era && `${server.era} since ${server.eraSince}`],
    ['also offers', server.alsoOffers && `${server.alsoOffers} (used with era: 2025)`],
    ['notifications', server.notificationStream === 'none' ? 'none: no notification stream' : undefined],
    ['updates', formatUpdates(server)],
    ['not offered', server.missingCapabilities?.join(', ')],
    ['calls', `${server.calls} (${server.inFlight} running, ${server.waiting} queued)`],
    ['tools', formatCount(counts.tools)],
    ['disabled tools', disabled.length === 0 ? undefined : disabled.join(', ')],
    ['prompts', formatCount(counts.prompts)],
    ['resources', formatCount(counts.resources)],
    ['templates', formatCount(counts.templates)],
    ['defined by', origin === 'config' ? 'configuration' : 'administrator'],
    ['decided', server.decisions?.map(formatDecision).join('; ')],
  ];
  out.line(out.paint('bold', printable(server.id)));
  for (const [name, value] of fields)
    if (value !== undefined) out.line(`  ${name.padEnd(14)}  ${printable(value)}`);
  if (server.stderr.length > 0) out.line(out.paint('bold', 'latest stderr output'));
  for (const line of server.stderr.flatMap(printableLines)) out.line(`  ${line}`);
  // While the server is down, `reason` and `stderr` above are those of the last failure.
  if (server.lastFailure && isReady) printFailure(server.lastFailure, out);
}

/** The URL without its query, which may contain a key. */
function addressIn(definition: ServerDetail['definition']): string | undefined {
  if (!('url' in definition)) return undefined;
  const { origin, pathname } = new URL(definition.url);
  return origin + pathname;
}

function printFailure(
  { time, cause, reason, stderr }: NonNullable<ServerDetail['lastFailure']>,
  out: Output,
): void {
  out.line(out.paint('bold', 'last failure'));
  out.line(`  ${time}  ${cause}: ${printable(reason)}`);
  for (const line of stderr.flatMap(printableLines)) out.line(`  ${line}`);
}

const PAST_TENSE: Readonly<Record<ServerAction, string>> = {
  enable: 'enabled',
  disable: 'disabled',
  reconnect: 'reconnected',
};

export async function runServerAction(
  id: string,
  action: ServerAction,
  options: GatewayOptions,
): Promise<void> {
  const { api, out } = await openGateway(options);
  const server = await api.controlServer(id, action);
  const hasFailed = action === 'reconnect' && server.state !== 'ready';
  printOutcome(out, id, `${hasFailed ? 'not ' : ''}${PAST_TENSE[action]}`, server);
  if (action !== 'disable') requireReady(server);
}

/** Prints for example `github is enabled; it is retrying: connection refused`. */
export function printOutcome(out: Output, id: string, outcome: string, server: ServerDetail): void {
  const now = server.state === 'disabled' ? '' : `; it is ${server.state}`;
  const reason = server.reason === undefined ? '' : `: ${server.reason}`;
  if (out.format === 'json') out.json(server);
  else out.line(printable(`${id} is ${outcome}${now}${reason}`));
}

/** Throws if the server is not ready, so that the command fails. */
export function requireReady({ id, state }: ServerDetail): void {
  if (state !== 'ready') throw new CommandError(printable(`${id} is not ready but ${state}`));
}

export async function setToolEnabled(
  server: string,
  tool: string,
  action: 'enable' | 'disable',
  options: GatewayOptions,
): Promise<void> {
  const { api, out } = await openGateway(options);
  const detail = await api.switchTool(server, tool, action);
  if (out.format === 'json') out.json(detail);
  else out.line(printable(`${tool} of ${server} is ${PAST_TENSE[action]}`));
}
