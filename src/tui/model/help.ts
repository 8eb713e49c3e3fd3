/** The sections of the help: a title, and keys with their descriptions. */
const HELP: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Navigation',
    [
      ['↑ ↓  k j', 'move by one row'],
      ['PgUp PgDn  ^U ^D', 'move by one page, by half a page'],
      ['Home End  g G', 'first row, last row'],
      ['Tab  Shift-Tab  1-6', 'next panel, previous panel, panel by number'],
      ['t', 'switch to the second list (templates, disabled tools)'],
    ],
  ],
  [
    'Display',
    [
      ['Enter  → ←  l h', 'open or close details; scroll them; back to the list'],
      ['p', 'preview the contents of a resource'],
      ['/', 'search; Enter applies, Esc cancels'],
      ['f', 'filter by server'],
      ['Esc', 'close details or reset search and filter, step by step'],
    ],
  ],
  [
    'Actions (with confirmation)',
    [
      ['e d r', 'enable, disable, reconnect a server; e d for a tool'],
      ['x', 'end a subscription or a session'],
    ],
  ],
  [
    'Other',
    [
      ['s  R', 'show the resources of the server; reload everything'],
      ['q  ^C', 'quit'],
    ],
  ],
];

const KEYS_WIDTH = 20;

/** A line of the help: either a title, or keys with their description. */
interface HelpLine {
  readonly title?: string;
  readonly keys?: string;
  readonly description?: string;
}

export const HELP_LINES: readonly HelpLine[] = HELP.flatMap(([title, keys]) => [
  { title },
  ...keys.map(([names, description]) => ({ keys: names.padEnd(KEYS_WIDTH), description })),
]);
