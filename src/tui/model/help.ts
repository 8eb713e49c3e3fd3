/** Every key, by what it is for. */
const HELP: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Move',
    [
      ['↑ ↓  k j', 'one row'],
      ['PgUp PgDn  ^U ^D', 'one page, half a page'],
      ['Home End  g G', 'first and last row'],
      ['Tab  Shift-Tab  1-5', 'the next panel, the one before, or that one'],
      ['t', 'to the list below (templates, tools that are off)'],
    ],
  ],
  [
    'Look',
    [
      ['Enter  → ←  l h', 'open the side panel; into it, to scroll, and back'],
      ['p', 'the contents of a resource'],
      ['/', 'search; Enter keeps what was found, Esc drops it'],
      ['f', 'only what one server offers'],
      ['Esc', 'one step back'],
    ],
  ],
  [
    'Steer (each asks first)',
    [
      ['e d r', 'enable, disable, reconnect a server; e d switch a tool'],
      ['x', 'end a subscription'],
    ],
  ],
  [
    'Other',
    [
      ['s  R', 'resources of the server; ask for everything again'],
      ['q  ^C', 'leave'],
    ],
  ],
];

const KEYS_WIDTH = 20;

export interface HelpLine {
  readonly title?: string;
  readonly keys?: string;
  readonly what?: string;
}

export const HELP_LINES: readonly HelpLine[] = HELP.flatMap(([title, keys]) => [
  { title },
  ...keys.map(([pressed, what]) => ({ keys: pressed.padEnd(KEYS_WIDTH), what })),
]);

export const helpLength = (): number => HELP_LINES.length;
