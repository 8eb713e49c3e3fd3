import { withList, withServers } from './model-changes.js';
import { restarted } from './list-state.js';
import { panelDefinition, type Model, type PanelState } from './model.js';

/** Looks for something else in the panel: its lists begin anew. */
export function withSearch(model: Model, search: Partial<Pick<PanelState, 'query' | 'server'>>): Model {
  const plan = panelDefinition(model.panel);
  const before = model.panels[model.panel];
  const after = { ...before, ...search };
  if (after.query === before.query && after.server === before.server) return model;
  const next = { ...model, panels: { ...model.panels, [model.panel]: after } };
  // These are here already.
  if (plan.main === 'servers') return withServers(withList(next, 'servers', restarted), next.servers, true);
  const lists = [plan.main, ...(plan.second ? [plan.second.list] : [])];
  return lists.reduce((changed, id) => withList(changed, id, restarted), next);
}
