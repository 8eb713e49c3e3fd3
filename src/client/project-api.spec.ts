import { describe, expect, it } from '@jest/globals';
import { serve } from '../../test/kit/serve.js';
import { ProjectApi } from './project-api.js';

const RESPONSES: Readonly<Record<string, object>> = {
  '/admin/v1/servers': { servers: [{ id: 'files' }, { id: 'github' }] },
  '/admin/v1/projects': { projects: [{ id: 'logs', servers: ['files'] }] },
  '/admin/v1/tools?q=x&project=logs': { tools: [{ name: 'files__x' }] },
  '/admin/v1/sessions': { sessions: [{ id: 's' }], total: 1 },
};

async function apiOf(project: string): Promise<ProjectApi> {
  const { url } = await serve((request, response) =>
    response.end(JSON.stringify(RESPONSES[request.url!] ?? {})),
  );
  return new ProjectApi({ url }, project);
}

describe('ProjectApi', () => {
  it('returns only the servers of the project', async () => {
    expect(await (await apiOf('logs')).servers()).toEqual([{ id: 'files' }]);
  });

  it('limits lists to the project', async () => {
    expect(await (await apiOf('logs')).page('tools', { q: 'x' })).toEqual({ rows: [{ name: 'files__x' }] });
  });

  it('lists the sessions of all projects', async () => {
    expect((await (await apiOf('logs')).page('sessions', {})).rows).toEqual([{ id: 's' }]);
  });

  it('refuses an unknown project', async () => {
    await expect((await apiOf('lgos')).servers()).rejects.toThrow('there is no project `lgos`');
  });
});
