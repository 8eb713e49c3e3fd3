import { withList, withListsStale, withNotice, withSearch } from './model-changes.js';
import { commandOfKey } from './row-commands.js';
import { detailLines } from './details.js';
import { computeLayout } from './layout.js';
import { withSelectionMoved, withSelectionAtEnd } from './list-state.js';
import { CLOSED_DETAILS, currentList, PANELS, panelDefinition, type Model } from './model.js';
import { knownLength } from './paged-list.js';
import { withOverlayKeyPressed } from './overlay-keys.js';

/** The number of rows by which each key moves. `page` is the number of rows on a page. */
const JUMPS: Readonly<Record<string, (page: number) => number>> = {
  down: () => 1,
  j: () => 1,
  up: () => -1,
  k: () => -1,
  pagedown: (page) => page,
  'ctrl-f': (page) => page,
  pageup: (page) => -page,
  'ctrl-b': (page) => -page,
  'ctrl-d': (page) => Math.ceil(page / 2),
  'ctrl-u': (page) => -Math.ceil(page / 2),
  home: () => -Infinity,
  g: () => -Infinity,
  end: () => Infinity,
  G: () => Infinity,
};

/** The model after a key. If an overlay is open, only the overlay handles the key. */
export function withKeyPressed(model: Model, key: string): Model {
  if (key === 'ctrl-c') return { ...model, isClosing: true };
  if (model.overlay) return withOverlayKeyPressed(model, model.overlay, key);
  return withGlobalKey(model, key) ?? withPanelKey(model, key);
}

/** Handles a key that works in every panel. Undefined for other keys. */
function withGlobalKey(model: Model, key: string): Model | undefined {
  switch (key) {
    case 'q':
      return { ...model, isClosing: true };
    case '?':
      return { ...model, overlay: { kind: 'help', scroll: 0 } };
    case 'tab':
      return withPanelCycled(model, 1);
    case 'backtab':
      return withPanelCycled(model, -1);
    case 'R':
    case 'ctrl-l':
      return withNotice(
        withListsStale(model, Object.keys(model.lists) as (keyof Model['lists'])[]),
        'reloading',
        'plain',
      );
    default: {
      const panel = PANELS[Number(key) - 1];
      return panel && { ...model, panel: panel.id, details: { ...model.details, hasFocus: false } };
    }
  }
}

function withPanelCycled(model: Model, by: 1 | -1): Model {
  const index = PANELS.findIndex(({ id }) => id === model.panel);
  const panel = PANELS[(index + by + PANELS.length) % PANELS.length]!;
  return { ...model, panel: panel.id, details: { ...model.details, hasFocus: false } };
}

function withPanelKey(model: Model, key: string): Model {
  const jump = JUMPS[key];
  if (jump) return model.details.hasFocus ? withDetailsJump(model, jump) : withListJump(model, jump);
  switch (key) {
    case 'enter':
      return {
        ...model,
        details: model.details.isOpen ? CLOSED_DETAILS : { ...CLOSED_DETAILS, isOpen: true },
      };
    case 'right':
    case 'l':
      return { ...model, details: { ...model.details, isOpen: true, hasFocus: true } };
    case 'left':
    case 'h':
      return { ...model, details: { ...model.details, hasFocus: false } };
    case 'escape':
      return withStepBack(model);
    case '/':
      return { ...model, overlay: { kind: 'search', queryBefore: model.panels[model.panel].query } };
    case 't':
      return withSectionToggled(model);
    default:
      return commandOfKey(model, key)?.run(model) ?? model;
  }
}

function withListJump(model: Model, jump: (page: number) => number): Model {
  const id = currentList(model);
  const { mainRows, secondRows } = computeLayout(model);
  const by = jump(id === panelDefinition(model.panel).main ? mainRows : secondRows);
  return withList(model, id, (list) =>
    by === Infinity ? withSelectionAtEnd(list) : withSelectionMoved(list, by),
  );
}

function withDetailsJump(model: Model, jump: (page: number) => number): Model {
  const { detailRows } = computeLayout(model);
  const last = Math.max(0, detailLines(model).length - detailRows);
  const scroll = Math.min(last, Math.max(0, model.details.scroll + jump(detailRows)));
  return { ...model, details: { ...model.details, scroll } };
}

/** Undoes the first of these that applies: focus on the details, preview, open details, search, filter. */
function withStepBack(model: Model): Model {
  const { details, panel } = model;
  const { query, server } = model.panels[panel];
  if (details.hasFocus) return { ...model, details: { ...details, hasFocus: false } };
  if (details.preview) return { ...model, details: { ...details, preview: undefined, scroll: 0 } };
  if (details.isOpen) return { ...model, details: CLOSED_DETAILS };
  if (query !== '') return withSearch(model, { query: '' });
  return server === undefined ? model : withSearch(model, { server: undefined });
}

function withSectionToggled(model: Model): Model {
  const { second } = panelDefinition(model.panel);
  const state = model.panels[model.panel];
  const isEmpty = second === undefined || knownLength(model.lists[second.list].paged) === 0;
  const section = state.section === 'main' && !isEmpty ? 'second' : 'main';
  return { ...model, panels: { ...model.panels, [model.panel]: { ...state, section } } };
}
