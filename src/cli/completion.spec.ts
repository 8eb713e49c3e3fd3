import { describe, expect, it } from '@jest/globals';
import { commandLine } from './command-line.js';
import { complete } from './completion.js';

const program = commandLine({ serve: () => Promise.resolve(), tui: () => Promise.resolve() });

const offered = async (words: readonly string[], known: readonly string[] = []): Promise<string[]> => {
  const found = await complete(program, words, (name) => Promise.resolve(name === 'server' ? known : []));
  return found.map((line) => line.split('\t')[0]!);
};

describe('complete', () => {
  it('offers commands and subcommands', async () => {
    expect(await offered([''])).toEqual(
      expect.arrayContaining(['serve', 'tui', 'status', 'servers', 'resources']),
    );
    expect(await offered([''])).not.toContain('__complete');
    expect(await offered(['resources', ''])).toEqual(['ls', 'read', 'search', 'help']);
    expect(await offered(['res'])).toEqual(['resources']);
  });

  it('offers options and their choices', async () => {
    expect(await offered(['servers', 'ls', '--o'])).toEqual(['--output']);
    expect(await offered(['servers', 'ls', '-o', ''])).toEqual(['table', 'json']);
    expect(await offered(['completion', ''])).toEqual(['bash', 'zsh', 'fish']);
  });

  it('offers server names for arguments and options', async () => {
    expect(await offered(['disable', ''], ['github', 'files'])).toEqual(['github', 'files']);
    expect(await offered(['servers', 'disable', 'g'], ['github', 'files'])).toEqual(['github']);
    expect(await offered(['tools', 'ls', '--server', ''], ['github'])).toEqual(['github']);
    expect(await offered(['disable', 'github', ''], ['github'])).toEqual([]);
  });

  it('passes the arguments before the cursor to the lookup', async () => {
    const lookups: unknown[] = [];
    const ask = async (...words: string[]) =>
      complete(program, words, (name, command, given) => {
        lookups.push([name, command.name(), given]);
        return Promise.resolve(['found']);
      });
    expect(await ask('tools', 'disable', 'files', '')).toEqual(['found']);
    expect(await ask('tools', 'enable', '-o', 'json', 'files', 'f')).toEqual(['found']);
    expect(await ask('subs', 'end', '')).toEqual(['found']);
    expect(lookups).toEqual([
      ['tool', 'disable', ['files']],
      ['tool', 'enable', ['files']],
      ['id', 'end', []],
    ]);
  });

  it('offers the options of serve without a command', async () => {
    expect(await offered(['--'])).toEqual(['--version', '--help', '--config']);
    expect(await offered(['--config', ''])).toEqual([':files']);
    expect(await offered(['-c', ''])).toEqual([':files']);
  });

  it('leaves file names to the shell', async () => {
    expect(await offered(['serve', '--config', ''])).toEqual([':files']);
    expect(await offered(['config', 'check', ''])).toEqual([':files']);
  });

  it('does not offer names with shell syntax', async () => {
    const names = ['$(reboot)', '`x`', 'a;b', 'a b', 'a\nb', "a'b", '{a,b}', '~', 'fine'];
    expect(await offered(['disable', ''], names)).toEqual(['fine']);
  });
});
