import type { Argument, Command, Option } from 'commander';

export interface CompletionCandidate {
  readonly value: string;
  readonly what: string;
}

/** What the gateway can be asked for, by the name of an argument or option; `given` are the arguments before it. */
export type NameLookup = (
  what: string,
  command: Command,
  given: readonly string[],
) => Promise<readonly string[]>;

/** Instead of candidates: the shell knows the files itself. */
export const COMPLETE_FILES = ':files';

/**
 * A candidate ends up on a command line that is about to be run. Names come from servers nobody here controls, so one
 * that means anything to a shell is not offered.
 */
const HARMLESS = /^[\w.:/@%+,=-]+$/;

/** What may follow. `words` are those after the program's name; the last is the one that is being written. */
export async function complete(
  program: Command,
  words: readonly string[],
  lookUp: NameLookup,
): Promise<readonly string[]> {
  const place = walk(program, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const ask = (what: string): Promise<readonly string[]> => lookUp(what, place.command, place.given);
  const found = place.waiting
    ? await valuesOf(place.waiting, place.waiting.attributeName(), ask)
    : await following(place, current, ask);
  if (found === COMPLETE_FILES) return [COMPLETE_FILES];
  return found
    .filter(({ value }) => value.startsWith(current) && HARMLESS.test(value))
    .map(({ value, what }) => (what === '' ? value : `${value}\t${what}`));
}

interface Place {
  readonly command: Command;
  /** The arguments so far. */
  readonly given: readonly string[];
  /** The option whose value is being written. */
  readonly waiting: Option | undefined;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  const given: string[] = [];
  let waiting: Option | undefined;
  for (const word of words) {
    if (waiting) waiting = undefined;
    else if (word.startsWith('-')) waiting = optionIn(command, word);
    else {
      const below: Command | undefined = given.length === 0 ? childOf(command, word) : undefined;
      if (below) command = below;
      else given.push(word);
    }
  }
  return { command, given, waiting };
}

const childOf = (command: Command, word: string): Command | undefined =>
  command.commands.find((child) => child.name() === word || child.aliases().includes(word));

/** Without any command it is this one that is run, with its options. */
const runByDefault = (command: Command): Command =>
  command.parent ? command : (childOf(command, 'serve') ?? command);

function optionIn(command: Command, word: string): Option | undefined {
  const option = [...command.options, ...runByDefault(command).options].find(
    ({ short, long }) => word === short || word === long,
  );
  return option && (option.required || option.optional) ? option : undefined;
}

type Ask = (what: string) => Promise<readonly string[]>;

async function following(
  { command, given }: Place,
  current: string,
  ask: Ask,
): Promise<CompletionCandidate[] | typeof COMPLETE_FILES> {
  if (current.startsWith('-')) return optionsOf(command);
  if (command.commands.length > 0 && given.length === 0) return childrenOf(command);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[given.length] ?? (last?.variadic ? last : undefined);
  return argument ? valuesOf(argument, argument.name(), ask) : [];
}

function optionsOf(command: Command): CompletionCandidate[] {
  const options = [command, runByDefault(command)].flatMap((each) =>
    each
      .createHelp()
      .visibleOptions(each)
      .map(({ long, short, description }) => ({
        value: long ?? short ?? '',
        what: description,
      })),
  );
  return [...new Map(options.map((option) => [option.value, option])).values()];
}

const childrenOf = (command: Command): CompletionCandidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), what: child.description() }));

async function valuesOf(
  { argChoices }: Pick<Option | Argument, 'argChoices'>,
  name: string,
  ask: Ask,
): Promise<CompletionCandidate[] | typeof COMPLETE_FILES> {
  if (argChoices) return argChoices.map((value) => ({ value, what: '' }));
  if (name === 'file' || name === 'config') return COMPLETE_FILES;
  return (await ask(name)).map((value) => ({ value, what: '' }));
}
