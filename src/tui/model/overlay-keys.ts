import { HELP_LINES } from './help.js';
import { helpRows } from './layout.js';
import type { Model, Overlay } from './model.js';
import { withSearch } from './model-changes.js';

const MAX_QUERY_LENGTH = 200;

type OverlayOf<K extends Overlay['kind']> = Extract<Overlay, { kind: K }>;

export function withOverlayKeyPressed(model: Model, overlay: Overlay, key: string): Model {
  switch (overlay.kind) {
    case 'help':
      return withHelpKey(model, overlay, key);
    case 'confirm':
      return withConfirmKey(model, overlay, key);
    case 'server-filter':
      return withServerFilterKey(model, overlay, key);
    default:
      return withSearchKey(model, overlay, key);
  }
}

const withoutOverlay = (model: Model): Model => ({ ...model, overlay: undefined });

function withHelpKey(model: Model, { scroll }: OverlayOf<'help'>, key: string): Model {
  const last = Math.max(0, HELP_LINES.length - helpRows(model));
  const by = { down: 1, j: 1, up: -1, k: -1, pagedown: 10, pageup: -10 }[key];
  if (by === undefined) return ['escape', 'q', '?', 'enter'].includes(key) ? withoutOverlay(model) : model;
  return { ...model, overlay: { kind: 'help', scroll: Math.min(last, Math.max(0, scroll + by)) } };
}

/** Only `y` confirms. */
function withConfirmKey(model: Model, { action }: OverlayOf<'confirm'>, key: string): Model {
  if (key === 'y' || key === 'Y')
    return { ...withoutOverlay(model), runningAction: action, notice: undefined };
  return ['n', 'N', 'q', 'escape'].includes(key) ? withoutOverlay(model) : model;
}

function withServerFilterKey(model: Model, overlay: OverlayOf<'server-filter'>, key: string): Model {
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
      return withSearch(withoutOverlay(model), { server: options[selected] });
    case 'escape':
    case 'q':
    case 'f':
      return withoutOverlay(model);
    default:
      return model;
  }
}

/** Every key that changes the query applies the search at once. */
function withSearchKey(model: Model, { queryBefore }: OverlayOf<'search'>, key: string): Model {
  const { query } = model.panels[model.panel];
  switch (key) {
    case 'enter':
    case 'down':
    case 'tab':
      return withoutOverlay(model);
    case 'escape':
      // Restores the earlier query. If the query was not changed, removes it.
      return withSearch(withoutOverlay(model), { query: queryBefore === query ? '' : queryBefore });
    case 'backspace':
      return query === ''
        ? withoutOverlay(model)
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
