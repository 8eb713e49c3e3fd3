import { describe, expect, it } from '@jest/globals';
import { commandLine } from './command-line.js';
import { complete } from './completion.js';

const program = commandLine({ serve: () => Promise.resolve(), tui: () => Promise.resolve() });

const candidatesFor = async (words: readonly string[], known: readonly string[] = []): Promise<string[]> => {
  const found = await complete(program, words, (name) => Promise.resolve(name === 'server' ? known : []));
  return found.map((line) => line.split('\t')[0]!);
};

describe('complete', () => {
  it('offers commands and subcommands', async () => {
    expect(await candidatesFor([''])).toEqual(
      expect.arrayContaining(['serve', 'tui', 'status', 'servers', 'resources']),
    );
    expect(await candidatesFor([''])).not.toContain('__complete');
    expect(await candidatesFor(['resources', ''])).toEqual(['ls', 'read', 'search', 'help']);
    expect(await candidatesFor(['res'])).toEqual(['resources']);
  });

  it('offers options and their choices', async () => {
    expect(await candidatesFor(['servers', 'ls', '--o'])).toEqual(['--output']);
    expect(await candidatesFor(['servers', 'ls', '-o', ''])).toEqual(['table', 'json']);
    expect(await candidatesFor(['completion', ''])).toEqual(['bash', 'zsh', 'fish']);
  });

  it('offers server names for arguments and options', async () => {
    expect(await candidatesFor(['disable', ''], ['github', 'files'])).toEqual(['github', 'files']);
    expect(await candidatesFor(['servers', 'disable', 'g'], ['github', 'files'])).toEqual(['github']);
    expect(await candidatesFor(['tools', 'ls', '--server', ''], ['github'])).toEqual(['github']);
    expect(await candidatesFor(['disable', 'github', ''], ['github'])).toEqual([]);
  });

  it('passes the arguments before the cursor to the lookup', async () => {
    const lookups: unknown[] = [];
    const completeWords = async (...words: string[]) =>
      complete(program, words, (name, command, given) => {
        lookups.push([name, command.name(), given]);
        return Promise.resolve(['found']);
      });
    expect(await completeWords('tools', 'disable', 'files', '')).toEqual(['found']);
    expect(await completeWords('tools', 'enable', '-o', 'json', 'files', 'f')).toEqual(['found']);
    expect(await completeWords('subs', 'end', '')).toEqual(['found']);
    expect(lookups).toEqual([
      ['tool', 'disable', ['files']],
      ['tool', 'enable', ['files']],
      ['id', 'end', []],
    ]);
  });

  it('offers the options of serve without a command', async () => {
    expect(await candidatesFor(['--'])).toEqual(['--version', '--help', '--config']);
    expect(await candidatesFor(['--config', ''])).toEqual([':files']);
    expect(await candidatesFor(['-c', ''])).toEqual([':files']);
  });

  it('leaves file names to the shell', async () => {
    expect(await candidatesFor(['serve', '--config', ''])).toEqual([':files']);
    expect(await candidatesFor(['config', 'check', ''])).toEqual([':files']);
  });

  it('does not offer names with shell syntax', async () => {
    const names = ['$(reboot)', '`x`', 'a;b', 'a b', 'a\nb', "a'b", '{a,b}', '~', 'fine'];
    expect(await candidatesFor(['disable', ''], names)).toEqual(['fine']);
  });
});
