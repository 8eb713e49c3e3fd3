/**
 * The grammar of JSON (RFC 8259) as a table. Each state has a row, with one entry for each class of the next byte. The entry is
 * the next state, or an action of the scanner, which then sets the next state. The states of a value exist once for each kind
 * of value, so that the state after a value says in which container the value was.
 */

/** The kinds of values: at the top, in an array, in an object, and the key of a member. */
export const TOP = 0;
export const ARRAY = 1;
export const OBJECT = 2;
const KEY = 3;

/** The states that exist for each kind of value. `VALUE` is the state before a value or key. */
const VALUE = 0;
/** After an opening bracket: a value, a key or the closing bracket. */
const FIRST = 1;
/** After a value, or after a key. */
const AFTER = 2;
const STRING = 3;
const ESCAPE = 4;
/** Four states, one for each digit of an escape such as `\u0000`. */
const HEX = 5;
const MINUS = 9;
const ZERO = 10;
const INTEGER = 11;
const POINT = 12;
const FRACTION = 13;
const E = 14;
const E_SIGN = 15;
const EXPONENT = 16;
/** Ten states: one before each letter of `true`, `false` and `null`, except before their first letters. */
const LITERALS = 17;
const STATES_PER_KIND = 32;

/** The number of a state. `part` is one of the states above. */
const state = (kind: number, part: number): number => kind * STATES_PER_KIND + part;

export const START = state(TOP, VALUE);
export const END = state(TOP, AFTER);
/** The text is not JSON. The states of the four kinds have lower numbers. */
export const FAILED = 4 * STATES_PER_KIND;
/** Inside a value that is nested too deeply: only strings and brackets are recognised. */
export const SKIP = FAILED + 1;
/** Numbered so that `isInString` is true for it. */
const SKIP_STRING = FAILED + STRING;
const SKIP_ESCAPE = FAILED + ESCAPE;

/** Entries of the table from this number on are actions, not states. */
export const FIRST_ACTION = 200;
export const COMMA_IN_ARRAY = 200;
export const COMMA_IN_OBJECT = 201;
export const COLON = 202;
export const OPEN_ARRAY = 203;
export const OPEN_OBJECT = 204;
export const CLOSE = 205;
/** Closes a container without members. */
export const CLOSE_EMPTY = 206;

/** The states that follow actions. */
export const NEXT_ELEMENT = state(ARRAY, VALUE);
export const NEXT_KEY = state(KEY, VALUE);
export const MEMBER_VALUE = state(OBJECT, VALUE);
export const FIRST_ELEMENT = state(ARRAY, FIRST);
export const FIRST_KEY = state(KEY, FIRST);
export const afterValueIn = (kind: number): number => state(kind, AFTER);

/** Whether the text may end in this state. A number at the top level ends with the text. */
export const isEnd = (current: number): boolean =>
  current === END || [ZERO, INTEGER, FRACTION, EXPONENT].includes(current);

/** Whether the next byte is inside a string, which may be a key or in a skipped value. */
export const isInString = (current: number): boolean => (current & (STATES_PER_KIND - 1)) === STRING;

/**
 * The classes of bytes, each as a string of its bytes. Of all other bytes, JSON allows control characters (`CONTROL`) nowhere,
 * and the rest (`OTHER`) only in strings.
 */
const CLASS_BYTES = [
  '\t\n\r',
  ' ',
  '"',
  '\\',
  ',',
  ':',
  '{',
  '}',
  '[',
  ']',
  '-',
  '+',
  '.',
  '/',
  '0',
  '123456789',
  'ABCDF',
  'cd',
  ...Array.from('Eabeflnrstu'),
];
const CONTROL = CLASS_BYTES.length;
const OTHER = CONTROL + 1;
const ALL_CLASSES = Array.from({ length: OTHER + 1 }, (_, index) => index);
/** A row of the table has 2^5 entries, which is more than the number of classes. */
export const CLASS_BITS = 5;

export const BYTE_CLASSES = new Uint8Array(256).fill(OTHER).fill(CONTROL, 0, 0x20);
for (const [index, bytes] of CLASS_BYTES.entries())
  for (const byte of Buffer.from(bytes)) BYTE_CLASSES[byte] = index;

/** 1 for bytes that stand for themselves in a string. */
export const PLAIN_BYTES = new Uint8Array(256).fill(1).fill(0, 0, 0x20);
for (const byte of Buffer.from('"\\')) PLAIN_BYTES[byte] = 0;

/** The table, with one row for each state. */
export const TRANSITIONS = new Uint8Array((SKIP_ESCAPE + 1) << CLASS_BITS).fill(FAILED);

