import { withList, withServers } from './changes.js';
import { asked } from './list-state.js';
import { planOf, type Model, type PanelState } from './model.js';

/** Looks for something else in the panel: its lists begin anew. */
export function withSearch(model: Model, search: Partial<Pick<PanelState, 'query' | 'server'>>): Model {
  const plan = planOf(model.panel);
  const before = model.panels[model.panel];
  const after = { ...before, ...search };
  if (after.query === before.query && after.server === before.server) return model;
  const next = { ...model, panels: { ...model.panels, [model.panel]: after } };
  // These are here already.
  if (plan.main === 'servers') return withServers(withList(next, 'servers', asked), next.servers, true);
  const lists = [plan.main, ...(plan.second ? [plan.second.list] : [])];
  return lists.reduce((changed, id) => withList(changed, id, asked), next);
}
