import { AdminApi } from './admin-api.js';
import type { AdminLists, ListName, PageQuery, RowPage, ServerSummary } from './admin-types.js';
import { GatewayProblem } from './gateway-problem.js';
import type { GatewayTarget } from './gateway-target.js';

/** The admin API, limited to one project: to its servers, and to its rows in every list except the list of sessions. */
export class ProjectApi extends AdminApi {
  constructor(
    target: GatewayTarget,
    private readonly project: string,
  ) {
    super(target);
  }

  override async servers(signal?: AbortSignal): Promise<readonly ServerSummary[]> {
    const [servers, projects] = await Promise.all([super.servers(signal), this.projects(signal)]);
    const project = projects.find(({ id }) => id === this.project);
    if (!project) throw new GatewayProblem('not-found', `there is no project \`${this.project}\``);
    return servers.filter(({ id }) => project.servers.includes(id));
  }

  /** Sessions are not filtered by project, because a session without a project may use the servers of the project too. */
  override page<L extends ListName>(
    list: L,
    query: PageQuery,
    signal?: AbortSignal,
  ): Promise<RowPage<AdminLists[L]>> {
    const project = list === 'sessions' ? undefined : this.project;
    return super.page(list, { ...query, project }, signal);
  }
}
