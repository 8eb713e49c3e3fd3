import { describe, expect, it } from '@jest/globals';
import { serve } from '../../test/kit/serve.js';
import { ProjectApi } from './project-api.js';

const ANSWERS: Readonly<Record<string, object>> = {
  '/admin/v1/servers': { servers: [{ id: 'files' }, { id: 'github' }] },
  '/admin/v1/projects': { projects: [{ id: 'logs', servers: ['files'] }] },
  '/admin/v1/tools?q=x&project=logs': { tools: [{ name: 'files__x' }] },
};

async function apiOf(project: string): Promise<ProjectApi> {
  const { url } = await serve((request, response) =>
    response.end(JSON.stringify(ANSWERS[request.url!] ?? {})),
  );
  return new ProjectApi({ url }, project);
}

describe('a gateway as a project sees it', () => {
  it('has the servers of the project and no other', async () => {
    expect(await (await apiOf('logs')).servers()).toEqual([{ id: 'files' }]);
  });

  it('lists what the project shows', async () => {
    expect(await (await apiOf('logs')).page('tools', { q: 'x' })).toEqual({ rows: [{ name: 'files__x' }] });
  });

  it('is no gateway where there is no such project', async () => {
    await expect((await apiOf('lgos')).servers()).rejects.toThrow('there is no project `lgos`');
  });
});
