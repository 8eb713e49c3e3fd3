type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export type Paint = (style: Style | undefined, text: string) => string;
export type { Style };

type Environment = Readonly<Record<string, string | undefined>>;

/** Colours are for people at a terminal who have not asked to be spared (no-color.org). */
export function wantsColour(isTerminal: boolean, env: Environment): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

export const painter =
  (isColoured: boolean): Paint =>
  (style, text) => {
    if (!isColoured || style === undefined || text === '') return text;
    const [on, off] = CODES[style];
    return `\x1b[${on}m${text}\x1b[${off}m`;
  };
