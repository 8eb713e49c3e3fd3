import { pluralize } from '../../client/format.js';
import { printable } from '../../client/printable.js';
import { programOf, subscriberName } from './client-columns.js';
import type { ListRow } from './list-row.js';
import { selectedRow, type TuiAction, type Model } from './model.js';
import { withSearch } from './model-changes.js';

interface RowCommand {
  readonly key: string;
  /** Name of the command in the key line. */
  readonly label: string;
  readonly run: (model: Model) => Model;
}

/** Returns the `run` of a command that asks the user to confirm an action. */
const confirm =
  (action: TuiAction, question: string, effect: string) =>
  (model: Model): Model => ({ ...model, overlay: { kind: 'confirm', action, question, effect } });

/** The commands that apply to the selected row and the panel, in the order of the key line. */
export function availableCommands(model: Model): readonly RowCommand[] {
  const row = selectedRow(model);
  return [...(row ? commandsOn(row, model) : []), ...filterCommand(model)];
}

export const commandOfKey = (model: Model, key: string): RowCommand | undefined =>
  availableCommands(model).find((command) => command.key === key);

function commandsOn(row: ListRow, model: Model): readonly RowCommand[] {
  switch (row.kind) {
    case 'server':
      return serverCommands(row.item);
    case 'tool':
      return [toolCommand('disable', row.item.server, row.item.ownName)];
    case 'disabled-tool':
      return [toolCommand('enable', row.item.server, row.item.ownName)];
    case 'resource':
      return [
        {
          key: 'p',
          label: model.details.preview ? 'details' : 'preview',
          run: (current) => withPreviewToggled(current, row.item.uri),
        },
      ];
    case 'subscription': {
      const { id, uri } = row.item;
      const client = printable(subscriberName(row, model));
      const run = confirm(
        { kind: 'end-subscription', id, uri },
        `End the subscription to ${printable(uri)}?`,
        `Client ${client} gets no more updates of this resource and is not notified.`,
      );
      return [{ key: 'x', label: 'end', run }];
    }
    case 'client': {
      const { id } = row.item;
      const client = programOf(row.item);
      const run = confirm(
        { kind: 'end-session', id, client },
        `End the session of ${printable(client)}?`,
        'Its requests and subscriptions end. The client has to initialize a new session.',
      );
      return [{ key: 'x', label: 'end', run }];
    }
    default:
      return [];
  }
}

type Server = Extract<ListRow, { kind: 'server' }>['item'];

function serverCommands({ id, enabled, counts }: Server): readonly RowCommand[] {
  const name = printable(id);
  const actionOf = (verb: 'enable' | 'disable' | 'reconnect'): TuiAction => ({
    kind: 'server',
    verb,
    server: id,
  });
  const showResources = {
    key: 's',
    label: 'resources',
    run: (current: Model) => withResourcesOf(current, id),
  };
  if (!enabled)
    return [
      {
        key: 'e',
        label: 'enable',
        run: confirm(
          actionOf('enable'),
          `Enable ${name}?`,
          'The gateway connects to it and lists what it offers.',
        ),
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
        actionOf('disable'),
        `Disable ${name}?`,
        `Removes what it offers${offered === '' ? '' : ` (${offered})`} from all lists. It stays disabled after a restart.`,
      ),
    },
    {
      key: 'r',
      label: 'reconnect',
      run: confirm(actionOf('reconnect'), `Reconnect ${name}?`, 'Running calls to this server will fail.'),
    },
    showResources,
  ];
}

function toolCommand(verb: 'enable' | 'disable', server: string, tool: string): RowCommand {
  const capitalizedVerb = verb === 'enable' ? 'Enable' : 'Disable';
  const effect =
    verb === 'enable'
      ? 'Clients can list and call it again.'
      : 'Clients can neither list nor call it. It stays disabled after a restart.';
  return {
    key: verb === 'enable' ? 'e' : 'd',
    label: verb,
    run: confirm(
      { kind: 'tool', verb, server, tool },
      `${capitalizedVerb} ${printable(tool)} of ${printable(server)}?`,
      effect,
    ),
  };
}

function withPreviewToggled(model: Model, uri: string): Model {
  const { details } = model;
  const preview = details.preview ? undefined : { uri, lines: undefined, problem: undefined };
  return { ...model, details: { ...details, isOpen: true, scroll: 0, preview } };
}

/** Shows all resources of a server. The panel of resources loses its previous search. */
const withResourcesOf = (model: Model, server: string): Model =>
  withSearch(
    { ...model, panel: 'resources', details: { ...model.details, hasFocus: false } },
    { server, query: '' },
  );

function filterCommand({ panel, panels, servers }: Model): readonly RowCommand[] {
  if (panel === 'servers' || panel === 'clients') return [];
  return [
    {
      key: 'f',
      label: 'filter',
      run: (model) => {
        const options = [undefined, ...servers.map(({ id }) => id)];
        const selected = Math.max(0, options.indexOf(panels[panel].server));
        return { ...model, overlay: { kind: 'server-filter', options, selected } };
      },
    },
  ];
}
