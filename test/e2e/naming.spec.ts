import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, textIn, type Answer } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';

const LONG = 'a_tool_whose_name_alone_is_already_as_long_as_providers_accept_x';

async function startScripted(server: string): Promise<ScriptedServer> {
  const scripted = await ScriptedServer.start();
  for (const tool of ['shared', `only_${server}`, 'hidden', LONG])
    scripted.tool(tool, (call) => text(`${String(call.params['name'])} of ${server}`));
  return scripted
    .prompt('greeting', () => ({ messages: [], description: server }))
    .on('completion/complete', () => ({ completion: { values: [server] } }));
}

const namesOf = async (session: RawSession, kind: 'tools' | 'prompts'): Promise<string[]> =>
  (await session.list(kind)).map(({ name }) => name);

const textOrError = (answer: Answer): unknown => textIn(answer) ?? answer.error;

const unknown = (name: string): object => ({ code: -32602, message: `Unknown tool: ${name}` });

describe('naming', () => {
  let alpha: ScriptedServer;
  let beta: ScriptedServer;

  beforeAll(async () => {
    [alpha, beta] = await Promise.all([startScripted('alpha'), startScripted('beta')]);
  });

  /** Beta is first in the config, so that the order of servers is not alphabetic. */
  async function start(naming: object, ofAlpha: object = {}): Promise<[Gateway, RawSession]> {
    const gateway = await startGateway({
      naming,
      mcpServers: {
        beta: { ...beta.http, tools: { disabled: ['hidden'] } },
        alpha: { ...alpha.http, tools: { disabled: ['hidden'] }, ...ofAlpha },
      },
    });
    await gateway.listed({ tools: ['alpha', 'beta'] });
    return [gateway, await RawSession.open(gateway.url)];
  }

  describe('always', () => {
    let session: RawSession;

    beforeAll(async () => {
      [, session] = await start({});
    });

    it('prefixes every tool and prompt with its server, in the order of the names', async () => {
      const tools = await namesOf(session, 'tools');
      expect(tools).toEqual(tools.toSorted());
      expect(tools).toEqual(
        expect.arrayContaining(['alpha__only_alpha', 'alpha__shared', 'beta__only_beta', 'beta__shared']),
      );
      await session.namesUntil('prompts', ['alpha__greeting', 'beta__greeting']);
    });

    it('marks every tool with its server and its own name, which is callable with the prefix', async () => {
      for (const { _meta } of await session.list('tools')) {
        const [server, own] = [_meta?.['io.gatehouse/server'], _meta?.['io.gatehouse/name']].map(String);
        expect(textOrError(await session.callTool(`${server}__${own}`))).toBe(`${own} of ${server}`);
      }
    });

    it('routes each public name to its server, under the own name', async () => {
      expect(textOrError(await session.callTool('alpha__shared'))).toBe('shared of alpha');
      expect(textOrError(await session.callTool('beta__shared'))).toBe('shared of beta');
    });

    it('accepts an own name that only one server has, and lists the public names for an ambiguous one', async () => {
      expect(textOrError(await session.callTool('only_beta'))).toBe('only_beta of beta');
      const several = 'shared; several servers have it, use one of: beta__shared, alpha__shared';
      expect(textOrError(await session.callTool('shared'))).toEqual(unknown(several));
    });

    it('routes prompts and completions by name as well', async () => {
      const prompt = await session.request('prompts/get', { name: 'beta__greeting' });
      expect(prompt.result).toMatchObject({ description: 'beta' });
      const ref = { type: 'ref/prompt', name: 'alpha__greeting' };
      const completion = await session.request('completion/complete', {
        ref,
        argument: { name: 'a', value: '' },
      });
      expect(completion.result).toEqual({ completion: { values: ['alpha'] } });
    });

    it('shortens a name that is too long for model providers deterministically, and routes it', async () => {
      const long = (await namesOf(session, 'tools')).filter((name) => name.includes('_tool_whose_'));
      expect(long).toHaveLength(2);
      for (const name of long) {
        expect(name.length).toBeLessThanOrEqual(64);
        expect(textOrError(await session.callTool(name))).toBe(
          `${LONG} of ${name.slice(0, name.indexOf('__'))}`,
        );
      }
      expect(long).toEqual([
        'alpha__a_tool_whose_name_alone_is_already_as_long_as_pr_063eb5c9',
        'beta__a_tool_whose_name_alone_is_already_as_long_as_pro_c237db3a',
      ]);
    });

    it.each(['alpha__hidden', 'hidden'])(
      'treats a disabled tool as if it did not exist (%s)',
      async (name) => {
        expect(await namesOf(session, 'tools')).not.toContain(name);
        expect(textOrError(await session.callTool(name))).toEqual(unknown(name));
      },
    );

    it.each(['gamma__shared', '__proto__', 'constructor', '', 'alpha__', '__shared'])(
      'refuses an unknown tool with its name, without a request to a server (%s)',
      async (name) => {
        const asked = alpha.countOf('tools/call') + beta.countOf('tools/call');
        expect(textOrError(await session.callTool(name))).toEqual(unknown(name));
        expect(alpha.countOf('tools/call') + beta.countOf('tools/call')).toBe(asked);
      },
    );

    it('refuses an unknown prompt with its name', async () => {
      const { error } = await session.request('prompts/get', { name: 'nope' });
      expect(error).toMatchObject({ code: -32602, message: 'Unknown prompt: nope' });
      const ref = { type: 'ref/prompt', name: 'nope' };
      const completion = await session.request('completion/complete', {
        ref,
        argument: { name: 'a', value: '' },
      });
      expect(completion.error).toMatchObject({ code: -32602, message: 'Unknown prompt: nope' });
    });
  });

  it('conflict: prefixes only names that two servers share', async () => {
    const [, session] = await start({ tools: 'conflict' });
    const names = await namesOf(session, 'tools');
    expect(names).toEqual(
      expect.arrayContaining(['alpha__shared', 'beta__shared', 'only_alpha', 'only_beta']),
    );
    expect(names).not.toContain('shared');
    expect(textOrError(await session.callTool('only_alpha'))).toBe('only_alpha of alpha');
    expect(textOrError(await session.callTool('alpha__only_alpha'))).toBe('only_alpha of alpha');
    expect(textOrError(await session.callTool('beta__shared'))).toBe('shared of beta');
  });

  it('never: lists own names, keeps the first by server order and logs the conflict', async () => {
    const [gateway, session] = await start({ tools: 'never' });
    const tools = await session.list('tools');
    expect(tools.map(({ name }) => name)).toEqual([LONG, 'only_alpha', 'only_beta', 'shared']);
    const shared = tools.find(({ name }) => name === 'shared');
    expect(shared).toMatchObject({ _meta: { 'io.gatehouse/server': 'beta' } });
    expect(textOrError(await session.callTool('shared'))).toBe('shared of beta');
    expect(textOrError(await session.callTool('alpha__shared'))).toBe('shared of alpha');
    await gateway.logged({ level: 'warn', server: 'alpha', name: 'shared' });
  });

  it('accepts another separator, and another style for one server', async () => {
    const [, session] = await start({ separator: '-' }, { naming: { tools: 'never' } });
    const names = await namesOf(session, 'tools');
    expect(names).toEqual(expect.arrayContaining(['beta-shared', 'shared', 'only_alpha', 'beta-only_beta']));
    expect(textOrError(await session.callTool('shared'))).toBe('shared of alpha');
    expect(textOrError(await session.callTool('alpha-shared'))).toBe('shared of alpha');
  });
});
