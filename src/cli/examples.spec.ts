import type { Command } from 'commander';
import { describe, expect, it } from '@jest/globals';
import { commandLine } from './command-line.js';

const program = commandLine({ serve: () => Promise.resolve(), tui: () => Promise.resolve() });

/** The command and all below it that people see. */
function commandsIn(command: Command): Command[] {
  const below = command.createHelp().visibleCommands(command);
  return [command, ...below.filter((child) => child.name() !== 'help').flatMap(commandsIn)];
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The words after `gatehouse` in each example; of several commands in a row, those of the first. */
const examplesOf = (command: Command): string[][] =>
  [...helpOf(command).matchAll(/^ {2}\$ gatehouse (.*?)(?: {2,}.*)?$/gm)].map(([, line]) =>
    line!.split(/ [|>] /)[0]!.split(' '),
  );

/** Without a command: it is serve, which need not be said. */
const isBare = (words: readonly string[]): boolean => words[0]!.startsWith('-');

const commands = commandsIn(program).map((command) => [pathOf(command), command] as const);

describe('the help', () => {
  it('is about every command there is', () => {
    expect(commands.length).toBeGreaterThan(35);
  });

  it.each(commands)('of %s shows an example', (path, command) => {
    const found = examplesOf(command);
    expect(found).not.toEqual([]);
    const own = path.split(' ').slice(1);
    for (const words of found.filter((each) => !isBare(each)))
      expect(words.slice(0, own.length)).toEqual(own);
  });

  it.each(commands)('of %s shows only options that there are', (_path, command) => {
    for (const words of examplesOf(command)) {
      const meant = isBare(words) ? program.commands[0]! : commandIn(program, words);
      const known = meant.options.flatMap(({ short, long }) => [short, long]);
      for (const option of words.filter((word) => /^--?[a-z]/.test(word))) expect(known).toContain(option);
    }
  });

  it('names every exit code', () => {
    for (const code of [0, 1, 2, 3, 4, 130]) expect(helpOf(program)).toMatch(new RegExp(`\\b${code} \\w`));
  });
});

function commandIn(command: Command, [word, ...rest]: readonly string[]): Command {
  const below = command.commands.find((child) => child.name() === word);
  return below ? commandIn(below, rest) : command;
}
