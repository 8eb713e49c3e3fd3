import type { Argument, Command, Option } from 'commander';

interface CompletionCandidate {
  readonly value: string;
  readonly description: string;
}

/**
 * Finds the values that an argument or option of `command` can have. `precedingArguments` are the arguments before the
 * cursor.
 */
type ValueLookup = (
  argumentOrOption: string,
  command: Command,
  precedingArguments: readonly string[],
) => Promise<readonly string[]>;

/** Printed in place of candidates. The shell then completes file names itself. */
const COMPLETE_FILES = ':files';

/**
 * Matches a name without shell syntax. Only such names are offered, because names come from untrusted servers and are
 * inserted into a command line.
 */
const SHELL_SAFE = /^[\w.:/@%+,=-]+$/;

/** The candidates for the word at the cursor. `words` are the words after the name of the program, up to the cursor. */
export async function complete(
  program: Command,
  words: readonly string[],
  lookUp: ValueLookup,
): Promise<readonly string[]> {
  const position = parseWords(program, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const lookUpHere: PositionLookup = (name) => lookUp(name, position.command, position.precedingArguments);
  const candidates = position.option
    ? await valuesOf(position.option, position.option.attributeName(), lookUpHere)
    : await candidatesAt(position, current, lookUpHere);
  if (candidates === COMPLETE_FILES) return [COMPLETE_FILES];
  return candidates
    .filter(({ value }) => value.startsWith(current) && SHELL_SAFE.test(value))
    .map(({ value, description }) => (description === '' ? value : `${value}\t${description}`));
}

interface CursorPosition {
  readonly command: Command;
  /** The arguments of the command before the cursor. */
  readonly precedingArguments: readonly string[];
  /** The option whose value is at the cursor. Undefined if an argument, command or option name is at the cursor. */
  readonly option: Option | undefined;
}

function parseWords(program: Command, words: readonly string[]): CursorPosition {
  let command = program;
  const precedingArguments: string[] = [];
  let option: Option | undefined;
  for (const word of words) {
    if (option) option = undefined;
    else if (word.startsWith('-')) option = optionIn(command, word);
    else {
      const child: Command | undefined = precedingArguments.length === 0 ? childOf(command, word) : undefined;
      if (child) command = child;
      else precedingArguments.push(word);
    }
  }
  return { command, precedingArguments, option };
}

const childOf = (command: Command, word: string): Command | undefined =>
  command.commands.find((child) => child.name() === word || child.aliases().includes(word));

/** A command line without a command runs `serve`, so the options of `serve` are valid there too. */
const withDefaultCommand = (command: Command): Command =>
  command.parent ? command : (childOf(command, 'serve') ?? command);

/** The option with this name, if it takes a value. */
function optionIn(command: Command, word: string): Option | undefined {
  const option = [...command.options, ...withDefaultCommand(command).options].find(
    ({ short, long }) => word === short || word === long,
  );
  return option && (option.required || option.optional) ? option : undefined;
}

/** Finds the values of an argument or option at the cursor. */
type PositionLookup = (name: string) => Promise<readonly string[]>;

async function candidatesAt(
  { command, precedingArguments }: CursorPosition,
  current: string,
  lookUpHere: PositionLookup,
): Promise<CompletionCandidate[] | typeof COMPLETE_FILES> {
  if (current.startsWith('-')) return optionsOf(command);
  if (command.commands.length > 0 && precedingArguments.length === 0) return childrenOf(command);
  const last = command.registeredArguments.at(-1);
  const argument =
    command.registeredArguments[precedingArguments.length] ?? (last?.variadic ? last : undefined);
  return argument ? valuesOf(argument, argument.name(), lookUpHere) : [];
}

function optionsOf(command: Command): CompletionCandidate[] {
  const options = [command, withDefaultCommand(command)].flatMap((each) =>
    each
      .createHelp()
      .visibleOptions(each)
      .map(({ long, short, description }) => ({
        value: long ?? short ?? '',
        description,
      })),
  );
  return [...new Map(options.map((option) => [option.value, option])).values()];
}

const childrenOf = (command: Command): CompletionCandidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), description: child.description() }));

async function valuesOf(
  { argChoices }: Pick<Option | Argument, 'argChoices'>,
  name: string,
  lookUpHere: PositionLookup,
): Promise<CompletionCandidate[] | typeof COMPLETE_FILES> {
  if (argChoices) return argChoices.map((value) => ({ value, description: '' }));
  if (name === 'file' || name === 'config') return COMPLETE_FILES;
  return (await lookUpHere(name)).map((value) => ({ value, description: '' }));
}
