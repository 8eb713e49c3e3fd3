import { pluralize } from '../../client/format.js';
import { printable } from '../../client/printable.js';
import type { ListRow } from './list-row.js';
import { selectedRow, type PendingAction, type Model } from './model.js';
import { withSearch } from './search.js';

/** What can be done to the row that is selected. */
export interface RowCommand {
  readonly key: string;
  /** For the line of keys. */
  readonly label: string;
  readonly run: (model: Model) => Model;
}

const confirm =
  (action: PendingAction, question: string, effect: string) =>
  (model: Model): Model => ({ ...model, overlay: { kind: 'confirm', action, question, effect } });

/** All that apply right now, in the order in which they are shown. */
export function availableCommands(model: Model): readonly RowCommand[] {
  const entry = selectedRow(model);
  return [...(entry ? commandsOn(entry, model) : []), ...filterCommand(model)];
}

export const commandOfKey = (model: Model, key: string): RowCommand | undefined =>
  availableCommands(model).find((command) => command.key === key);

function commandsOn(entry: ListRow, model: Model): readonly RowCommand[] {
  switch (entry.kind) {
    case 'server':
      return serverCommands(entry.item, model);
    case 'tool':
      return [toolCommand('disable', entry.item.server, entry.item.own)];
    case 'disabled-tool':
      return [toolCommand('enable', entry.item.server, entry.item.own)];
    case 'resource':
      return [
        {
          key: 'p',
          label: model.details.preview ? 'details' : 'preview',
          run: (current) => previewed(current, entry.item.uri),
        },
      ];
    case 'subscription': {
      const { id, uri, client } = entry.item;
      const run = confirm(
        { kind: 'end-subscription', id, uri },
        `End the subscription to ${printable(uri)}?`,
        `Client ${printable(client)} hears no more of it, and is not told.`,
      );
      return [{ key: 'x', label: 'end', run }];
    }
    default:
      return [];
  }
}

type Server = Extract<ListRow, { kind: 'server' }>['item'];

function serverCommands({ id, enabled, counts }: Server, model: Model): readonly RowCommand[] {
  const name = printable(id);
  const on = (action: 'enable' | 'disable' | 'reconnect'): PendingAction => ({
    kind: 'server',
    action,
    server: id,
  });
  const see = { key: 's', label: 'resources', run: (current: Model) => resourcesOf(current, id) };
  if (!enabled)
    return [
      {
        key: 'e',
        label: 'enable',
        run: confirm(on('enable'), `Enable ${name}?`, 'It is started, and what it offers is listed.'),
      },
    ];
  const offered = [
    [counts.tools, 'tool'] as const,
    [counts.prompts, 'prompt'] as const,
    [counts.resources, 'resource'] as const,
    [counts.templates, 'template'] as const,
  ]
    .filter(([number]) => number > 0)
    .map(([number, thing]) => pluralize(number, thing))
    .join(', ');
  return [
    {
      key: 'd',
      label: 'disable',
      run: confirm(
        on('disable'),
        `Disable ${name}?`,
        `What it offers${offered === '' ? '' : ` (${offered})`} leaves every list. It stays off after a restart.`,
      ),
    },
    {
      key: 'r',
      label: 'reconnect',
      run: confirm(on('reconnect'), `Reconnect ${name}?`, 'Calls that run on it now will fail.'),
    },
    ...(model.panel === 'servers' ? [see] : []),
  ];
}

function toolCommand(action: 'enable' | 'disable', server: string, tool: string): RowCommand {
  const question = action === 'enable' ? 'Switch on' : 'Switch off';
  const effect =
    action === 'enable'
      ? 'Clients see and call it again.'
      : 'It is neither listed nor callable for anybody. It stays off after a restart.';
  return {
    key: action === 'enable' ? 'e' : 'd',
    label: action === 'enable' ? 'switch on' : 'switch off',
    run: confirm(
      { kind: 'tool', action, server, tool },
      `${question} ${printable(tool)} of ${printable(server)}?`,
      effect,
    ),
  };
}

function previewed(model: Model, uri: string): Model {
  const { details } = model;
  const preview = details.preview ? undefined : { uri, lines: undefined, problem: undefined };
  return { ...model, details: { ...details, isOpen: true, scroll: 0, preview } };
}

/** From a server to what it offers, all of it: what was looked for there before is not meant. */
const resourcesOf = (model: Model, server: string): Model =>
  withSearch(
    { ...model, panel: 'resources', details: { ...model.details, hasFocus: false } },
    { server, query: '' },
  );

function filterCommand({ panel, panels, servers }: Model): readonly RowCommand[] {
  if (panel === 'servers') return [];
  return [
    {
      key: 'f',
      label: 'server',
      run: (model) => {
        const options = [undefined, ...servers.map(({ id }) => id)];
        const selected = Math.max(0, options.indexOf(panels[panel].server));
        return { ...model, overlay: { kind: 'servers', options, selected } };
      },
    },
  ];
}
