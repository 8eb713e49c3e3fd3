import type { Command } from 'commander';

/** Each as what follows `gatehouse`, and what it does. They stand below the options. */
export function withExamples(command: Command, lines: readonly (readonly [string, string])[]): Command {
  const widest = Math.max(...lines.map(([line]) => line.length));
  const shown = lines.map(([line, what]) => `  $ gatehouse ${line.padEnd(widest)}  ${what}`.trimEnd());
  return command.addHelpText('after', `\nExamples:\n${shown.join('\n')}`);
}
