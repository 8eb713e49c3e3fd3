import type { TextProps } from 'ink';
import type { TextStyle } from '../model/text-line.js';

type InkStyle = Pick<TextProps, 'color' | 'bold' | 'dimColor' | 'underline'>;

const COLOURED: Readonly<Record<TextStyle, InkStyle>> = {
  plain: {},
  dim: { dimColor: true },
  bold: { bold: true },
  accent: { color: 'cyan' },
  good: { color: 'green' },
  busy: { color: 'yellow' },
  bad: { color: 'red' },
  match: { color: 'yellow', bold: true, underline: true },
};

/** The styles if NO_COLOR is set (no-color.org): bold and underline in place of colours. */
const COLOURLESS: Readonly<Record<TextStyle, InkStyle>> = {
  ...COLOURED,
  accent: { bold: true },
  good: {},
  busy: { bold: true },
  bad: { bold: true },
  match: { bold: true, underline: true },
};

export const inkStyle = (style: TextStyle): InkStyle =>
  (process.env['NO_COLOR'] ? COLOURLESS : COLOURED)[style];
