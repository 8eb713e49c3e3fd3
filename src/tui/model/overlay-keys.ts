import { HELP_LINES } from './help.js';
import { helpRows } from './layout.js';
import type { Model, Overlay } from './model.js';
import { withSearch } from './model-changes.js';

const MAX_QUERY_LENGTH = 200;

type OverlayOf<K extends Overlay['kind']> = Extract<Overlay, { kind: K }>;

export function withOverlayKeyPressed(model: Model, overlay: Overlay, key: string): Model {
  switch (overlay.kind) {
    case 'help':
      return inHelp(model, overlay, key);
    case 'confirm':
      return inConfirm(model, overlay, key);
    case 'servers':
      return inServers(model, overlay, key);
    default:
      return inSearch(model, overlay, key);
  }
}

const closed = (model: Model): Model => ({ ...model, overlay: undefined });

function inHelp(model: Model, { scroll }: OverlayOf<'help'>, key: string): Model {
  const last = Math.max(0, HELP_LINES.length - helpRows(model));
  const by = { down: 1, j: 1, up: -1, k: -1, pagedown: 10, pageup: -10 }[key];
  if (by === undefined) return ['escape', 'q', '?', 'enter'].includes(key) ? closed(model) : model;
  return { ...model, overlay: { kind: 'help', scroll: Math.min(last, Math.max(0, scroll + by)) } };
}

/** Only `y` confirms. */
function inConfirm(model: Model, { action }: OverlayOf<'confirm'>, key: string): Model {
  if (key === 'y' || key === 'Y') return { ...closed(model), pendingAction: action, notice: undefined };
  return ['n', 'N', 'q', 'escape'].includes(key) ? closed(model) : model;
}

function inServers(model: Model, overlay: OverlayOf<'servers'>, key: string): Model {
  const { options, selected } = overlay;
  switch (key) {
    case 'down':
    case 'j':
      return { ...model, overlay: { ...overlay, selected: Math.min(options.length - 1, selected + 1) } };
    case 'up':
    case 'k':
      return { ...model, overlay: { ...overlay, selected: Math.max(0, selected - 1) } };
    case 'home':
    case 'g':
      return { ...model, overlay: { ...overlay, selected: 0 } };
    case 'end':
    case 'G':
      return { ...model, overlay: { ...overlay, selected: options.length - 1 } };
    case 'enter':
      return withSearch(closed(model), { server: options[selected] });
    case 'escape':
    case 'q':
    case 'f':
      return closed(model);
    default:
      return model;
  }
}

/** The search applies with every letter. */
function inSearch(model: Model, { before }: OverlayOf<'search'>, key: string): Model {
  const { query } = model.panels[model.panel];
  switch (key) {
    case 'enter':
    case 'down':
    case 'tab':
      return closed(model);
    case 'escape':
      return withSearch(closed(model), { query: before === query ? '' : before });
    case 'backspace':
      return query === ''
        ? closed(model)
        : withSearch(model, { query: Array.from(query).slice(0, -1).join('') });
    case 'ctrl-u':
      return withSearch(model, { query: '' });
    case 'ctrl-w':
      return withSearch(model, { query: query.replace(/\S+\s*$/, '') });
    default:
      return Array.from(key).length === 1 && query.length < MAX_QUERY_LENGTH
        ? withSearch(model, { query: query + key })
        : model;
  }
}
