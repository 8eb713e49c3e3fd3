import type { Argument, Command, Option } from 'commander';

export interface Candidate {
  readonly value: string;
  readonly what: string;
}

/** What the gateway can be asked for, by the name of an argument or option. */
export type Lookup = (what: string, command: Command) => Promise<readonly string[]>;

/** Instead of candidates: the shell knows the files itself. */
export const FILES = ':files';

/**
 * A candidate ends up on a command line that is about to be run. Names come from servers nobody here controls, so one
 * that means anything to a shell is not offered.
 */
const HARMLESS = /^[\w.:/@%+,=-]+$/;

/** What may follow. `words` are those after the program's name; the last is the one that is being written. */
export async function complete(
  program: Command,
  words: readonly string[],
  lookUp: Lookup,
): Promise<readonly string[]> {
  const { command, position, waiting } = walk(program, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const found = waiting
    ? await valuesOf(waiting, waiting.attributeName(), command, lookUp)
    : await following(command, position, current, lookUp);
  if (found === FILES) return [FILES];
  return found
    .filter(({ value }) => value.startsWith(current) && HARMLESS.test(value))
    .map(({ value, what }) => (what === '' ? value : `${value}\t${what}`));
}

interface Place {
  readonly command: Command;
  /** How many arguments were given. */
  readonly position: number;
  /** The option whose value is being written. */
  readonly waiting: Option | undefined;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let position = 0;
  let waiting: Option | undefined;
  for (const word of words) {
    if (waiting) waiting = undefined;
    else if (word.startsWith('-')) waiting = optionIn(command, word);
    else {
      const below: Command | undefined = position === 0 ? childOf(command, word) : undefined;
      if (below) command = below;
      else position += 1;
    }
  }
  return { command, position, waiting };
}

const childOf = (command: Command, word: string): Command | undefined =>
  command.commands.find((child) => child.name() === word || child.aliases().includes(word));

function optionIn(command: Command, word: string): Option | undefined {
  const option = command.options.find(({ short, long }) => word === short || word === long);
  return option && (option.required || option.optional) ? option : undefined;
}

async function following(
  command: Command,
  position: number,
  current: string,
  lookUp: Lookup,
): Promise<Candidate[] | typeof FILES> {
  if (current.startsWith('-')) return optionsOf(command);
  if (command.commands.length > 0 && position === 0) return childrenOf(command);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[position] ?? (last?.variadic ? last : undefined);
  return argument ? valuesOf(argument, argument.name(), command, lookUp) : [];
}

const optionsOf = (command: Command): Candidate[] =>
  [...command.createHelp().visibleOptions(command)].map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    what: description,
  }));

const childrenOf = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), what: child.description() }));

async function valuesOf(
  { argChoices }: Pick<Option | Argument, 'argChoices'>,
  name: string,
  command: Command,
  lookUp: Lookup,
): Promise<Candidate[] | typeof FILES> {
  if (argChoices) return argChoices.map((value) => ({ value, what: '' }));
  if (name === 'file' || name === 'config') return FILES;
  return (await lookUp(name, command)).map((value) => ({ value, what: '' }));
}
