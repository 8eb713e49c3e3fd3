import { isSecretName, looksLikeKey } from './secret-value.js';

/** The part of a text from `start` to `end`. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** An option whose value is the next argument. */
const OPTION = /^--?([A-Za-z][\w.-]*)$/;
/** A whole argument with name and value. */
const ASSIGNMENT = /^-{0,2}([A-Za-z_][\w.-]*)=/;
/** A name and all that precedes its value, as in `name=value`, `name: Bearer value` or `"name":"value"`. */
const NAME_OF_VALUE = /(?<![\w.-])([A-Za-z_][\w.-]*)["']?(?:=|:\s?)["']?((?:Bearer|Basic|Token)\s+)?/gi;
const END_OF_VALUE = /[\s"'&,;}]|$/;
/** Captures the password. */
const URL_PASSWORD = /\/\/[^\s:/?#@]*:([^\s/]+)@/g;
const JWT = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g;
const BASE64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,}={1,2}(?![A-Za-z0-9=])/g;
/** Matches what may be a key: see `looksLikeKey`. */
const TOKEN = /[A-Za-z0-9_-]{16,}/g;

/** The secret parts of each argument of a command, in order and without overlaps. */
function secretPartsOfArgs(args: readonly string[]): Part[][] {
  return args.map((arg, index) => {
    const option = OPTION.exec(args[index - 1] ?? '')?.[1];
    const isSecretOption = option !== undefined && isSecretName(option);
    const isSecret = isSecretOption && !arg.startsWith('-') && arg !== '';
    return isSecret ? [{ start: 0, end: arg.length }] : secretPartsOf(arg);
  });
}

/** The parts of one argument or URL that are secrets: passwords, values with a secret name, and what looks like a key. */
export function secretPartsOf(text: string): Part[] {
  const assignment = ASSIGNMENT.exec(text);
  if (assignment && isSecretName(assignment[1]!)) {
    const start = assignment[0].length;
    return start < text.length ? [{ start, end: text.length }] : [];
  }
  const parts: Part[] = [];
  for (const match of text.matchAll(URL_PASSWORD)) {
    const end = match.index + match[0].length - 1;
    parts.push({ start: end - match[1]!.length, end });
  }
  for (const match of text.matchAll(NAME_OF_VALUE))
    if (isSecretName(match[1]!)) parts.push(valueAfter(text, match));
  for (const pattern of [JWT, BASE64]) for (const match of text.matchAll(pattern)) parts.push(partOf(match));
  for (const match of text.matchAll(TOKEN)) if (looksLikeKey(match[0])) parts.push(partOf(match));
  return withoutOverlaps(parts);
}

/** The text with each part replaced. */
function replaceParts(text: string, parts: readonly Part[], replacement: string): string {
  let result = '';
  let copiedTo = 0;
  for (const { start, end } of parts) {
    result += text.slice(copiedTo, start) + replacement;
    copiedTo = end;
  }
  return result + text.slice(copiedTo);
}

export const secretsIn = (text: string): string[] => textsOf(text, secretPartsOf(text));

export const secretsInArgs = (args: readonly string[]): string[] =>
  secretPartsOfArgs(args).flatMap((parts, index) => textsOf(args[index]!, parts));

/** The text with its secret parts replaced. */
export const maskParts = (text: string, mask: string): string =>
  replaceParts(text, secretPartsOf(text), mask);

/** The arguments with their secret parts replaced. */
export const maskArgs = (args: readonly string[], mask: string): string[] =>
  secretPartsOfArgs(args).map((parts, index) => replaceParts(args[index]!, parts, mask));

const textsOf = (text: string, parts: readonly Part[]): string[] =>
  parts.map(({ start, end }) => text.slice(start, end));

const partOf = ({ index, 0: text }: RegExpExecArray): Part => ({ start: index, end: index + text.length });

/** The value that follows the match of `NAME_OF_VALUE`. */
function valueAfter(text: string, { index, 0: nameAndSeparator }: RegExpExecArray): Part {
  const start = index + nameAndSeparator.length;
  const ending = new RegExp(END_OF_VALUE, 'g');
  ending.lastIndex = start;
  return { start, end: ending.exec(text)!.index };
}

/** Sorts the parts by position, merges overlapping ones and drops empty ones. */
function withoutOverlaps(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (part.end <= part.start) continue;
    if (last && part.start <= last.end)
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
    else result.push(part);
  }
  return result;
}
