import { styleText } from 'node:util';
import { printable, printableLines } from './client/printable.js';
import type { LogLevel } from './config/log-settings.js';

const STYLES = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;
/** Members that are written first and without their names. */
const LEADING_MEMBERS = ['time', 'level', 'context', 'message'];
/** Members that are written below the line if they are lists or have several lines. */
const MULTILINE_MEMBERS = ['stack', 'cause', 'stderr', 'problem'];

/** A log entry as a line for people: time, level, context, message, and the other members as `name=value`. */
export function textLogLine(entry: Readonly<Record<string, unknown>>, hasColours: boolean): string {
  const { time, level, context, message } = entry as Record<string, string>;
  const label = (level ?? '').toUpperCase().padEnd(5);
  const members = Object.entries(entry).filter(([name]) => !LEADING_MEMBERS.includes(name));
  const timeOfDay = (time ?? '').slice('YYYY-MM-DDT'.length, -'Z'.length);
  const parts = [
    timeOfDay,
    hasColours ? styleText(STYLES[level as LogLevel] ?? 'reset', label, { validateStream: false }) : label,
    ...(context === undefined ? [] : [`${printable(context)}:`]),
    printable(message ?? ''),
    ...members.filter((member) => !isMultiline(member)).map(([name, value]) => `${name}=${valueText(value)}`),
  ];
  const linesBelow = members.filter(isMultiline).flatMap(([, value]) => linesOf(value));
  return [parts.join(' '), ...linesBelow.map((line) => `    ${line}`)].join('\n');
}

const isMultiline = ([name, value]: readonly [string, unknown]): boolean =>
  MULTILINE_MEMBERS.includes(name) && (Array.isArray(value) || String(value).includes('\n'));

/** The value as a word, as words with commas between them, or as JSON. */
function valueText(value: unknown): string {
  const words = Array.isArray(value) && value.length > 0 ? (value as unknown[]) : [value];
  return printable(words.every(isWord) ? words.join(',') : JSON.stringify(value));
}

const isWord = (value: unknown): boolean => typeof value === 'string' && /^[^\s"=,]+$/.test(value);

const linesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value.map(String) : [String(value)]).flatMap(printableLines);