/** Sets the next state or action after each of these bytes. */
function on(from: number, bytes: string, to: number): void {
  for (const byte of Buffer.from(bytes)) TRANSITIONS[(from << CLASS_BITS) | BYTE_CLASSES[byte]!] = to;
}

const WHITE_SPACE = ' \t\n\r';
const HEX_DIGITS = '0123456789ABCDEFabcdef';
const NON_ZERO = '123456789';
const DIGITS = `0${NON_ZERO}`;

/** Defines the state inside a string, and the states that follow a backslash and the closing quote. */
function defineString(inside: number, escaped: number, after: number): void {
  for (const byteClass of ALL_CLASSES) TRANSITIONS[(inside << CLASS_BITS) | byteClass] = inside;
  // `\0` stands for the class `CONTROL`, to which it belongs.
  on(inside, '\t\n\r\0', FAILED);
  on(inside, '\\', escaped);
  on(inside, '"', after);
}

function defineStrings(kind: number): void {
  const inside = state(kind, STRING);
  const escape = state(kind, ESCAPE);
  defineString(inside, escape, state(kind, AFTER));
  on(escape, '"\\/bfnrt', inside);
  on(escape, 'u', state(kind, HEX));
  for (let digit = 0; digit < 4; digit++)
    on(state(kind, HEX + digit), HEX_DIGITS, digit < 3 ? state(kind, HEX + digit + 1) : inside);
}

function defineNumbers(kind: number): void {
  const move = (part: number, bytes: string, to: number): void =>
    on(state(kind, part), bytes, state(kind, to));
  move(MINUS, '0', ZERO);
  move(MINUS, NON_ZERO, INTEGER);
  move(INTEGER, DIGITS, INTEGER);
  for (const part of [ZERO, INTEGER]) move(part, '.', POINT);
  for (const part of [POINT, FRACTION]) move(part, DIGITS, FRACTION);
  for (const part of [ZERO, INTEGER, FRACTION]) move(part, 'eE', E);
  move(E, '+-', E_SIGN);
  for (const part of [E, E_SIGN, EXPONENT]) move(part, DIGITS, EXPONENT);
  for (const part of [ZERO, INTEGER, FRACTION, EXPONENT]) defineEnd(kind, part);
}

/** Defines what may follow a value. */
function defineEnd(kind: number, part: number): void {
  const from = state(kind, part);
  on(from, WHITE_SPACE, state(kind, AFTER));
  if (kind === ARRAY) on(from, ',', COMMA_IN_ARRAY);
  if (kind === ARRAY) on(from, ']', CLOSE);
  if (kind === OBJECT) on(from, ',', COMMA_IN_OBJECT);
  if (kind === OBJECT) on(from, '}', CLOSE);
  if (kind === KEY) on(from, ':', COLON);
}

/** Defines how a value or a key begins. */
function defineValue(kind: number, part: number): void {
  const from = state(kind, part);
  on(from, WHITE_SPACE, from);
  on(from, '"', state(kind, STRING));
  if (kind === KEY) return;
  on(from, '{', OPEN_OBJECT);
  on(from, '[', OPEN_ARRAY);
  on(from, '-', state(kind, MINUS));
  on(from, '0', state(kind, ZERO));
  on(from, NON_ZERO, state(kind, INTEGER));
  let afterLetter = state(kind, LITERALS);
  for (const word of ['true', 'false', 'null']) {
    on(from, word[0]!, afterLetter);
    for (const letter of word.slice(1, -1)) {
      on(afterLetter, letter, afterLetter + 1);
      afterLetter++;
    }
    on(afterLetter, word.at(-1)!, state(kind, AFTER));
    afterLetter++;
  }
}

for (const kind of [TOP, ARRAY, OBJECT, KEY]) {
  defineValue(kind, VALUE);
  defineStrings(kind);
  defineNumbers(kind);
  defineEnd(kind, AFTER);
}
defineValue(ARRAY, FIRST);
on(FIRST_ELEMENT, ']', CLOSE_EMPTY);
defineValue(KEY, FIRST);
on(FIRST_KEY, '}', CLOSE_EMPTY);
defineString(SKIP_STRING, SKIP_ESCAPE, SKIP);
for (const byteClass of ALL_CLASSES) {
  TRANSITIONS[(SKIP << CLASS_BITS) | byteClass] = SKIP;
  TRANSITIONS[(SKIP_ESCAPE << CLASS_BITS) | byteClass] = SKIP_STRING;
}
on(SKIP, '"', SKIP_STRING);
on(SKIP, '{[', OPEN_ARRAY);
on(SKIP, '}]', CLOSE);
