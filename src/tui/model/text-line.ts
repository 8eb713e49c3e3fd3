/** How a piece of text looks. */
export type Look = 'plain' | 'dim' | 'bold' | 'accent' | 'good' | 'busy' | 'bad' | 'match';

export interface Span {
  readonly text: string;
  readonly look: Look;
}

/** One row of the screen, from left to right. */
export type TextLine = readonly Span[];

export const span = (text: string, look: Look = 'plain'): Span => ({ text, look });
export const lineOf = (text: string, look: Look = 'plain'): TextLine => [span(text, look)];
