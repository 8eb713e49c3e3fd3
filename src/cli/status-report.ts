import type { AdminApi } from '../client/admin-api.js';
import type { ConfigStatus, GatewaySummary, Health } from '../client/admin-types.js';
import { printable } from '../client/printable.js';
import { formatCount, pluralize, textOrEmpty } from '../client/format.js';
import { CommandError } from './command-error.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { Output } from './output.js';
import type { TableColumn } from './table.js';

interface Status extends GatewaySummary {
  readonly url: string;
  readonly status: 'ok' | 'degraded' | 'down';
  readonly config: ConfigStatus;
  /** The health indicators that are not up. */
  readonly troubles: readonly { readonly what: string; readonly state: string; readonly reason: string }[];
}

/** Prints the status of the gateway. Rejects if the gateway does not accept requests. */
export async function showStatus(options: GatewayOptions): Promise<void> {
  const { api, out, target } = await openGateway(options);
  const status = await statusOf(api, target.url);
  if (out.format === 'json') out.json(status);
  else {
    const tone = { ok: 'green', degraded: 'yellow', down: 'red' } as const;
    const { ready, enabled, total } = status.servers;
    const disabled = total === enabled ? '' : `, ${total - enabled} disabled`;
    const fields: [string, string][] = [
      ['status', out.paint(tone[status.status], status.status)],
      ['servers', `${ready} of ${enabled} ready${disabled}`],
      ['tools', formatCount(status.tools)],
      ['prompts', formatCount(status.prompts)],
      ['resources', resourcesIn(status)],
      ['subscriptions', formatCount(status.subscriptions)],
      ['sessions', formatCount(status.sessions)],
      ['configuration', configurationIn(status, out)],
    ];
    out.line(out.paint('bold', status.url));
    for (const [name, value] of fields) out.line(`  ${name.padEnd(13)}  ${value}`);
    const columns: TableColumn[] = [
      { title: 'PROBLEM' },
      { title: 'STATE' },
      { title: 'REASON', truncate: 'end' },
    ];
    const rows = status.troubles.map(({ what, state, reason }) => [what, state, reason]);
    if (rows.length > 0) {
      out.line('');
      out.table(columns, rows, '');
    }
  }
  if (status.status === 'down') throw new CommandError(printable(`${target.url} does not accept requests`));
}

function configurationIn({ config: { ok, at, restartNeeded, overruledBy } }: Status, out: Output): string {
  const notes = [
    ...(restartNeeded.length > 0 ? [`restart needed for ${restartNeeded.join(', ')}`] : []),
    ...(overruledBy.length > 0 ? [`overruled by ${pluralize(overruledBy.length, 'decision')}`] : []),
  ];
  return [ok ? `accepted ${at}` : out.paint('yellow', 'refused'), ...notes].join('; ');
}

function resourcesIn({ resources, resourceTemplates }: Status): string {
  return resourceTemplates > 0
    ? `${formatCount(resources)}, ${pluralize(resourceTemplates, 'template')}`
    : formatCount(resources);
}

async function statusOf(api: AdminApi, url: string): Promise<Status> {
  const [health, summary, config] = await Promise.all([api.health(), api.summary(), api.config()]);
  return {
    url,
    status: stateOf(health),
    ...summary,
    config,
    troubles: Object.entries(health.details)
      .filter(([, { status }]) => status !== 'up')
      .map(([name, part]) => ({
        what: name.replace(/^server:/, ''),
        state: textOrEmpty(part['state']) || part.status,
        reason: textOrEmpty(part['reason']) || textOrEmpty(part['problem']) || textOrEmpty(part['message']),
      })),
  };
}

function stateOf({ details }: Health): Status['status'] {
  const states = Object.values(details).map(({ status }) => status);
  if (states.includes('down')) return 'down';
  return states.includes('degraded') ? 'degraded' : 'ok';
}
