import type { Command } from 'commander';
import { describe, expect, it } from '@jest/globals';
import { commandLine } from './command-line.js';

const program = commandLine({ serve: () => Promise.resolve(), tui: () => Promise.resolve() });

/** The command and all its visible subcommands. */
function commandsIn(command: Command): Command[] {
  const children = command.createHelp().visibleCommands(command);
  return [command, ...children.filter((child) => child.name() !== 'help').flatMap(commandsIn)];
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The words after `gatehouse` in each example; of a pipe, those of its first command. */
const examplesOf = (command: Command): string[][] =>
  [...helpOf(command).matchAll(/^ {2}\$ gatehouse (.*?)(?: {2,}.*)?$/gm)].map(([, line]) =>
    line!.split(/ [|>] /)[0]!.split(' '),
  );

/** An example without a command runs serve. */
const isDefaultCommand = (words: readonly string[]): boolean => words[0]!.startsWith('-');

const commands = commandsIn(program).map((command) => [pathOf(command), command] as const);

describe('help of the command line', () => {
  it('covers all commands', () => {
    expect(commands.length).toBeGreaterThan(35);
  });

  it.each(commands)('of %s has an example of that command', (path, command) => {
    const found = examplesOf(command);
    expect(found).not.toEqual([]);
    const expected = path.split(' ').slice(1);
    for (const words of found.filter((each) => !isDefaultCommand(each)))
      expect(words.slice(0, expected.length)).toEqual(expected);
  });

  it.each(commands)('of %s uses only existing options in its examples', (_path, command) => {
    for (const words of examplesOf(command)) {
      const target = isDefaultCommand(words) ? program.commands[0]! : commandIn(program, words);
      const known = target.options.flatMap(({ short, long }) => [short, long]);
      for (const option of words.filter((word) => /^--?[a-z]/.test(word))) expect(known).toContain(option);
    }
  });

  it('lists all exit codes', () => {
    for (const code of [0, 1, 2, 3, 4, 130]) expect(helpOf(program)).toMatch(new RegExp(`\\b${code} \\w`));
  });
});

function commandIn(command: Command, [word, ...rest]: readonly string[]): Command {
  const child = command.commands.find((each) => each.name() === word);
  return child ? commandIn(child, rest) : command;
}
